"""Prepare, inject, spawn, type, tell: in that order, or not at all."""

from typing import Any

import pytest
from tests.unit.agents.workbench import PROJECT, Workbench

from iai_mcp.agents.agents import AgentChange
from iai_mcp.agents.launch_records import launch_key
from iai_mcp.domain.agents.agent import Agent
from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.events import AgentLaunched
from iai_mcp.domain.agents.host_wiring import HostTraits, Resume
from iai_mcp.domain.agents.terminal import SessionPhase, TerminalSize
from iai_mcp.domain.errors import (
    InvalidInput,
    IoFailed,
    NotFound,
    NotInstalled,
    PtyFailed,
    ReadOnly,
)
from iai_mcp.domain.projects.project import ProjectPath

HOOKED = HostTraits(session_start_hook=True)


@pytest.fixture
def bench() -> Workbench:
    return Workbench(traits=HOOKED)


def run_files(bench: Workbench, agent: Agent) -> dict[str, str]:
    prefix = PROJECT.run_dir(agent.id) + "/"
    return {
        path.removeprefix(prefix): data.decode()
        for path, data in bench.files.files.items()
        if path.startswith(prefix)
    }


def test_the_run_directory_is_made_then_files_are_written_then_the_program_starts(
    bench: Workbench,
) -> None:
    agent = bench.agent()
    log: list[Any] = []  # what both fakes tell, in one order
    bench.files.log = bench.pty.log = log
    bench.launch(agent)

    run_dir = PROJECT.run_dir(agent.id)
    assert log[0] == ("mkdir", run_dir)
    assert log[-1] == "spawn"
    written = [entry[1] for entry in log if entry[0] == "write"]
    assert f"{run_dir}/TOOL.md" in written
    assert f"{run_dir}/config/memory.json" in written
    assert all(path.startswith(("/p/.ideai/run/", "/data/launches/")) for path in written)


def test_the_session_adopts_its_id_and_is_of_the_agent(bench: Workbench) -> None:
    agent = bench.agent()
    session = bench.launch(agent, size=TerminalSize(50, 160))

    assert session.kind == {"agent": agent.id}
    assert session.status.phase is SessionPhase.RUNNING
    assert session.size == TerminalSize(50, 160)
    listed = bench.pty.all()[0]
    assert (listed.id, listed.label.project) == (session.id, "/p")
    assert bench.events.published[-1] == AgentLaunched(agent.id, session.id)


def test_the_program_starts_in_the_run_directory_and_knows_who_it_is(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    session = bench.launch(agent)
    spec = bench.pty.spawned[session.id]

    assert spec.cwd == PROJECT.run_dir(agent.id)
    assert spec.env == {
        "IAI_MCP_AGENT_ID": agent.id,
        "IAI_MCP_AGENT_NAME": "Ada",
        "IAI_MCP_PROJECT": "/p",
        "IAI_MCP_SESSION_ID": session.id,
        "IAI_MCP_AGENT_PROFILE": "by-file",
        "IAI_MCP_LAUNCH": launch_key(PROJECT, agent.id),
    }


def test_two_agents_of_one_profile_share_no_file(bench: Workbench) -> None:
    ada, ben = bench.agent("Ada", context="A\n"), bench.agent("Ben", context="B\n")
    for agent in (ada, ben):
        bench.launch(agent)

    assert run_files(bench, ada)["TOOL.md"].endswith("\nA\n")
    assert run_files(bench, ben)["TOOL.md"].endswith("\nB\n")
    at_root = [p for p in bench.files.files if not p.startswith(("/p/.ideai/", "/data/"))]
    assert at_root == []


def test_the_convention_file_holds_header_skills_and_the_persona_unchanged(
    bench: Workbench,
) -> None:
    agent = bench.agent(context="I am Ada.\r\n")
    bench.skills.save(PROJECT, Skill("git", "Rebase."), where="project")
    bench.agents.update(PROJECT, agent.id, AgentChange(skills=("git",)))
    bench.launch(agent)

    document = run_files(bench, agent)["TOOL.md"]
    assert "`/p`" in document
    assert document.index("Rebase.") < document.index("I am Ada.")
    assert document.endswith("I am Ada.\r\n")


@pytest.mark.parametrize("profile", ["by-flag", "by-env"])
def test_flag_and_variable_carry_a_path_and_never_the_text(bench: Workbench, profile: str) -> None:
    agent = bench.agent(profile=profile, context="secret persona\n")
    session = bench.launch(agent)
    spec = bench.pty.spawned[session.id]

    path = f"{PROJECT.run_dir(agent.id)}/context.md"
    assert path in (*spec.args, *spec.env.values())
    assert bench.files.files[path].decode().endswith("secret persona\n")
    assert path in bench.files.private
    assert "secret" not in "".join((*spec.args, *spec.env.values()))


def test_stdin_writes_no_context_and_types_exactly_the_persona(bench: Workbench) -> None:
    agent = bench.agent(profile="by-stdin", context="first\nsecond é\n")
    session = bench.launch(agent)

    assert bench.pty.typed[session.id] == "first\nsecond é\n".encode()
    assert bench.pty.log == ["spawn", "write"]
    assert set(run_files(bench, agent)) == {"config/memory.json"}


def test_a_persona_the_terminal_would_cut_is_refused_before_anything_happens(
    bench: Workbench,
) -> None:
    agent = bench.agent(profile="by-stdin", context="x" * 4096)
    with pytest.raises(InvalidInput, match="line 1"):
        bench.launch(agent)

    assert bench.pty.spawned == {}
    assert run_files(bench, agent) == {}


def test_a_prompt_the_program_does_not_take_is_typed_after_the_persona(bench: Workbench) -> None:
    agent = bench.agent(profile="by-stdin", context="me\n")
    session = bench.launch(agent, prompt="hello")

    assert bench.pty.typed[session.id] == b"me\nhello\r"


@pytest.mark.parametrize("what", ["agent", "profile", "context", "skill"])
def test_what_is_not_there_is_not_found_and_nothing_was_touched(
    bench: Workbench, what: str
) -> None:
    agent = bench.agent()
    if what == "agent":
        agent = Agent("ghost", "Ghost", "agents/ghost.md", "by-file")
    elif what == "profile":
        bench.agents.update(PROJECT, agent.id, AgentChange(profile_id="ghost"))
    elif what == "context":
        bench.contexts.remove_context(PROJECT, agent.context_path)
    else:
        bench.skills.save(PROJECT, Skill("git", "x"), where="user")
        bench.agents.update(PROJECT, agent.id, AgentChange(skills=("git",)))
        bench.skills.delete(PROJECT, "git")
    with pytest.raises(NotFound):
        bench.launch(agent)

    assert bench.pty.spawned == {}
    assert bench.files.log == []


def test_a_missing_program_is_named_with_how_to_get_it(bench: Workbench) -> None:
    bench.runtime.missing.add("tool")
    with pytest.raises(NotInstalled, match=r"'tool'.*get the tool"):
        bench.launch(bench.agent())

    assert bench.files.log == []


def test_a_rehearsal_needs_no_program_asks_nobody_and_touches_nothing() -> None:
    bench = Workbench()
    bench.runtime.missing.add("tool")
    plan = bench.planned(bench.agent(), rehearsal=True)

    assert [file.path for file in plan.files] == ["config/memory.json", "TOOL.md"]
    assert any("not installed" in note for note in plan.notes)
    assert bench.memory.asked == []
    assert bench.files.log == []


def test_a_failed_spawn_leaves_no_file_and_no_event(bench: Workbench) -> None:
    agent = bench.agent()
    bench.pty.refuses = PtyFailed("no terminal left")
    with pytest.raises(PtyFailed):
        bench.launch(agent)

    assert run_files(bench, agent) == {}
    assert not bench.files.exists(PROJECT.run_dir(agent.id))
    assert bench.launches.last(PROJECT, agent.id) is None
    assert not any(isinstance(event, AgentLaunched) for event in bench.events.published)


def test_a_failed_relaunch_keeps_what_the_first_launch_uses(bench: Workbench) -> None:
    agent = bench.agent()
    bench.run_once(agent)
    before = set(run_files(bench, agent))
    bench.pty.refuses = PtyFailed("no terminal left")
    with pytest.raises(PtyFailed):
        bench.launch(agent)

    assert set(run_files(bench, agent)) == before


def test_a_program_that_can_not_be_typed_at_is_ended(bench: Workbench) -> None:
    agent = bench.agent(profile="by-stdin")
    bench.pty.deaf = PtyFailed("it has ended")
    with pytest.raises(PtyFailed):
        bench.launch(agent)

    assert bench.pty.log == ["spawn", "kill"]
    assert not bench.files.exists(PROJECT.run_dir(agent.id))


def test_a_directory_that_can_not_be_written_stops_the_launch_before_the_spawn(
    bench: Workbench,
) -> None:
    agent = bench.agent()
    bench.files.refuse(PROJECT.run_dir(agent.id) + "/config")
    with pytest.raises(ReadOnly):
        bench.launch(agent)

    assert bench.pty.spawned == {}
    assert run_files(bench, agent) == {}


def test_an_agent_deleted_meanwhile_is_not_launched(bench: Workbench) -> None:
    agent = bench.agent()
    plan = bench.planned(agent)
    bench.delete(PROJECT, agent.id)
    with pytest.raises(NotFound):
        bench.execute(plan)

    assert bench.pty.spawned == {}
    assert run_files(bench, agent) == {}


def test_files_of_another_profile_go_when_the_profile_changes(bench: Workbench) -> None:
    agent = bench.agent()
    bench.run_once(agent)
    bench.agents.update(PROJECT, agent.id, AgentChange(profile_id="by-flag"))
    bench.launch(agent)

    assert set(run_files(bench, agent)) == {"config/memory.json", "context.md"}


def test_a_record_in_the_project_counts_for_nothing(bench: Workbench) -> None:
    agent = bench.agent()
    runs = "/p/.ideai/run"
    bench.files.make(f"{runs}/.launches")
    bench.files.make(PROJECT.run_dir(agent.id))
    bench.files.files[f"{PROJECT.run_dir(agent.id)}/notes"] = b"kept"
    bench.files.files[f"{runs}/.launches/{agent.id}.json"] = b'{"files": ["notes"]}'
    bench.files.files[f"{runs}/.launches/{agent.id}.conversation"] = b"c0ffee"
    with pytest.raises(NotFound, match="nothing to resume"):
        bench.planned(agent, resume=True)
    bench.launch(agent)

    assert run_files(bench, agent)["notes"] == "kept"


@pytest.mark.parametrize("noted", ["--dangerously-skip-permissions", "", "a b", "x" * 129, "\xff"])
def test_what_can_not_be_a_conversation_is_not_resumed(bench: Workbench, noted: str) -> None:
    agent = bench.agent()
    bench.launch(agent)
    session = bench.pty.all()[0].id
    path = f"/data/launches/{launch_key(PROJECT, agent.id)}.conversation"
    for told, resumed in (("c0ffee", "c0ffee"), (noted, None)):
        bench.files.files[path] = f"{session} {told} said\n".encode("latin-1")
        known = bench.launches.conversation(PROJECT, agent.id)
        assert isinstance(known, Resume)
        assert known.host_session_id == resumed


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{}", b'{"session_id": 1, "files": 7}', b"\xff"])
def test_a_damaged_record_is_as_good_as_none(bench: Workbench, damaged: bytes) -> None:
    agent = bench.agent()
    bench.run_once(agent)
    bench.files.files[f"/data/launches/{launch_key(PROJECT, agent.id)}.json"] = damaged

    assert bench.launches.last(PROJECT, agent.id) is None
    assert bench.launch(agent).status.alive


def test_a_failed_relaunch_leaves_the_record_of_the_launch_before(bench: Workbench) -> None:
    agent = bench.agent()
    bench.run_once(agent)
    before = bench.launches.last(PROJECT, agent.id)
    bench.pty.refuses = PtyFailed("no terminal left")
    with pytest.raises(PtyFailed):
        bench.launch(agent)

    assert bench.launches.last(PROJECT, agent.id) == before


def test_agents_of_one_id_in_two_projects_have_records_of_their_own(bench: Workbench) -> None:
    agent = bench.agent()
    bench.launch(agent)

    assert bench.launches.last(ProjectPath("/clone"), agent.id) is None


def test_a_link_in_the_run_directory_is_refused_before_anything_is_written(
    bench: Workbench,
) -> None:
    agent = bench.agent()
    bench.files.make(PROJECT.run_dir(agent.id))
    bench.files.links[f"{PROJECT.run_dir(agent.id)}/TOOL.md"] = "/home/ann/.profile"
    with pytest.raises(IoFailed, match="link"):
        bench.launch(agent)

    assert run_files(bench, agent) == {}
    assert bench.pty.spawned == {}


@pytest.mark.parametrize("name", ["$HOME", "${TOKEN}", "$(id)", "`id`", "{env:HOME}", "{file:/x}"])
def test_a_name_that_a_program_would_replace_is_refused_before_anything_is_written(
    bench: Workbench, name: str
) -> None:
    agent = bench.agent(name)
    with pytest.raises(InvalidInput, match="rename it"):
        bench.launch(agent)

    assert bench.files.log == []


def test_memory_comes_by_the_hook_where_there_is_one(bench: Workbench) -> None:
    bench.memory.remembered = "the port is 5433"
    agent = bench.agent()
    bench.launch(agent)

    assert bench.memory.asked == []
    assert "5433" not in run_files(bench, agent)["TOOL.md"]


def test_memory_is_part_of_the_context_where_there_is_no_hook() -> None:
    bench = Workbench(traits=HostTraits(session_start_hook=False))
    bench.memory.remembered = "the port is 5433"
    agent = bench.agent()
    session = bench.launch(agent)

    assert bench.memory.asked == [("/p", agent.id, session.id)]
    assert "the port is 5433" in run_files(bench, agent)["TOOL.md"]


def test_a_launch_works_while_the_daemon_is_down_and_says_so(bench: Workbench) -> None:
    bench.memory.up = False
    plan = bench.planned(bench.agent())

    assert any("iai-mcp up" in note for note in plan.notes)
    assert bench.execute(plan).status.alive


def test_trust_is_recorded_only_when_the_person_said_so() -> None:
    bench = Workbench(traits=HostTraits(asks_trust=True))
    agent = bench.agent()
    bench.run_once(agent)
    assert bench.runtime.trusted == []
    assert any("--trust" in note for note in bench.planned(agent).notes)

    bench.launch(agent, trusted=True)
    assert bench.runtime.trusted == ["/p"]


def test_a_program_that_starts_in_the_project_leaves_its_file_in_the_run_directory(
    bench: Workbench,
) -> None:
    agent = bench.agent(profile="at-root")
    plan = bench.planned(agent)
    session = bench.execute(plan)

    assert bench.pty.spawned[session.id].cwd == "/p"
    assert "TOOL.md" in run_files(bench, agent)
    assert "/p/TOOL.md" not in bench.files.files
    assert any("starts in the project" in note for note in plan.notes)


def test_an_agent_that_never_ran_has_nothing_to_resume(bench: Workbench) -> None:
    with pytest.raises(NotFound, match="nothing to resume"):
        bench.planned(bench.agent(), resume=True)
