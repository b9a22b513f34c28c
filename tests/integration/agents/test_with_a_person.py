"""What is asked of a person at a terminal, and only there."""

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.agents.conftest import PATIENCE, SOURCES, Machine


class Terminal:
    """A person's terminal with one command in it."""

    def __init__(self, machine: Machine, *words: str) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", *words],
            env={**os.environ, "PYTHONPATH": str(SOURCES), "TERM": "xterm", "NO_COLOR": "1"},
            cwd=machine.project,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def read_until(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.said:
            left = deadline - time.monotonic()
            assert left > 0, f"waited for {text!r} in {self.said!r}"
            if select.select([self._master], [], [], left)[0]:
                self.said += self._read()

    def _read(self) -> str:
        try:
            return os.read(self._master, 65_536).decode(errors="replace")
        except OSError:  # the other end is closed: the command has ended
            raise AssertionError(f"it ended after {self.said!r}") from None

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        code = self.process.wait(PATIENCE)
        while select.select([self._master], [], [], 0)[0]:
            try:
                self.said += os.read(self._master, 65_536).decode(errors="replace")
            except OSError:
                break
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


@contextmanager
def at_a_terminal(machine: Machine, *words: str) -> Iterator[Terminal]:
    terminal = Terminal(machine, *words)
    try:
        yield terminal
    finally:
        terminal.close()


def test_first_use_walks_through_the_programs_once(machine: Machine) -> None:
    machine.program("codex", "#!/bin/sh\necho codex-cli 0.166.0\n")
    with at_a_terminal(machine, "agent", "create", "Ada") as terminal:
        terminal.read_until("Which profile")
        terminal.type("codex\n")
        assert terminal.end() == 0
        assert "0.166.0" in terminal.said
        assert "gemini" not in terminal.said

    with at_a_terminal(machine, "agent", "create", "Ben") as terminal:
        assert terminal.end() == 0
        assert "Which profile" not in terminal.said
    listed = machine.json("agent", "list")["agents"]
    assert isinstance(listed, list)
    assert [a["profile_id"] for a in listed] == ["codex", "codex"]


def test_trust_is_asked_once_and_a_no_is_remembered(machine: Machine) -> None:
    machine.program("codex", "#!/bin/sh\nexec cat\n")
    machine.json("agent", "create", "Cody", "--profile", "codex")
    launch = ("agent", "launch", "cody", "--detach")
    with at_a_terminal(machine, *launch) as terminal:
        terminal.read_until("Do you trust the files")
        terminal.type("n\n")
        assert terminal.end() == 1
    with at_a_terminal(machine, *launch) as terminal:
        assert terminal.end() == 1
        assert "Do you trust" not in terminal.said
        assert "--trust" in terminal.said

    kept = json.loads((machine.store / "projects.json").read_text())
    assert kept["trust"] == {str(machine.project): False}
    assert machine.json("session", "list")["sessions"] == []
    machine.json(*launch, "--trust")
    machine.json("session", "kill", "cody")
    machine.json(*launch)


def test_a_no_to_the_question_of_trust_leaves_the_project_as_it_was(machine: Machine) -> None:
    machine.program("codex", "#!/bin/sh\nexec cat\n")
    machine.json("agent", "create", "Cody", "--profile", "codex")
    before = machine.tree()
    with at_a_terminal(machine, "agent", "launch", "cody") as terminal:
        terminal.read_until("Do you trust the files")
        terminal.type("n\n")
        assert terminal.end() == 1

    after = {path: data for path, data in machine.tree().items() if path.startswith("project/")}
    assert after == {path: data for path, data in before.items() if path.startswith("project/")}
    assert machine.json("session", "list")["sessions"] == []


def test_a_launch_attaches_on_a_terminal_and_the_agent_lives_on_after_detaching(
    machine: Machine,
) -> None:
    machine.program("listener", "#!/bin/sh\necho the agent is here\nexec cat\n")
    machine.json(
        *("profile", "add", "--name", "Listener", "--command", "listener"),
        *("--injection", "env:CONTEXT"),
    )
    machine.json("agent", "create", "Ada", "--profile", "listener")
    with at_a_terminal(machine, "agent", "launch", "ada") as terminal:
        terminal.read_until("the agent is here")
        terminal.type("\x1dd")
        assert terminal.end() == 0

    sessions = machine.json("session", "list")["sessions"]
    assert isinstance(sessions, list)
    assert [s["status"] != "exited" for s in sessions] == [True]


def test_a_person_sees_the_difference_before_a_template_is_followed(machine: Machine) -> None:
    folder = machine.project / ".ideai" / "templates"
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text("old\n")
    machine.json(
        *("agent", "create", "Rita", "--profile", "shell"),
        *("--template", "reviewer", "--synchronized"),
    )
    (folder / "reviewer.md").write_text("new\n")
    context = machine.project / ".ideai" / "agents" / "rita.md"
    for answer, text in (("n", "old\n"), ("y", "new\n")):
        with at_a_terminal(machine, "agent", "sync", "rita") as terminal:
            terminal.read_until("Write this?")
            assert "+new" in terminal.said
            terminal.type(f"{answer}\n")
            assert terminal.end() == 0
        assert context.read_text() == text
