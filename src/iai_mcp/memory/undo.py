"""Undo what an agent or retention did: bring back forgotten memories, reinstate superseded ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.errors import NotFound
from iai_mcp.memory.scoping import Access, Caller
from iai_mcp.ports.held import Held, HeldMemory, Restored
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock

HELD_DAYS = 7
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class RestoreForgotten:
    """Lists and restores what was forgotten in the last seven days, but not by the person."""

    held: Held
    clock: Clock
    changed: Callable[[], None]  # told after memories came back

    def entries(self, ids: Sequence[str] = ()) -> list[HeldMemory]:
        """Newest first.

        Raises:
            NotFound: one of `ids` is not there.
        """
        found = self.held.entries(self._oldest(), ids)
        missing = {one.lower() for one in ids} - {one.id for one in found}
        if missing:
            named = ", ".join(sorted(missing))[:200]
            raise NotFound(
                f"{named} can not be restored: 'iai-mcp restore --forgotten' lists what can"
            )
        return found

    def __call__(self, ids: Sequence[str] = ()) -> Restored:
        """Restore these, or all there are."""
        done = self.held.restore([one.id for one in self.entries(ids)])
        if done.ids:
            self.changed()
        return done

    def expire(self) -> int:
        """Remove for good what was held for seven days; how many."""
        return self.held.expire(self._oldest())

    def _oldest(self) -> int:
        return self.clock.now() - HELD_DAYS * _DAY


@dataclass(frozen=True, slots=True)
class Reinstate:
    """Lets a memory hold again that another one superseded."""

    memories: Memories
    access: Access

    def __call__(self, public_id: str, caller: Caller) -> str:
        memory = self.access.one(public_id, caller)
        self.memories.reinstate(memory.key)
        return memory.id
