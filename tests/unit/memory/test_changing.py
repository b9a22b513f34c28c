"""Forgetting, linking and pinning on a store in memory."""

import pytest
from tests.fakes.held import FakeHeld
from tests.fakes.journal import FakeJournal
from tests.fakes.memories import FakeMemories
from tests.unit.memory.bench import Noon, access

from iai_mcp.domain.errors import InvalidInput, NotFound
from iai_mcp.memory.changing import Forget, Pin, Reinforce, Selection
from iai_mcp.memory.forget_budget import ForgetBudget
from iai_mcp.memory.scoping import Caller


def test_a_rehearsal_says_what_would_go_and_forgetting_says_what_went() -> None:
    memories, gone = FakeMemories("kafka is down", "redis is up"), list[int]()
    budget = ForgetBudget(FakeJournal(), Noon())
    forget = Forget(memories, access(memories), Noon(), gone.extend, budget, FakeHeld())

    would, seen = forget.rehearsed(Selection(words="KAFKA"), shown=5)
    assert seen is not None
    assert (would.count, would.matches, seen.projects) == (0, 1, {"": 1})
    assert [sample for _, sample in seen.first] == ["kafka is down"]
    assert len(memories.stored) == 2
    done = forget(Selection(words="KAFKA"))

    assert (done.count, done.ids, gone) == (1, would.ids, [1])
    assert [memory.text for memory in memories.stored.values()] == ["redis is up"]


def test_useful_memories_are_linked_and_the_unknown_ones_named() -> None:
    memories = FakeMemories("one", "two")
    reinforce = Reinforce(memories, access(memories), Noon())
    ids = memories.ids_of([1, 2])

    done = reinforce([*ids, "nobody"], Caller())

    assert (done.links, done.known, done.unknown) == (1, tuple(ids), ("nobody",))
    with pytest.raises(InvalidInput):
        reinforce([], Caller())


def test_what_is_not_there_can_not_be_pinned() -> None:
    memories = FakeMemories("one")
    pin = Pin(memories, access(memories))

    assert pin(memories.stored[1].id, True, Caller()) == memories.stored[1].id
    assert memories.stored[1].pinned
    with pytest.raises(NotFound):
        pin("nobody", True, Caller())
