"""What each step of sleep finds, on a store in memory."""

from tests.fakes.memories import FakeMemories, said
from tests.fakes.sleep import FakeLedger, FakeRepeats, FakeTopics, everybody_together
from tests.fakes.surroundings import StandingClock
from tests.fakes.upkeep import Done, FakeUpkeep

from iai_mcp.domain.errors import Busy
from iai_mcp.memory.sleep.folding import FoldRepeats
from iai_mcp.memory.sleep.sleep import Sleep
from iai_mcp.memory.sleep.topics import FindTopics
from iai_mcp.memory.sleep.upkeep import Compact, Errand, FinishVectors, Retain
from iai_mcp.ports.sleep import Enough, Page, Step, never

DAY = 86_400_000_000


class Kit:
    """A store in memory, and sleep over the steps that a test is about."""

    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.ledger = FakeLedger(self.memories)
        self.repeats, self.topics = FakeRepeats(self.ledger), FakeTopics(self.ledger)
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


HERON = tuple(f"the heron at the pond eats fish number {n}" for n in ("one", "two", "three"))


def test_memories_that_belong_together_become_a_topic() -> None:
    kit = Kit(*HERON)
    find = FindTopics(kit.topics, everybody_together, lambda: "words", lambda: True)
    kit.sleep(find)
    (topic,) = kit.topics.largest(9, ())
    assert (topic.label, topic.size) == (HERON[0], 3)
    kit.memories.forget([1], 1)
    kit.sleep(find)
    assert kit.topics.count() == 0  # two are too few


def test_with_learning_off_no_topics_are_found() -> None:
    kit = Kit(*HERON)
    kit.sleep(FindTopics(kit.topics, everybody_together, lambda: "words", lambda: False))
    assert kit.topics.count() == 0


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
