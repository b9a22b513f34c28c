"""What each step of sleep finds, on a store in memory."""

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.fakes.sleep import FakeHabits, FakeLedger, FakeRepeats, FakeTopics, everybody_together
from tests.fakes.surroundings import FakeProjects, StandingClock
from tests.fakes.upkeep import Done, FakeUpkeep

from iai_mcp.domain.errors import Busy
from iai_mcp.memory.sleep import suggesting
from iai_mcp.memory.sleep.folding import FoldRepeats
from iai_mcp.memory.sleep.habits import LearnHabits
from iai_mcp.memory.sleep.sleep import Sleep
from iai_mcp.memory.sleep.suggesting import SuggestCorrections
from iai_mcp.memory.sleep.topics import FindTopics
from iai_mcp.memory.sleep.upkeep import Compact, Errand, FinishVectors, Retain
from iai_mcp.ports.sleep import Enough, Page, Step, Suggested, never

DAY = 86_400_000_000


class Kit:
    """A store in memory, and sleep over the steps that a test is about."""

    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.ledger = FakeLedger(self.memories)
        self.repeats, self.topics = FakeRepeats(self.ledger), FakeTopics(self.ledger)
        self.habits = FakeHabits(self.ledger)
        self.upkeep = FakeUpkeep(self.memories)
        self.clock = StandingClock()

    def sleep(self, *steps: Step) -> dict[str, object]:
        return Sleep(steps, self.ledger, self.memories, self.clock).run()


def test_what_was_said_again_in_other_letters_is_folded_into_the_first() -> None:
    kit = Kit("The port is 5432.", "bread needs salt", "the port is  5432")
    report = kit.sleep(FoldRepeats(kit.repeats))
    assert (report["state"], report["folded"]) == ("done", 1)
    assert kit.repeats.folds_of([1, 2, 3]) == {1: 1, 3: 1}


def test_folding_goes_on_where_the_last_sleep_ended() -> None:
    kit = Kit("the port is 5432")
    kit.sleep(FoldRepeats(kit.repeats))
    kit.memories.say("the heron is grey", "the heron is grey!")
    report = kit.sleep(FoldRepeats(kit.repeats))
    assert (report["changed"], report["folded"]) == (2, 1)


def test_memories_that_belong_together_become_a_topic_that_quotes_them() -> None:
    kit = Kit(*(f"the heron at the pond eats fish number {n}" for n in ("one", "two", "three")))
    find = FindTopics(kit.topics, kit.memories, everybody_together, lambda: "words", lambda: True)
    assert kit.sleep(find)["derived"] == 1
    ((derived, sources),) = kit.topics.derived_of([1, 2, 3]).items()
    assert sources == [1, 2, 3]
    assert "heron" in kit.memories.get([derived])[0].text
    assert kit.sleep(find)["derived"] == 0
    kit.memories.forget([1], 1)
    kit.sleep(find)
    assert kit.topics.derived_of([2, 3]) == {}


def test_who_does_not_want_it_gets_nothing_derived() -> None:
    kit = Kit(*(f"the heron at the pond eats fish number {n}" for n in ("one", "two", "three")))
    off = lambda: False  # noqa: E731
    find = FindTopics(kit.topics, kit.memories, everybody_together, lambda: "words", off)
    learn = LearnHabits(kit.habits, kit.topics, kit.memories, FakeProjects(), off)
    assert kit.sleep(find, learn)["derived"] == 0


def test_a_wish_that_is_said_twice_becomes_a_habit_that_counts_its_sources() -> None:
    kit = Kit("Always use tabs for indentation.", "hello", "Please always use tabs for indentation")
    learn = LearnHabits(kit.habits, kit.topics, kit.memories, FakeProjects(), lambda: True)
    assert kit.sleep(learn)["derived"] == 1
    ((derived, sources),) = kit.topics.derived_of([1, 2, 3]).items()
    assert sources == [1, 3]
    assert kit.memories.get([derived])[0].tier == "procedural"
    kit.memories.forget([3], 1)
    assert kit.sleep(learn)["derived"] == 0
    assert kit.topics.derived_count() == 0


def test_two_statements_that_can_hardly_both_be_true_are_suggested_and_nothing_more() -> None:
    kit = Kit("The staging database listens on 5432.", "bread needs salt")
    kit.memories.add([said("The staging database listens on 5433.", at=9_000_000, session="t")])
    suggest = SuggestCorrections(kit.memories, lambda: "no model", kit.clock, lambda: True)
    sleep = Sleep((suggest,), kit.ledger, kit.memories, kit.clock)
    assert sleep.run()["suggestions"] == 1
    ((older, newer),) = [(one["older"], one["newer"]) for one in sleep.suggested()]
    assert "5432" in str(older) and "5433" in str(newer)
    assert kit.memories.get([1])[0].valid_to is None


def stated(kit: Kit, *turns: tuple[str, str]) -> None:
    """Each in a session of its own, as (role, text)."""
    for number, (role, text) in enumerate(turns, 1):
        turn = said(
            text,
            at=number * 1_000_000,
            role=role,
            session=f"s{number}",
            identity=number.to_bytes(16, "big"),
        )
        kit.memories.add([turn])


def suggestions(kit: Kit) -> list[tuple[int, int]]:
    """What one more night leaves suggested, as keys."""
    suggest = SuggestCorrections(kit.memories, lambda: "no model", kit.clock, lambda: True)
    Sleep((suggest,), kit.ledger, kit.memories, kit.clock).run()
    return sorted((one.older, one.newer) for one in kit.ledger.suggestions(99))


def test_after_an_import_a_night_ends_and_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suggesting, "_SEARCHES", 1)
    monkeypatch.setattr(suggesting, "_SEARCHES_A_NIGHT", 1)
    kit = Kit()
    stated(kit, ("user", "The cache listens on 1."), ("user", "The cache listens on 2."))
    assert suggestions(kit) == []
    assert suggestions(kit) == [(1, 2)]


@pytest.mark.parametrize(
    "turns",
    [
        [("assistant", "The cache listens on 1."), ("assistant", "The cache listens on 2.")],
        [("user", "The cache listens on 1."), ("assistant", "The cache listens on 2.")],
        [("user", "The cache listens on 1."), ("user", "The cache listens on 1.")],
        [("user", "The cache took 1 second."), ("user", "The cache took 2 seconds.")],
        [("user", "The cache listens on 1."), ("user", "I got this:\nThe cache listens on 2.")],
    ],
    ids=["two agents", "an agent later", "a copy", "two reports", "a paste"],
)
def test_only_what_people_state_leaves_anything_in_doubt(turns: list[tuple[str, str]]) -> None:
    kit = Kit()
    stated(kit, *turns)
    assert suggestions(kit) == []


def test_what_an_agent_concluded_may_be_put_right_by_a_person() -> None:
    kit = Kit()
    stated(kit, ("assistant", "The cache listens on 1."), ("user", "The cache listens on 2."))
    assert suggestions(kit) == [(1, 2)]


def test_five_are_suggested_in_a_night_and_the_next_goes_on_from_there() -> None:
    kit = Kit()
    stated(kit, *(("user", f"The cache listens on {number}.") for number in range(5)))
    first = suggestions(kit)
    assert len(first) == 5
    assert len(suggestions(kit)) > 5


def test_what_an_earlier_reading_suggested_is_withdrawn() -> None:
    kit = Kit("bread needs salt", "no it does not")
    kit.clock.micros = 9
    kit.ledger.begin({"suggestions": "17"}, 1)
    kit.ledger.apply("suggestions", Page("17", True, (Suggested(1, 2, "value", "", 1.0, 1),)), 0)
    kit.ledger.finish(2)
    assert suggestions(kit) == []


def retain(kit: Kit, forgotten: list[int], *, days: int = 0, megabytes: int = 0) -> Retain:
    return Retain(
        kit.memories, kit.upkeep, kit.clock, lambda: days, lambda: megabytes, forgotten.extend
    )


def test_what_is_too_old_is_forgotten_but_for_what_is_pinned() -> None:
    kit = Kit()
    kit.memories.add([said(f"day {n}", at=n * DAY) for n in range(1, 60)])
    kit.memories.pin(3, True)
    kit.clock.micros = 60 * DAY
    forgotten: list[int] = []
    kit.sleep(retain(kit, forgotten, days=10))
    assert sorted(forgotten) == [key for key in range(1, 50) if key != 3]
    assert kit.memories.count() == 11


def test_of_what_is_too_much_the_oldest_goes() -> None:
    kit = Kit()
    kit.memories.add([said(f"{n}" * 400_000, at=n) for n in range(1, 6)])
    forgotten: list[int] = []
    kit.sleep(retain(kit, forgotten, megabytes=1))
    assert forgotten == [1, 2, 3]


def test_by_default_nothing_is_forgotten() -> None:
    kit = Kit("old", "older")
    kit.clock.micros = 10_000 * DAY
    forgotten: list[int] = []
    kit.sleep(retain(kit, forgotten))
    assert forgotten == []


def test_care_for_the_store_comes_to_an_end_and_a_backup_is_made_when_it_is_due() -> None:
    kit = Kit("something")
    left = [3, 2, 0]
    steps = (
        FinishVectors(lambda: left.pop(0)),
        Compact(kit.upkeep),
        Errand("check", kit.upkeep.check),
        Errand("backup", kit.upkeep.back_up, kit.upkeep.backup_due),
    )
    assert kit.sleep(*steps)["state"] == "done"
    left += [0]
    kit.sleep(*steps)
    assert kit.upkeep.backups == 1


class Refused:
    """A step whose store is in use."""

    name = "refused"

    def start(self, cursor: str) -> str:
        return ""

    def page(self, cursor: str, enough: Enough = never) -> Page:
        raise Busy("the store is in use")


def test_a_step_that_fails_does_not_keep_the_others_from_their_work() -> None:
    kit = Kit("one", "one!")
    report = kit.sleep(Refused(), Errand("check", Done), FoldRepeats(kit.repeats))
    steps = report["steps"]
    assert isinstance(steps, list)
    assert [step.get("failed") for step in steps] == ["BUSY", None, None]
    assert (report["state"], report["folded"]) == ("done", 1)


def test_stopped_between_two_pages_it_goes_on_from_there() -> None:
    kit = Kit(*(f"memory number {n}" for n in range(100)))
    sleep = Sleep((FoldRepeats(kit.repeats),), kit.ledger, kit.memories, kit.clock)
    pages = iter([True, False])
    assert sleep.run(lambda: next(pages))["state"] == "unfinished"
    (reached,) = kit.ledger.cursors().values()
    assert 0 < int(reached) < 100
    assert sleep.run()["state"] == "done"
    assert kit.topics.waiting_count() == 0
