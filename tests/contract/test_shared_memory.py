"""What every `SharedMemory` promises while the daemon is down."""

from pathlib import Path

import pytest
from tests.fakes.shared_memory import FakeSharedMemory

from iai_mcp.adapters.agent_world import DaemonMemory
from iai_mcp.ports.agent_world import SharedMemory


@pytest.fixture(params=["fake", "daemon"])
def memory(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SharedMemory:
    if request.param == "fake":
        return FakeSharedMemory(up=False, remembered="never said")
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(tmp_path / "s"))
    return DaemonMemory()


def test_a_daemon_that_is_down_has_nothing_to_say_and_is_no_error(memory: SharedMemory) -> None:
    assert not memory.is_up()
    assert memory.session_start("/p", "a", "s") is None
