"""Agents launched with the real programs: a name, a persona, a terminal each, and one memory."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts.conftest import Machine
from tests.real_hosts.programs import CLAUDE, CODEX, GEMINI, Program
from tests.real_hosts.stub_model import Reply, Say, Use
from tests.terminal_kit import Terminal

pytestmark = pytest.mark.real_hosts

FACT = "The staging database of project Heron listens on port 5433."
NOTED = "Noted: Heron's staging database is on 5433."
QUESTION = "Which port does the Heron staging database use?"
ANSWER = "It listens on 5433."
PATIENCE = 60.0
DOWN = b"\x1b[B"


@pytest.fixture
def workshop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """The machine of somebody who has used all three programs before."""
    for program in (CLAUDE, CODEX, GEMINI):
        machine.prepare(program)
        for name, value in program.environment(machine.model.url).items():
            monkeypatch.setenv(name, value)
    (machine.home / ".claude.json").write_text(
        json.dumps(
            {
                "hasCompletedOnboarding": True,
                "theme": "dark",
                "customApiKeyResponses": {"approved": ["sk-ant-stub"], "rejected": []},
            }
        )
    )
    monkeypatch.setenv("PATH", f"{machine.cache / 'node_modules' / '.bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("TERM", "xterm-256color")
    (machine.project / "README.md").write_text("# Heron\n")
    yield machine
    for session in machine.iai("session", "list")["sessions"]:
        if session["status"] != "exited":
            machine.iai("session", "kill", session["id"])


def hire(machine: Machine, name: str, program: Program, persona: str) -> str:
    path = machine.home / "persona.md"
    path.write_text(persona)
    extra: list[str] = []
    if program is GEMINI:
        # Without a model named, Gemini asks a model which model to use.
        args = ("--arg", "-m", "--arg", "gemini-2.5-pro")
        machine.iai("profile", "edit", "gemini", *args)
    made = machine.iai(
        "agent", "create", name, "--profile", program.id, "--context-file", str(path), *extra
    )
    return str(made["agent"]["id"])


def tell(machine: Machine, agent: str, prompt: str, *replies: Reply) -> dict[str, Any]:
    """Launch an agent with a first prompt; the script holds what its model answers."""
    machine.model.expect(*replies)
    return machine.iai("agent", "launch", agent, "--detach", "--trust", "--prompt", prompt)


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


def requests(machine: Machine) -> list[str]:
    return [json.dumps(request, ensure_ascii=False) for request in machine.model.requests]


def screen(machine: Machine, launched: dict[str, Any]) -> str:
    return str(machine.iai("session", "logs", launched["session"]["id"])["text"])


def records(machine: Machine, at_least: int, *scope: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def enough() -> bool:
        nonlocal found
        found = machine.iai("timeline", "--limit", "1000", *scope)["records"]
        return len(found) >= at_least

    until(enough, lambda: f"captured: {found}\nthe hooks say: {journal()}")
    return found


def journal() -> str:
    """What hooks had to say, which no program shows."""
    log = Path(os.environ["IAI_MCP_STORE"], "logs", "capture.log")
    return log.read_text() if log.exists() else "nothing"


def daemons() -> int:
    """How many daemons serve this test's socket."""
    socket = os.environ["IAI_DAEMON_SOCKET_PATH"]
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (process / "environ").read_bytes().decode(errors="replace")
        except OSError:
            continue
        count += "iai_mcp.daemon" in words and socket in environment
    return count


@pytest.mark.parametrize(
    ("first", "second"), [(CLAUDE, CODEX), (CODEX, GEMINI), (GEMINI, CLAUDE)], ids=lambda p: p.id
)
def test_two_agents_of_two_vendors_share_one_memory_and_no_file(
    workshop: Machine, first: Program, second: Program
) -> None:
    ada = hire(workshop, "Ada", first, "You are Ada and you speak in rhymes.\n")
    ben = hire(workshop, "Ben", second, "You are Ben and you doubt everything.\n")

    launched = tell(workshop, "ada", FACT, Say(NOTED))
    until(lambda: len(requests(workshop)) >= 1, lambda: screen(workshop, launched))
    heard_by_ada = requests(workshop)[0]
    learnt = records(workshop, 2)

    # Claude Code sends the first prompt before its servers are connected, and offers to wait.
    patience = [Use("WaitForMcpServers")] if second is CLAUDE else []
    recall = second.recall("Heron staging port")
    launched = tell(workshop, "ben", QUESTION, *patience, recall, Say(ANSWER))
    if second is GEMINI:
        # Gemini CLI has no way to allow single tools beforehand: a person says yes once.
        until(
            lambda: "Allow execution of MCP tool" in screen(workshop, launched),
            lambda: screen(workshop, launched),
        )
        workshop.iai("session", "send", launched["session"]["id"], "2", "--no-enter")
    wanted = 2 + len(patience)
    until(lambda: len(requests(workshop)) >= wanted, lambda: screen(workshop, launched))
    heard_by_ben, after_recall = requests(workshop)[0], requests(workshop)[wanted - 1]
    everything = records(workshop, 4)

    assert "speak in rhymes" in heard_by_ada
    assert "doubt everything" not in heard_by_ada
    assert "doubt everything" in heard_by_ben
    assert "speak in rhymes" not in heard_by_ben
    assert str(workshop.project) in heard_by_ben
    # Told at the start what a colleague learned, and able to ask.
    assert FACT in heard_by_ben
    assert after_recall.count(FACT) > heard_by_ben.count(FACT)
    assert [(r["text"], r["agent"], r["agent_id"]) for r in learnt] == [
        (FACT, "Ada", ada),
        (NOTED, "Ada", ada),
    ]
    assert [(r["text"], r["agent_id"]) for r in everything[2:]] == [(QUESTION, ben), (ANSWER, ben)]
    assert {r["project"] for r in everything} == {str(workshop.project)}
    assert {r["host"] for r in everything} == {first.id, second.id}
    assert [r["meta"]["profile"] for r in learnt] == [first.id, first.id]
    assert sorted(p.name for p in workshop.project.iterdir()) == [".git", ".ideai", "README.md"]
    assert daemons() == 1


@pytest.mark.parametrize("program", [CLAUDE, CODEX, GEMINI], ids=lambda p: p.id)
def test_a_resumed_agent_takes_up_its_own_conversation(workshop: Machine, program: Program) -> None:
    hire(workshop, "Ada", program, "You are Ada.\n")
    launched = tell(workshop, "ada", FACT, Say(NOTED))
    until(lambda: len(requests(workshop)) >= 1, lambda: screen(workshop, launched))
    records(workshop, 2)
    workshop.iai("session", "kill", launched["session"]["id"])

    workshop.model.expect(Say("Going on."))
    again = workshop.iai("agent", "resume", "ada", "--detach", "--prompt", "continue")
    until(lambda: len(requests(workshop)) >= 1, lambda: screen(workshop, again))

    resumed = requests(workshop)[0]
    assert FACT in resumed
    assert NOTED in resumed
    assert "continue" in resumed


COMMANDS = {
    CLAUDE.id: Use("Bash", {"command": "sleep 4; echo finished", "description": "wait"}),
    CODEX.id: Use("exec_command", {"cmd": "sleep 4; echo finished"}),
}


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda p: p.id)
def test_who_waits_for_rest_gets_it_after_the_work_and_sees_what_was_said(
    workshop: Machine, program: Program
) -> None:
    hire(workshop, "Ada", program, "You are Ada.\n")
    workshop.iai("agent", "launch", "ada", "--detach", "--trust")
    workshop.model.expect(COMMANDS[program.id], Say("I ran it.\n\nAll 42 tests pass."))

    sent = workshop.iai("session", "broadcast", "run the tests", "--timeout", "30")["sent"]
    workshop.iai("session", "wait", "ada", "--until", "idle", "--timeout", "60")

    assert [one["delivered"] for one in sent] == [True]
    assert len(requests(workshop)) >= 2, "it rested before its command had ended"
    (listed,) = workshop.iai("session", "list")["sessions"]
    assert listed["last_line"] == "All 42 tests pass."


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda p: p.id)
def test_a_broadcast_answers_no_question_that_a_program_asks_at_its_start(
    workshop: Machine, program: Program
) -> None:
    hire(workshop, "Ada", program, "You are Ada.\n")
    launched = workshop.iai("agent", "launch", "ada", "--detach")
    until(
        lambda: "rust this folder" in screen(workshop, launched),
        lambda: screen(workshop, launched),
    )

    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "session", "broadcast", "1", "--timeout", "2"],
        cwd=workshop.project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, "not ready to read" in done.stdout) == (1, True), done.stdout
    assert "rust this folder" in screen(workshop, launched)


def test_what_a_person_says_when_they_refuse_a_tool_call_was_said_by_them(
    workshop: Machine,
) -> None:
    hire(workshop, "Ada", CLAUDE, "You are Ada.\n")
    use = Use("Bash", {"command": "touch built", "description": "Build it"})
    launched = tell(workshop, "ada", "Build the heron.", use, Say("I leave it."))
    attach = ("session", "attach", launched["session"]["id"])
    window = Terminal([sys.executable, "-m", "iai_mcp.cli", *attach], rows=40)
    try:
        for shown, key in (
            ("Do you want to proceed?", DOWN),
            ("❯ 2. Yes", DOWN),
            ("❯ 3. No", b"\t"),
            ("tell Claude what to do differently", b"never build herons here"),
            ("never build herons here", b"\r"),
        ):
            window.shows(shown)
            window.type(key)
        window.shows("I leave it.")
    finally:
        window.close()

    said = records(workshop, 3)
    assert [(one["role"], one["text"]) for one in said] == [
        ("user", "Build the heron."),
        ("user", "never build herons here"),
        ("assistant", "I leave it."),
    ]
    assert said[1]["meta"]["rejected"] == "touch built"
    assert workshop.iai("how", "build it")["commands"] == []
