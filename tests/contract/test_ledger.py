"""What every ledger of sleep promises, and what is read of what it wrote: on fakes and on the file."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.fakes.sleep import FakeHabits, FakeLedger, FakeRepeats, FakeTopics

from iai_mcp.adapters.sqlite.learned import SqliteHabits, SqliteRepeats, SqliteTopics
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.sleep_ledger import SqliteLedger
from iai_mcp.domain.instants import from_micros
from iai_mcp.ports.learned import Evidence, Habits, Hub, Known, Repeats, Seen, Topics
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.sleep import (
    Assigned,
    Change,
    Derived,
    Folded,
    Grouped,
    Ledger,
    Observed,
    Page,
    Settled,
    Suggested,
    Withdrawn,
)


@dataclass
class Kit:
    memories: Memories
    ledger: Ledger
    repeats: Repeats
    topics: Topics
    habits: Habits

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
        made = Kit(fake, ledger, FakeRepeats(ledger), FakeTopics(ledger), FakeHabits(ledger))
    else:
        database = request.getfixturevalue("database")
        made = Kit(
            SqliteMemories(database),
            SqliteLedger(database),
            SqliteRepeats(database),
            SqliteTopics(database),
            SqliteHabits(database),
        )
    turns = [said(text, at=n, project="pond") for n, text in enumerate(("one", "two", "three"), 1)]
    made.memories.add([*turns, said("four", at=4, project="lake")])
    made.ledger.begin({"step": ""}, 0)
    return made


def _derived(kind: str, home: int, identity: bytes, *sources: int) -> Derived:
    return Derived(
        kind=kind,
        home=home,
        identity=identity,
        tier="semantic",
        project="pond",
        text="made of others",
        cue="label",
        at=from_micros(9),
        valid_from=1,
        meta='{"derived":"topic"}',
        sources=sources,
    )


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
        kit.write(Grouped(window.id, {}, {}), Settled("topic", window.id, ()))
    assert sorted(seen) == [(1, 2), (3,), (4,)]
    assert kit.topics.opening_words([2, 1], 2) == ["tw", "on"]


def test_topics_are_read_back_with_the_most_connected_first(kit: Kit) -> None:
    kit.write(Assigned((1, 2, 3), 9))
    window = kit.topics.changed()
    assert window is not None and window.keys == (1, 2, 3)
    kit.write(Grouped(window.id, {1: 0, 2: 0, 3: 0}, {1: 1, 2: 5, 3: 1}))
    assert kit.topics.changed() is None
    found = kit.topics.grouped()
    assert found is not None
    assert [(topic.keys, list(topic.ids)) for topic in found[1]] == [
        ((2, 1, 3), kit.ids([2, 1, 3]))
    ]
    assert kit.topics.count() == 1
    assert kit.topics.hubs(1) == [Hub(kit.ids([2])[0], 5)]


def test_a_derived_memory_stands_until_it_is_settled_without_or_a_source_goes(kit: Kit) -> None:
    kit.write(_derived("habit", 1, b"a" * 16, 1, 2), _derived("habit", 1, b"b" * 16, 2, 3))
    kit.write(_derived("habit", 1, b"a" * 16, 1, 2))
    assert kit.topics.derived_count() == 2
    assert kit.memories.count() == 4
    assert kit.topics.standing([b"a" * 16, b"x" * 16]) == {b"a" * 16}
    of = kit.topics.derived_of([2, 1])
    assert sorted(of.values()) == [[2], [2, 1]]
    (first,) = [key for key, sources in of.items() if sources == [2, 1]]
    made = kit.memories.get([first])[0]
    assert made.derived and (made.tier, made.provenance.project) == ("semantic", "pond")
    assert made not in kit.memories.timeline(Scope(said=True), 9)
    kit.write(Settled("habit", 1, (b"a" * 16,)))
    assert kit.topics.derived_count() == 1
    kit.memories.forget([1], 1)
    assert kit.topics.derived_count() == 0


def test_nothing_is_derived_of_what_is_gone_nor_what_somebody_forgot(kit: Kit) -> None:
    kit.write(_derived("habit", 1, b"a" * 16, 1, 99))
    assert kit.topics.derived_count() == 0
    kit.write(_derived("habit", 1, b"a" * 16, 1))
    kit.memories.forget(list(kit.topics.derived_of([1])), 1)
    kit.write(_derived("habit", 1, b"a" * 16, 1))
    assert kit.topics.derived_of([1]) == {}
    assert kit.topics.standing([b"a" * 16]) == {b"a" * 16}


def test_suggestions_come_surest_first_and_only_about_what_holds(kit: Kit) -> None:
    kit.write(
        Suggested(1, 2, "value", "differs", 0.5, 9),
        Suggested(1, 3, "value", "differs", 0.9, 9),
        Suggested(99, 3, "value", "differs", 1.0, 9),
    )
    assert [one.newer for one in kit.ledger.suggestions(9)] == [3, 2]
    assert kit.ledger.suggestion_count() == 2
    kit.memories.forget([3], 1)
    assert [one.newer for one in kit.ledger.suggestions(9)] == [2]


def test_suggestions_of_an_earlier_time_are_withdrawn(kit: Kit) -> None:
    kit.write(Suggested(1, 2, "value", "differs", 0.5, 8), Suggested(1, 3, "value", "", 0.9, 9))
    kit.write(Withdrawn(9))
    assert [one.newer for one in kit.ledger.suggestions(9)] == [3]


def test_observations_make_habits_with_news_until_they_are_settled(kit: Kit) -> None:
    kit.write(Observed(1, "wish", ("use", "tabs"), "use tabs", None))
    (seen,) = kit.habits.seen("wish", "tabs", 9)
    assert kit.habits.seen("command", "tabs", 9) == kit.habits.seen("wish", "tab", 9) == []
    kit.write(Observed(2, "wish", ("tabs",), "tabs please", seen.habit))
    kit.write(Observed(2, "wish", ("tabs",), "tabs please", seen.habit))
    assert kit.habits.seen("wish", "tabs", 1) == [Seen(seen.habit, ("tabs",))]
    told = (seen.habit, "wish", [Evidence(1, "use tabs"), Evidence(2, "tabs please")])
    assert kit.habits.changed() == told
    kit.write(Settled("habit", seen.habit, ()))
    assert kit.habits.changed() is None
    kit.memories.forget([1], 1)
    assert kit.habits.changed() == (seen.habit, "wish", [Evidence(2, "tabs please")])


def test_topics_of_another_space_are_looked_for_anew(kit: Kit) -> None:
    kit.topics.reopen("model")
    kit.write(Assigned((1,), 9))
    window = kit.topics.changed()
    assert window is not None
    kit.write(Grouped(window.id, {}, {}), Settled("topic", window.id, ()))
    kit.topics.reopen("model")
    assert kit.topics.changed() is None
    kit.topics.reopen("another")
    assert kit.topics.changed() is not None
