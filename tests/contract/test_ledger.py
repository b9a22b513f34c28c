"""What every ledger of sleep promises, and what is read of what it wrote: on fakes and on the file."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.fakes.sleep import FakeLedger, FakeRepeats, FakeTopics

from iai_mcp.adapters.sqlite.learned import SqliteRepeats, SqliteTopics
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.sleep_ledger import SqliteLedger
from iai_mcp.ports.learned import Hub, Known, Repeats, Topics, TopicSummary
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.sleep import Assigned, Change, Folded, Grouped, Ledger, Page


@dataclass
class Kit:
    memories: Memories
    ledger: Ledger
    repeats: Repeats
    topics: Topics

    def write(self, *changes: Change) -> None:
        self.ledger.apply("step", Page(changes=changes), 0)

    def ids(self, keys: Sequence[int]) -> list[str]:
        return self.memories.ids_of(keys)


@pytest.fixture(params=["fake", "sqlite"])
def kit(request: pytest.FixtureRequest) -> Kit:
    """Four memories with the keys 1 to 4, the last one of another project, and a sleep under way."""
    made: Kit
    if request.param == "fake":
        fake = FakeMemories()
        ledger = FakeLedger(fake)
        made = Kit(fake, ledger, FakeRepeats(ledger), FakeTopics(ledger))
    else:
        database = request.getfixturevalue("database")
        made = Kit(
            SqliteMemories(database),
            SqliteLedger(database),
            SqliteRepeats(database),
            SqliteTopics(database),
        )
    turns = [said(text, at=n, project="pond") for n, text in enumerate(("one", "two", "three"), 1)]
    made.memories.add([*turns, said("four", at=4, project="lake")])
    made.ledger.begin({"step": ""}, 0)
    return made


def test_a_night_is_told_step_by_step(kit: Kit) -> None:
    kit.ledger.begin({"first": "0", "second": ""}, 10)
    kit.ledger.apply("first", Page("7", counts={"changed": 2}), 30)
    kit.ledger.apply("first", Page("9", done=True, counts={"changed": 1}, failed="BUSY"), 40)
    night = kit.ledger.night()
    assert night is not None and (night.started, night.finished) == (10, None)
    first = {step.step: step for step in night.steps}["first"]
    assert (first.cursor, first.done, first.pages, first.micros) == ("9", True, 2, 70)
    assert (first.counts, first.failed) == ({"changed": 3}, "BUSY")
    assert kit.ledger.cursors() == {"first": "9", "second": ""}
    kit.ledger.finish(50)
    again = kit.ledger.night()
    assert again is not None and again.finished == 50


def test_repeats_are_found_by_wording_and_counted_as_a_group(kit: Kit) -> None:
    assert [one.text for one in kit.repeats.unfolded(1, 2)] == ["two", "three"]
    assert kit.topics.waiting_count() == 4
    kit.write(Folded(1, 77, (5, 6)), Folded(2, 78, (6,)), Folded(3, 77, (), fold=1), Folded(9, 1))
    assert kit.repeats.with_digest(77) == Known(1, 1, "")
    assert kit.repeats.with_digest(1) is None
    assert kit.repeats.with_bands([6], 9) == [Known(1, 1, "one"), Known(2, None, "two")]
    assert kit.repeats.with_bands([], 9) == []
    assert kit.repeats.folds_of([1, 2, 3]) == {1: 1, 3: 1}
    assert kit.repeats.members(1, 1) == (2, kit.ids([3]))
    assert kit.topics.waiting_count() == 1
    kit.memories.forget([1], 1)
    assert kit.repeats.members(1, 9) == (1, kit.ids([3]))


def test_memories_take_their_places_in_windows_of_their_projects(kit: Kit) -> None:
    assert kit.topics.unassigned(0, 9) == [1, 2, 3, 4]
    kit.write(Assigned((1, 2, 3, 4), 2))
    kit.write(Assigned((1,), 2))
    seen = []
    while (window := kit.topics.changed()) is not None:
        seen.append(window.keys)
        assert len(window.at) == len(window.sessions) == len(window.keys)
        kit.write(Grouped(window.id, {}, {}))
    assert sorted(seen) == [(1, 2), (3,), (4,)]
    assert kit.topics.opening_words([2, 1], 2) == ["tw", "on"]


def test_topics_are_counted_and_their_most_connected_memory_is_a_hub(kit: Kit) -> None:
    kit.write(Assigned((1, 2, 3), 9))
    window = kit.topics.changed()
    assert window is not None and window.keys == (1, 2, 3)
    kit.write(Grouped(window.id, {1: 0, 2: 0, 3: 0}, {1: 1, 2: 5, 3: 1}))
    assert kit.topics.changed() is None
    assert kit.topics.count() == 1
    assert kit.topics.hubs(1) == [Hub(kit.ids([2])[0], 5)]


def grouped(kit: Kit, *topics: dict[int, int]) -> None:
    """Each topic as the ties of its memories; all windows in one go."""
    kit.write(Assigned(tuple(key for ties in topics for key in ties), 9))
    while (window := kit.topics.changed()) is not None:
        of = {key: n for n, ties in enumerate(topics) for key in ties if key in window.keys}
        ties = {key: ties[key] for ties in topics for key in ties if key in window.keys}
        kit.write(Grouped(window.id, of, ties))


def test_the_largest_topics_are_labelled_by_their_most_connected_memory(kit: Kit) -> None:
    kit.memories.add([said("five\n  words " + "x" * 90, at=5, project="lake")])
    grouped(kit, {1: 1, 3: 1}, {2: 0}, {4: 1, 5: 3})
    (five,), (one,), (two,) = kit.ids([5]), kit.ids([1]), kit.ids([2])
    lake = TopicSummary(five, "five words " + "x" * 67, "lake", 2, 4, 5)
    pond = TopicSummary(one, "one", "pond", 2, 1, 3)
    single = TopicSummary(two, "two", "pond", 1, 2, 2)
    assert kit.topics.largest(9, ()) == [lake, pond, single]
    assert kit.topics.largest(1, ()) == [lake]
    assert kit.topics.largest(9, ["lake"]) == [pond, single]
    kit.memories.forget([5], 9)
    assert kit.topics.largest(9, ["pond"]) == [
        TopicSummary(kit.ids([4])[0], "four", "lake", 1, 4, 4)
    ]


def test_topics_of_another_space_are_looked_for_anew(kit: Kit) -> None:
    kit.topics.reopen("model")
    kit.write(Assigned((1,), 9))
    window = kit.topics.changed()
    assert window is not None
    kit.write(Grouped(window.id, {}, {}))
    kit.topics.reopen("model")
    assert kit.topics.changed() is None
    kit.topics.reopen("another")
    assert kit.topics.changed() is not None
