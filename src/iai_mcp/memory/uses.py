"""Which memories were asked for: noted after the answer has left, in batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.ports.learned import Strengths, Use
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.surroundings import Clock

HIT, USEFUL = 1, 2
# Of a long answer only the first hits were surely asked for.
_COUNTED_HITS = 3
_KEPT_BACK = 64


@dataclass(slots=True)
class Uses:
    """Recall writes nothing; what it brought up waits here and is written together. A kill loses
    the last few, which only means that they do not rise.
    """

    memories: Memories
    strengths: Strengths
    clock: Clock
    later: Callable[[Callable[[], None]], None]  # runs it soon, off the caller's path
    _waiting: list[tuple[str, int, int]] = field(default_factory=list)
    _turnstile: Lock = field(default_factory=Lock)

    def hits(self, result: dict[str, object]) -> None:
        """An answer of recall was given."""
        found = result.get("hits")
        first = found[:_COUNTED_HITS] if isinstance(found, list) else []
        self._note([str(hit["id"]) for hit in first if isinstance(hit, dict)], HIT)

    def useful(self, ids: Sequence[str]) -> None:
        """Somebody said that these were useful."""
        self._note(ids, USEFUL)

    def flush(self) -> None:
        """Write down what waits."""
        with self._turnstile:
            waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        keys = {memory.id: memory.key for memory in self.memories.find([one[0] for one in waiting])}
        self.strengths.note([Use(keys[i], at, weight) for i, at, weight in waiting if i in keys])

    def _note(self, ids: Sequence[str], weight: int) -> None:
        now = self.clock.now()
        with self._turnstile:
            self._waiting += [(identity, now, weight) for identity in ids]
            full = len(self._waiting) >= _KEPT_BACK
        if full:
            self.later(self.flush)
