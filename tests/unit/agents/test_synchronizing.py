"""Following a template."""

import pytest
from tests.unit.agents.workbench import PROJECT, Workbench

from iai_mcp.agents.agents import AgentChange, NewAgent
from iai_mcp.domain.agents.agent import Agent, FromTemplate
from iai_mcp.domain.agents.templates import SyncState
from iai_mcp.domain.errors import InvalidInput

BASE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def bench() -> Workbench:
    return Workbench()


def follower(bench: Workbench, *, synchronized: bool = True) -> Agent:
    bench.templates.save(PROJECT, "reviewer", BASE, where="project")
    new = NewAgent("Rita", "by-file", template="reviewer", synchronized=synchronized)
    return bench.agents.create(PROJECT, new)


def test_an_unedited_agent_takes_the_new_text_and_remembers_its_version(bench: Workbench) -> None:
    follower(bench)
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE + "six\n")
    outcome = bench.sync(PROJECT, "rita")

    assert outcome.applied
    assert outcome.agent.origin == FromTemplate("reviewer", 2)
    assert bench.agents.persona(PROJECT, outcome.agent) == BASE + "six\n"
    assert bench.sync(PROJECT, "rita").comparison.state is SyncState.UP_TO_DATE


def test_comparing_changes_nothing(bench: Workbench) -> None:
    agent = follower(bench)
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE + "six\n")
    outcome = bench.sync.compare(PROJECT, "rita")

    assert "+six" in outcome.comparison.template_diff
    assert not outcome.applied
    assert bench.agents.persona(PROJECT, agent) == BASE


def test_a_hand_edit_is_never_overwritten_and_joined_only_on_request(bench: Workbench) -> None:
    agent = follower(bench)
    bench.agents.update(PROJECT, "rita", AgentChange(context=BASE.replace("one", "ONE")))
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE.replace("five", "FIVE"))
    outcome = bench.sync(PROJECT, "rita")

    assert (outcome.applied, outcome.comparison.state) == (False, SyncState.MERGES)
    assert bench.agents.persona(PROJECT, agent) == BASE.replace("one", "ONE")

    assert bench.sync(PROJECT, "rita", merge=True).applied
    assert bench.agents.persona(PROJECT, agent) == "ONE\ntwo\nthree\nfour\nFIVE\n"


def test_a_conflict_is_left_to_the_person_even_when_merging(bench: Workbench) -> None:
    agent = follower(bench)
    bench.agents.update(PROJECT, "rita", AgentChange(context=BASE.replace("two", "mine")))
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE.replace("two", "theirs"))

    assert not bench.sync(PROJECT, "rita", merge=True).applied
    assert "mine" in bench.agents.persona(PROJECT, agent)


def test_an_agent_that_is_not_synchronized_stays_as_it_is(bench: Workbench) -> None:
    agent = follower(bench, synchronized=False)
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE + "six\n")

    assert not bench.sync(PROJECT, "rita").applied
    assert bench.agents.persona(PROJECT, agent) == BASE


def test_without_the_text_it_started_from_nothing_is_written(bench: Workbench) -> None:
    agent = follower(bench)
    bench.templates.forget_versions()
    bench.templates.edit_by_hand(PROJECT, "reviewer", "all new\n")
    outcome = bench.sync(PROJECT, "rita", merge=True)

    assert (outcome.applied, outcome.comparison.state) == (False, SyncState.BASE_LOST)
    assert bench.agents.persona(PROJECT, agent) == BASE


def test_an_agent_from_scratch_follows_nothing(bench: Workbench) -> None:
    bench.agent("Ada")
    with pytest.raises(InvalidInput, match="not made from a template"):
        bench.sync(PROJECT, "ada")


def test_a_launch_says_that_the_template_has_moved_on(bench: Workbench) -> None:
    agent = follower(bench)
    bench.templates.edit_by_hand(PROJECT, "reviewer", BASE + "six\n")

    assert any("version 2" in note for note in bench.planned(agent).notes)
