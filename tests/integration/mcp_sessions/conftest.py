import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.mcp_sessions.processes import BridgeProcess, StandinProcess, environment


@pytest.fixture
def env(tmp_path: Path) -> Iterator[dict[str, str]]:
    # Not below tmp_path: a Unix socket's path has little room.
    short = Path(tempfile.mkdtemp(prefix="iai"))
    yield environment(tmp_path, short / "s")
    shutil.rmtree(short)


@pytest.fixture
def daemon(env: dict[str, str]) -> Iterator[StandinProcess]:
    """Not started yet."""
    standin = StandinProcess(env)
    yield standin
    standin.kill()


@pytest.fixture
def start_bridge(
    env: dict[str, str], bridge_command: tuple[str, ...]
) -> Iterator[Callable[..., BridgeProcess]]:
    started: list[BridgeProcess] = []

    def start(*command: str, **more: str) -> BridgeProcess:
        started.append(BridgeProcess({**env, **more}, command or bridge_command))
        return started[-1]

    yield start
    for bridge in started:
        bridge.close()
