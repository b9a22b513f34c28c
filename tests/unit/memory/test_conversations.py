"""Which conversations there are: the newest first, each known by what a person said first in it."""

from tests.fakes.memories import FakeMemories, said
from tests.unit.memory.bench import access

from iai_mcp.engine.columns import Columns
from iai_mcp.memory.conversations import Conversations
from iai_mcp.memory.scoping import Caller, Filter


def conversations(memories: FakeMemories) -> Conversations:
    return Conversations(Columns(memories), access(memories), memories)


def three() -> FakeMemories:
    memories = FakeMemories()
    memories.add(
        [
            said("hello, I am ready", at=1_000_000, role="assistant", session="old"),
            said("please fix the queue", at=2_000_000, session="old"),
            said("which port?", at=3_000_000, session="middle"),
            said("it is fixed", at=9_000_000, role="assistant", session="old"),
            said("a note of no conversation", at=10_000_000, session=""),
            said("newest words", at=8_000_000, session="new", project="/p"),
        ]
    )
    return memories


def test_the_one_that_was_last_spoken_in_comes_first_with_what_a_person_said_first() -> None:
    found = conversations(three())(Filter(), Caller(), limit=10)

    assert [one.session_id for one in found] == ["old", "new", "middle"]
    assert [one.opening.text for one in found] == [
        "please fix the queue",
        "newest words",
        "which port?",
    ]
    assert (found[0].turns, found[0].first, found[0].last) == (3, 1_000_000, 9_000_000)


def test_they_come_in_pages_and_by_what_was_asked_for() -> None:
    listed = conversations(three())

    assert [one.session_id for one in listed(Filter(), Caller(), limit=1)] == ["old"]
    earlier = listed(Filter(), Caller(), limit=10, before=9_000_000)
    assert [one.session_id for one in earlier] == ["new", "middle"]
    said_then = listed(Filter(since=2_500_000, until=8_500_000), Caller(), limit=10)
    assert [one.session_id for one in said_then] == ["new", "middle"]


def test_an_empty_memory_has_none() -> None:
    assert conversations(FakeMemories())(Filter(), Caller(), limit=10) == []
