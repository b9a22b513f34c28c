"""What every `PtyPort` promises about its sessions, with or without programs behind them."""

from pathlib import Path

import pytest
from tests.fakes.pty import FakePty

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSize
from iai_mcp.domain.errors import NotFound
from iai_mcp.terminal.pty import HolderPty


@pytest.fixture(params=["fake", "holder"])
def pty(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FakePty | HolderPty:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    return FakePty() if request.param == "fake" else HolderPty()


@pytest.fixture
def program(tmp_path: Path) -> SpawnSpec:
    return SpawnSpec("cat", (), str(tmp_path))


def test_a_session_takes_the_id_it_is_given_and_is_listed_with_its_label(
    pty: FakePty | HolderPty, program: SpawnSpec
) -> None:
    label = SessionLabel("a-1", "Ada", "codex", "codex", "/p")
    session = pty.spawn(program, TerminalSize(30, 100), session_id="s-1", label=label)
    listed = [s for s in pty.all() if s.id == session]

    assert session == "s-1"
    assert [(s.label, s.size, s.status.alive) for s in listed] == [
        (label, TerminalSize(30, 100), True)
    ]
    pty.kill(session)


def test_a_killed_session_has_ended_and_keeps_its_exit_code(
    pty: FakePty | HolderPty, program: SpawnSpec
) -> None:
    session = pty.spawn(program, TerminalSize())
    code = pty.kill(session)
    ended = next(s for s in pty.all() if s.id == session)

    assert not ended.status.alive
    assert ended.status.exit_code == code
    assert pty.kill(session) == code


def test_a_session_that_is_not_there_is_not_found(pty: FakePty | HolderPty) -> None:
    with pytest.raises(NotFound):
        pty.write("absent", b"x")
    with pytest.raises(NotFound):
        pty.resize("absent", TerminalSize())
    with pytest.raises(NotFound):
        pty.kill("absent")
