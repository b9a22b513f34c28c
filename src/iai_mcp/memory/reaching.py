"""Forgetting goes on where copies of the store, its log and files of the spool hold the words."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.domain.memories import NewTurn
from iai_mcp.domain.work import NewWork
from iai_mcp.ports.journal import Journal
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock
from iai_mcp.ports.upkeep import Copies, Leftovers, Reached

EVENT = "copies_rewritten"


@dataclass(slots=True)
class Reach:
    """Takes what was forgotten out of everything that is kept, and notes when that is done.

    What is still to be done stands in the store, written together with the forgetting: killed at any
    moment, it is done over.
    """

    memories: Memories
    copies: Copies
    leftovers: Leftovers
    journal: Journal
    clock: Clock
    stopping: Callable[[], bool]
    read_turn: Callable[
        [str, Mapping[str, object]], NewTurn | NewWork | None
    ]  # in a line of a session's file
    _turnstile: Lock = field(default_factory=Lock)

    def __call__(self) -> Reached:
        """
        Raises:
            IaiError: something is in the way; what is left is to be done later.
        """
        with self._turnstile:
            done = Reached()
            while not self.stopping() and (gone := self.memories.unreached()):
                self.memories.scrub()
                left = self._dropped_from_files({one.identity for one in gone})
                reached = self.copies.forget(gone, self.stopping)
                if reached is None:
                    break
                done = Reached(reached.rewritten, (*left, *reached.not_reached))
                self._note(done, len(gone))
                self.memories.reached(gone)
            return done

    def _dropped_from_files(self, identities: Container[bytes]) -> Sequence[str]:
        def is_gone(session: str, line: Mapping[str, object]) -> bool:
            turn = self.read_turn(session, line)
            names = () if turn is None else turn.identities(self.memories.salt)
            return any(name in identities for name in names)

        return self.leftovers.drop(is_gone)

    def _note(self, reached: Reached, memories: int) -> None:
        if reached.rewritten or reached.not_reached:
            told = {
                "rewritten": reached.rewritten,
                "memories": memories,
                "not_reached": list(reached.not_reached),
            }
            self.journal.record_event(EVENT, told, self.clock.now())
