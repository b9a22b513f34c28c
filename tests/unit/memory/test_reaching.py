"""Forgetting goes on in copies and in files that wait."""

from tests.fakes.journal import FakeJournal
from tests.fakes.memories import FakeMemories, said
from tests.fakes.surroundings import StandingClock
from tests.fakes.upkeep import FakeCopies, FakeLeftovers

from iai_mcp.domain.memories import turn_identity
from iai_mcp.memory.reaching import EVENT, Reach
from iai_mcp.protocol.turn_events import spooled_turn


class Kit:
    """One memory, in a copy and in a file that waits."""

    def __init__(self) -> None:
        self.memories = FakeMemories()
        turn = turn_identity(self.memories.salt, "s", turn_id="1")
        self.memories.add([said("the heron is hidden", identity=turn)])
        self.copies = FakeCopies({turn})
        self.files = FakeLeftovers(("s", {"id": "1", "text": "the heron is hidden"}))
        self.journal = FakeJournal()
        self.stopped = False
        self.reach = Reach(
            memories=self.memories,
            copies=self.copies,
            leftovers=self.files,
            journal=self.journal,
            clock=StandingClock(9),
            stopping=lambda: self.stopped,
            read_turn=spooled_turn,
        )


def test_what_was_forgotten_leaves_copies_and_files_and_is_told_once() -> None:
    kit = Kit()
    kit.memories.forget([1], 5)
    assert kit.reach().rewritten == 1
    assert (kit.copies.copies, kit.files.turns) == ([set()], [])
    assert kit.memories.unreached() == []
    assert kit.reach().rewritten == 0
    (told,) = kit.journal.events(EVENT, None, 9)
    assert told["data"] == {"rewritten": 1, "memories": 1, "not_reached": []}


def test_told_to_stop_it_leaves_what_is_to_do_in_the_store() -> None:
    kit = Kit()
    kit.memories.forget([1], 5)
    kit.stopped = True
    kit.reach()
    assert len(kit.memories.unreached()) == 1
    kit.stopped = False
    assert kit.reach().rewritten == 1
