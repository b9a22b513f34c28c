"""How much was said on which day: counted for who may see it, in the days of who asks."""

from tests.fakes.memories import FakeMemories
from tests.unit.memory.bench import access

from iai_mcp.engine.columns import Columns
from iai_mcp.memory.calendar import Calendar, Day
from iai_mcp.memory.scoping import Caller, Filter


def calendar(memories: FakeMemories) -> Calendar:
    return Calendar(Columns(memories), access(memories))


def test_what_was_said_is_counted_by_day_and_name() -> None:
    memories = FakeMemories("one", "two", "three")

    told = calendar(memories)(Filter(), Caller(), "role")

    assert sum(day.count for day in told) == 3
    assert all(isinstance(day, Day) and day.count > 0 for day in told)


def test_a_day_begins_where_the_one_who_asks_lives() -> None:
    memories = FakeMemories("one")
    counted = calendar(memories)
    (here,) = counted(Filter(), Caller(), "role")

    (there,) = counted(Filter(), Caller(), "role", offset=24 * 60)

    assert there.day == here.day + 1


def test_an_empty_memory_has_no_days() -> None:
    assert calendar(FakeMemories())(Filter(), Caller(), "project") == []
