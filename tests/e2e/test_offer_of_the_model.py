"""The first `iai-mcp up` without a model offers to fetch it; what can not ask names the command."""

import os
import pty
import select
from collections.abc import Iterator

import pytest
from tests.support.home import ScratchHome

from iai_mcp.cli.vectors_left import before_any

# As without a network: pip asks a port that nobody serves, once.
OFFLINE = {"PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0", "PIP_FIND_LINKS": ""}


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    scratch = ScratchHome()
    yield scratch
    scratch.command("down")
    scratch.remove()


def at_a_terminal(home: ScratchHome, answer: str) -> tuple[int, str]:
    """Run `up` in a terminal with no agent program on its PATH; the exit code, and what was shown."""
    environment = {**home.environment, **OFFLINE, "PATH": os.defpath, "TERM": "dumb"}
    child, terminal = pty.fork()
    if child == 0:
        import sys

        words = [sys.executable, "-m", "iai_mcp.cli", "up"]
        os.execve(sys.executable, words, environment)
    shown = b""
    try:
        while True:
            assert select.select([terminal], [], [], 60)[0], shown
            shown += os.read(terminal, 65_536)
            if shown.endswith((b"[Y/n] ", b"[d]iff: ")):
                os.write(terminal, answer.encode())
    except OSError:  # how a terminal says that everybody has left
        pass
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return code, shown.decode()


def test_without_a_terminal_the_command_is_named(home: ScratchHome) -> None:
    shown = home.command("up")
    assert "iai-mcp model install" in shown.stdout
    assert "[Y/n]" not in shown.stdout


def test_a_person_is_asked_once_and_memory_works_without_it(home: ScratchHome) -> None:
    code, first = at_a_terminal(home, "n\n")
    assert (code, first.count("[Y/n]")) == (0, 1)
    assert "84 MB" in first
    assert "iai-mcp model install" in first
    code, second = at_a_terminal(home, "n\n")
    assert (code, "[Y/n]" in second, "iai-mcp model install" in second) == (0, False, True)


def test_what_is_asked_is_not_told_before(home: ScratchHome) -> None:
    """Two commands to run, and then two questions about them, leave a newcomer guessing which of them counts."""
    (home.path / ".claude").mkdir()
    _code, shown = at_a_terminal(home, "n\n")
    before, _, after = shown.partition("Fetch the model now?")
    assert "iai-mcp model install" not in before
    assert "iai-mcp hosts install" not in before
    assert "would create ~/.claude/settings.json" in after.partition("Connect them?")[0]
    assert "iai-mcp hosts install" in after
    _code, later = at_a_terminal(home, "n\n")
    assert "iai-mcp model install" in later


def test_a_model_that_can_not_be_fetched_leaves_memory_on(home: ScratchHome) -> None:
    code, shown = at_a_terminal(home, "y\n")
    assert "could not be had" in shown
    assert "Traceback" not in shown
    assert code == 0
    assert home.command("status").returncode == 0


def test_leaving_at_the_question_leaves_memory_on(home: ScratchHome) -> None:
    code, _shown = at_a_terminal(home, "\x04")
    assert code == 0
    assert home.command("status").returncode == 0


@pytest.mark.parametrize(
    ("memories", "told"),
    [(40, "about 3 s;"), (4_500, "4,500 memories get vectors: about 6 min;"), (100_000, "2.2 h;")],
)
def test_the_time_that_vectors_take_is_told_in_round_words(memories: int, told: str) -> None:
    assert told in before_any(memories)
    assert "recall works by words meanwhile" in before_any(memories)
