"""The promises, kept with the programs that people really run."""

import json

import pytest

from iai_mcp.protocol.markers import OPEN
from tests.real_hosts.conftest import Machine
from tests.real_hosts.programs import CLAUDE, CODEX, GEMINI, PROGRAMS, Program
from tests.real_hosts.stub_model import Say, Use

pytestmark = pytest.mark.real_hosts

FACT = "The staging database of project Heron listens on port 5433."
NOTED = "Noted: Heron's staging database is on 5433."
QUESTION = "Which port does the Heron staging database use?"
ANSWER = "It listens on 5433."


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_a_host_learns_remembers_recalls_and_is_let_go(machine: Machine, program: Program) -> None:
    machine.prepare(program)
    machine.talk(
        program, "Hello.", Say("Hello.")
    )  # Codex writes down by itself that it trusts the project
    before = machine.files(program)
    machine.iai("hosts", "install", program.id, "--yes")

    machine.talk(program, FACT, Say(NOTED))
    learnt = machine.turns(2)
    asked = machine.talk(program, QUESTION, program.recall("Heron staging port"), Say(ANSWER))
    all_turns = machine.turns(4)
    machine.iai("hosts", "remove", program.id, "--yes")

    assert learnt == [program.said(FACT), NOTED]
    if program.starts_with_memory:
        assert FACT in _injected(asked[0])
        assert FACT not in asked[0].replace(_injected(asked[0]), "")
    assert FACT in _tool_result(asked[1])
    assert all_turns == [program.said(FACT), NOTED, program.said(QUESTION), ANSWER]
    assert not any(OPEN in turn for turn in all_turns)
    assert machine.files(program) == before


@pytest.mark.parametrize(
    ("first", "second"), [(CLAUDE, CODEX), (CODEX, GEMINI), (GEMINI, CLAUDE)], ids=lambda p: p.id
)
def test_a_second_vendor_knows_what_the_first_one_learned(
    machine: Machine, first: Program, second: Program
) -> None:
    for program in (first, second):
        machine.prepare(program)
        machine.iai("hosts", "install", program.id, "--yes")

    machine.talk(first, FACT, Say(NOTED))
    machine.turns(2)
    asked = machine.talk(second, QUESTION, Say(ANSWER))

    assert FACT in asked[0]
    assert machine.turns(4) == [FACT, NOTED, QUESTION, ANSWER]


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda program: program.id)
def test_the_model_sees_our_tools_and_the_skill_from_the_start(
    machine: Machine, program: Program
) -> None:
    machine.prepare(program)
    machine.iai("hosts", "install", program.id, "--yes")

    (asked,) = machine.talk(program, "Hello.", Say("Hello."))

    tools = json.loads(asked)["tools"]
    described = [tool for tool in tools if "iai" in tool.get("name", "")]
    assert "memory_recall" in json.dumps(described)
    assert "wordings" in json.dumps(described), "with its parameters"
    assert "Searches everything that was said" in asked, "the skill is listed"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_a_session_that_is_taken_up_again_adds_only_what_is_new(
    machine: Machine, program: Program
) -> None:
    machine.prepare(program)
    machine.iai("hosts", "install", program.id, "--yes")

    machine.talk(program, FACT, Say(NOTED))
    machine.turns(2)
    machine.talk(program, "continue", Say("Going on."), words=program.resume)
    machine.turns(4)
    machine.talk(program, "continue", Say("Going on."), words=program.resume)

    again = ["continue", "Going on."]
    assert machine.turns(6) == [program.said(FACT), NOTED, *again, *again]


def test_a_fork_stores_nothing_twice_and_is_not_told_what_it_was_forked_from(
    machine: Machine,
) -> None:
    machine.prepare(CLAUDE)
    machine.iai("hosts", "install", "claude-code", "--yes")
    look = Use("Bash", {"command": "echo 5433", "description": "Look at the heron port"})
    machine.talk(CLAUDE, FACT, look, Say(NOTED))
    machine.turns(2)

    forked = machine.talk(CLAUDE, QUESTION, Say(ANSWER), words=_fork)
    everything = machine.turns(4)
    (command,) = machine.iai("how", "heron port")["commands"]
    of_the_fork = machine.talk(CLAUDE, QUESTION, Say(ANSWER), words=_fork)
    anew = machine.talk(CLAUDE, QUESTION, Say(ANSWER))

    assert everything == [FACT, NOTED, QUESTION, ANSWER]
    assert command["uses"] == 1
    for asked in (forked, of_the_fork):
        assert asked[0].count(FACT) == 1, "its own history, and nothing from us"
    assert FACT in anew[0], "another session is told"
    assert machine.turns(8) == [*everything, QUESTION, ANSWER, QUESTION, ANSWER]


def test_a_sub_agent_of_claude_code_is_captured_once(machine: Machine) -> None:
    machine.prepare(CLAUDE)
    machine.iai("hosts", "install", "claude-code", "--yes")
    errand = {"description": "look", "prompt": "find the port", "subagent_type": "general-purpose"}

    machine.talk(CLAUDE, QUESTION, Use("Agent", errand), Say("The file says 5433."), Say(ANSWER))

    expected = [QUESTION, "find the port", "The file says 5433.", ANSWER]
    # Newer versions run it in the background, and answer once more when it is done.
    turns = machine.turns(4)
    assert turns[:4] == expected
    assert set(turns[4:]) <= {"ok"}


def test_claude_code_s_own_file_keeps_what_claude_code_wrote(machine: Machine) -> None:
    machine.prepare(CLAUDE)
    path = machine.home / ".claude.json"
    machine.iai("hosts", "install", "claude-code", "--yes")
    machine.talk(CLAUDE, FACT, Say(NOTED))
    written = json.loads(path.read_text())

    machine.iai("hosts", "remove", "claude-code", "--yes")

    servers = written.pop("mcpServers")
    assert list(servers) == ["iai-mcp"]
    assert json.loads(path.read_text()) == written


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_without_the_daemon_a_session_is_undisturbed_and_captured_later(
    machine: Machine, program: Program
) -> None:
    machine.prepare(program)
    machine.iai("hosts", "install", program.id, "--yes")
    machine.iai("down")

    asked = machine.talk(program, FACT, Say(NOTED))
    machine.iai("up")

    assert OPEN not in asked[0]
    assert OPEN.replace("<", "&lt;").replace(">", "&gt;") not in asked[0]
    assert machine.turns(2) == [program.said(FACT), NOTED]


def _fork(prompt: str) -> list[str]:
    return ["--continue", "--fork-session", "-p", prompt]


def _injected(request: str) -> str:
    """The part of a request between our marks, which some hosts escape."""
    start = min(
        at for at in map(request.find, ("<iai-mcp-memory", "&lt;iai-mcp-memory")) if at >= 0
    )
    return request[start : request.rindex("/iai-mcp-memory")]


def _tool_result(request: str) -> str:
    """What the tool answered, as each of the APIs carries it."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            calls = ("tool_result", "function_call_output")
            if value.get("type") in calls or value.get("role") == "tool":
                found.append(json.dumps(value, ensure_ascii=False))
            if "functionResponse" in value:
                found.append(json.dumps(value["functionResponse"], ensure_ascii=False))
            for member in value.values():
                walk(member)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(json.loads(request))
    return "\n".join(found)
