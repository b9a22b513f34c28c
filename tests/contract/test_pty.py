"""What every `PtyPort` promises, whatever is behind it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.errors import NotFound, NotInstalled
from iai_mcp.ports.pty import PtyPort
from iai_mcp.remote.pty import RemotePty
from iai_mcp.terminal import cleanup
from iai_mcp.terminal.pty import HolderPty


@pytest.fixture(params=["local", "far"])
def pty(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PtyPort]:
    if request.param == "far":
        yield RemotePty(request.getfixturevalue("far"))
        return
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    yield HolderPty()
    cleanup.end_all()


class Listener:
    """Collects output; `ended` is set by the empty piece at the end."""

    def __init__(self) -> None:
        self.data = b""
        self.ended = threading.Event()
        self._more = threading.Condition()

    def __call__(self, piece: bytes) -> None:
        with self._more:
            self.data += piece
            self._more.notify_all()
        if not piece:
            self.ended.set()

    def heard(self, wanted: bytes) -> bool:
        with self._more:
            return self._more.wait_for(lambda: wanted in self.data, 20)


def spec(tmp_path: Path, *command: str) -> SpawnSpec:
    return SpawnSpec(command[0], command[1:], str(tmp_path))


def test_a_spawned_program_is_written_to_and_heard(pty: PtyPort, tmp_path: Path) -> None:
    session = pty.spawn(spec(tmp_path, "sh", "-c", "read a; echo heard-$a"), TerminalSize())
    listener = Listener()
    pty.subscribe_output(session, listener)

    pty.write(session, b"you\r")

    assert listener.ended.wait(20)
    assert b"heard-you" in listener.data


def test_output_from_before_the_subscription_is_heard_too(pty: PtyPort, tmp_path: Path) -> None:
    session = pty.spawn(spec(tmp_path, "sh", "-c", "echo early; read a"), TerminalSize())
    first, second = Listener(), Listener()
    pty.subscribe_output(session, first)
    assert first.heard(b"early")

    pty.subscribe_output(session, second)
    pty.write(session, b"one\r")

    assert second.ended.wait(20)
    assert second.data.startswith(b"early")


def test_an_ended_session_has_nothing_to_subscribe_to(pty: PtyPort, tmp_path: Path) -> None:
    session = pty.spawn(spec(tmp_path, "cat"), TerminalSize())
    pty.kill(session)

    with pytest.raises(NotFound):
        pty.subscribe_output(session, Listener())


def test_nothing_more_is_heard_after_unsubscribing(pty: PtyPort, tmp_path: Path) -> None:
    session = pty.spawn(spec(tmp_path, "cat"), TerminalSize())
    listener = Listener()

    pty.subscribe_output(session, listener)()
    heard = listener.data
    pty.write(session, b"later\r")
    pty.kill(session)

    assert listener.data == heard


def test_kill_returns_the_exit_code_also_a_second_time(pty: PtyPort, tmp_path: Path) -> None:
    code = "trap 'exit 7' HUP; echo ready; while :; do read x; done"
    session = pty.spawn(spec(tmp_path, "sh", "-c", code), TerminalSize())
    listener = Listener()
    pty.subscribe_output(session, listener)
    assert listener.heard(b"ready")

    assert pty.kill(session) == 7
    assert pty.kill(session) == 7


def test_an_unknown_session_is_not_found(pty: PtyPort) -> None:
    with pytest.raises(NotFound):
        pty.kill("nobody")
    with pytest.raises(NotFound):
        pty.resize("nobody", TerminalSize())


def test_a_missing_executable_is_not_installed(pty: PtyPort, tmp_path: Path) -> None:
    with pytest.raises(NotInstalled):
        pty.spawn(spec(tmp_path, "no-such-program-at-all"), TerminalSize())
