"""What one program did, and what mended its failures, is known to the next one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from iai_mcp.protocol.markers import OPEN
from tests.real_hosts.conftest import Machine
from tests.real_hosts.programs import CLAUDE, CODEX, GEMINI, Program
from tests.real_hosts.stub_model import Say, Use

pytestmark = pytest.mark.real_hosts

REQUEST = "The heron checks fail, please mend them."
COMMAND = "python3 checks.py"
ERROR = "error: undefined name wingspan_of"
DONE = "The checks pass again."
MENDING = "heron.py"
# A hook that is late on a busy machine stays silent, so another session may have to try.
TRIES = 5


@dataclass(frozen=True)
class Hands:
    """A program's own tools for running a command and for writing a new file."""

    run: Callable[[str], Use]
    write: Callable[[Path, str], Use]


HANDS = {
    CLAUDE.id: Hands(
        lambda command: Use("Bash", {"command": command, "description": "Run the checks"}),
        lambda path, text: Use("Write", {"file_path": str(path), "content": text}),
    ),
    CODEX.id: Hands(
        lambda command: Use("exec_command", {"cmd": command}),
        # Codex sees the patch in the command and applies it itself.
        lambda path, text: Use(
            "exec_command",
            {
                "cmd": "apply_patch <<'EOF'\n*** Begin Patch\n"
                f"*** Add File: {path.name}\n+{text.strip()}\n*** End Patch\nEOF"
            },
        ),
    ),
    GEMINI.id: Hands(
        lambda command: Use("run_shell_command", {"command": command}),
        lambda path, text: Use("write_file", {"file_path": str(path), "content": text}),
    ),
}


@pytest.mark.parametrize(
    ("first", "second"), [(CLAUDE, CODEX), (CODEX, GEMINI), (GEMINI, CLAUDE)], ids=lambda p: p.id
)
def test_a_failure_that_one_program_mended_is_known_to_the_next_one(
    machine: Machine, first: Program, second: Program
) -> None:
    for program in (first, second):
        machine.prepare(program)
        machine.iai("hosts", "install", program.id, "--yes")
    (machine.project / "checks.py").write_text(
        f"import os, sys\nsys.exit(0 if os.path.exists('{MENDING}') else 'cart.py:12: {ERROR}')\n"
    )
    mending = machine.project / MENDING
    run, write = HANDS[first.id].run(COMMAND), HANDS[first.id].write(mending, "wingspan = 2\n")

    asked = machine.talk(first, REQUEST, run, write, run, Say(DONE))

    assert machine.turns(2) == [REQUEST, DONE]
    assert not any("was mended before" in request for request in asked)
    (command,) = machine.iai("how", "run the heron checks")["commands"]
    assert (command["command"], command["exit"], command["uses"]) == (COMMAND, 0, 2)
    assert command["request"] == REQUEST
    (mended,) = machine.iai("fix", f"cart.py:99: {ERROR}")["mendings"]
    assert ERROR in mended["failure"]
    assert MENDING in mended["mended_by"]
    (edit,) = machine.iai("blame", MENDING)["edits"]
    assert (edit["path"], edit["action"], edit["request"]) == (MENDING, "created", REQUEST)
    assert edit["host"] == first.id

    mending.unlink()
    told = _told_after_failing(machine, second)

    assert f"created {MENDING}" in told
    assert first.id in told
    turns = machine.turns(4)
    assert turns[:2] == [REQUEST, DONE]
    assert not any(OPEN in turn or MENDING in turn for turn in turns)


def _told_after_failing(machine: Machine, program: Program) -> str:
    """What the model hears after the failed command, besides what the command printed."""
    for _ in range(TRIES):
        asked = machine.talk(
            program, "Run the checks.", HANDS[program.id].run(COMMAND), Say("They fail.")
        )
        assert ERROR in asked[1], "the command failed"
        start = asked[1].find("This failure was mended before")
        if start >= 0:
            assert "This failure was mended before" not in asked[0]
            return asked[1][start:]
    raise AssertionError(f"{program.id} was never told: {asked[1][-3000:]}")
