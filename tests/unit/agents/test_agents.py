"""Making, changing, deleting and pruning agents."""

import pytest
from tests.unit.agents.workbench import PROJECT, Workbench

from iai_mcp.agents.agents import AgentChange, NewAgent
from iai_mcp.domain.agents.agent import FromTemplate, Scratch
from iai_mcp.domain.agents.context_document import Skill
from iai_mcp.domain.agents.events import AgentCreated, AgentDeleted, AgentUpdated
from iai_mcp.domain.errors import Busy, InvalidInput, IoFailed, NotFound
from iai_mcp.domain.projects.project import ProjectPath


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


def test_a_new_agent_has_a_slug_a_context_and_an_entry(bench: Workbench) -> None:
    agent = bench.agents.create(PROJECT, NewAgent("Backend Dev", "by-file", "Write Go.\n"))

    assert agent.context_path == "agents/backend-dev.md"
    assert agent.origin == Scratch()
    assert bench.agents.list(PROJECT) == (agent,)
    assert bench.agents.persona(PROJECT, agent) == "Write Go.\n"
    assert bench.events.published == [AgentCreated(agent.id, "/p")]


def test_agents_of_one_name_get_numbers(bench: Workbench) -> None:
    slugs = [bench.agent("Backend Dev").slug for _ in range(3)]

    assert slugs == ["backend-dev", "backend-dev-2", "backend-dev-3"]


def test_a_context_file_without_an_agent_is_never_overwritten(bench: Workbench) -> None:
    bench.contexts.write_context(PROJECT, "agents/ada.md", "somebody's notes")
    agent = bench.agent("Ada")

    assert agent.slug == "ada-2"
    assert bench.contexts.read_context(PROJECT, "agents/ada.md") == "somebody's notes"


def test_when_the_manifest_does_not_land_the_context_does_not_either(bench: Workbench) -> None:
    bench.contexts.fail_on_save = True
    with pytest.raises(IoFailed):
        bench.agent("Ada")

    assert bench.contexts.contexts == {}
    assert bench.events.published == []


def test_an_agent_from_a_template_remembers_which_version(bench: Workbench) -> None:
    bench.templates.save(PROJECT, "reviewer", "v1", where="user")
    bench.templates.save(PROJECT, "reviewer", "v2", where="user")
    agent = bench.agents.create(
        PROJECT, NewAgent("Rita", "by-file", template="reviewer", synchronized=True)
    )

    assert agent.origin == FromTemplate("reviewer", 2)
    assert agent.synchronized
    assert bench.agents.persona(PROJECT, agent) == "v2"


def test_an_unknown_template_or_skill_makes_no_agent(bench: Workbench) -> None:
    with pytest.raises(NotFound):
        bench.agents.create(PROJECT, NewAgent("Rita", "by-file", template="ghost"))
    with pytest.raises(NotFound):
        bench.agents.create(PROJECT, NewAgent("Rita", "by-file", "x", skills=("ghost",)))

    assert bench.agents.list(PROJECT) == ()
    assert bench.contexts.contexts == {}


def test_template_and_context_together_are_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="not both"):
        bench.agents.create(PROJECT, NewAgent("Rita", "by-file", "x", template="reviewer"))


def test_an_agent_without_a_template_can_not_be_synchronized(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="only an agent made from a template"):
        bench.agents.create(PROJECT, NewAgent("Ada", "by-file", "x", synchronized=True))


def test_a_context_that_is_no_text_is_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="UTF-8"):
        bench.agents.create(PROJECT, NewAgent("Ada", "by-file", "\ud800"))


def test_a_change_touches_only_what_it_names(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    bench.skills.save(PROJECT, Skill("git", "Rebase."), where="user")
    changed = bench.agents.update(
        PROJECT, "ada", AgentChange(name="Ada Two", context="New.\n", skills=("git", "git"))
    )

    assert (changed.id, changed.name, changed.slug) == (agent.id, "Ada Two", "ada")
    assert (changed.profile_id, changed.skills) == ("by-file", ("git",))
    assert bench.agents.persona(PROJECT, changed) == "New.\n"
    assert bench.events.published[-1] == AgentUpdated(agent.id, "/p")


def test_changing_an_unknown_agent_is_not_found(bench: Workbench) -> None:
    with pytest.raises(NotFound):
        bench.agents.update(PROJECT, "ghost", AgentChange(name="x"))


def test_a_deleted_agent_leaves_nothing_and_can_not_be_deleted_again(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    bench.pty.kill(bench.launch(agent).id)
    bench.delete(PROJECT, "ada")

    assert bench.agents.list(PROJECT) == ()
    assert bench.contexts.contexts == {}
    assert [path for path in bench.files.files if agent.id in path] == []
    assert not bench.files.exists(PROJECT.run_dir(agent.id))
    assert bench.events.published[-1] == AgentDeleted(agent.id, "/p")
    with pytest.raises(NotFound):
        bench.delete(PROJECT, agent.id)


def test_a_running_agent_is_deleted_only_by_force(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    session = bench.launch(agent)
    with pytest.raises(Busy, match=session.id):
        bench.delete(PROJECT, "ada")
    assert bench.agents.list(PROJECT) == (agent,)

    bench.delete(PROJECT, "ada", force=True)
    assert bench.agents.list(PROJECT) == ()
    assert bench.pty.log[-1] == "kill"


def test_an_agent_of_the_same_id_in_another_project_is_left_alone(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    session = bench.launch(agent)
    clone = ProjectPath("/clone")
    bench.files.make("/clone")
    bench.contexts.save_manifest(clone, bench.contexts.load_manifest(PROJECT))
    bench.delete(clone, agent.id, force=True)

    assert [s.id for s in bench.pty.all() if s.status.alive] == [session.id]
    assert bench.launches.last(PROJECT, agent.id) is not None


def test_pruning_removes_the_runs_of_agents_that_are_gone_and_nothing_else(
    bench: Workbench,
) -> None:
    ada, ben = bench.agent("Ada"), bench.agent("Ben")
    for agent in (ada, ben):
        bench.pty.kill(bench.launch(agent).id)
    bench.contexts.save_manifest(PROJECT, bench.contexts.load_manifest(PROJECT).without(ben.id))
    bench.contexts.remove_context(PROJECT, ada.context_path)
    bench.files.make(PROJECT.data)

    found = bench.prune(PROJECT, dry_run=True)
    assert found.run_dirs == (PROJECT.run_dir(ben.id),)
    assert bench.files.exists(PROJECT.run_dir(ben.id))

    found = bench.prune(PROJECT)
    assert not bench.files.exists(PROJECT.run_dir(ben.id))
    assert bench.files.exists(PROJECT.run_dir(ada.id))
    assert found.contexts_without_agent == ("agents/ben.md",)
    assert found.agents_without_context == (ada,)
    assert bench.contexts.read_context(PROJECT, "agents/ben.md") == "I am Ada.\n"


def test_pruning_spares_a_run_that_is_still_in_use(bench: Workbench) -> None:
    agent = bench.agent("Ada")
    bench.launch(agent)
    bench.contexts.save_manifest(PROJECT, bench.contexts.load_manifest(PROJECT).without(agent.id))
    bench.files.make(PROJECT.data)

    assert bench.prune(PROJECT).run_dirs == ()
    assert bench.files.exists(PROJECT.run_dir(agent.id))
