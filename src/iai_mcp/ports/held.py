"""Memories that an agent or retention forgot, kept for a person to bring back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """A forgotten memory or piece of work that can still be restored."""

    id: str
    at: int  # microseconds: when it was forgotten
    by: str  # "agent" or "retention"
    project: str
    session_id: str
    said_at: int  # microseconds
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back: the ids, and how many memories (not work) are among them."""

    ids: tuple[str, ...] = ()
    memories: int = 0


class Held(Protocol):
    """Every call is safe from any thread."""

    def entries(self, since: int, ids: Sequence[str] = ()) -> list[HeldMemory]:
        """What was forgotten after that moment, newest first; of `ids` alone, if any are given."""
        ...

    def restore(self, ids: Sequence[str]) -> Restored:
        """Bring memories back under the ids they had, and remove their tombstones."""
        ...

    def drop(self, matches: Callable[[HeldMemory], bool]) -> int:
        """Remove for good what matches; how many that were. Copies have to be rewritten afterwards."""
        ...

    def expire(self, before: int) -> int:
        """Remove for good what was forgotten before that moment, and tell circles; how many."""
        ...
