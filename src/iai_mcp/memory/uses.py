"""Which memories were asked for: noted after the answer has left, in batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from iai_mcp.memory.question import Answer
from iai_mcp.ports.learned import Strengths, Use
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

    strengths: Strengths
    clock: Clock
    later: Callable[[Callable[[], None]], None]  # runs it soon, off the caller's path
    _waiting: list[Use] = field(default_factory=list)
    _turnstile: Lock = field(default_factory=Lock)

    def hits(self, answer: Answer) -> None:
        """An answer of recall was given."""
        self._note([hit.memory.key for hit in answer.hits[:_COUNTED_HITS]], HIT)

    def useful(self, keys: Sequence[int]) -> None:
        """Somebody said that these were useful."""
        self._note(keys, USEFUL)

    def flush(self) -> None:
        """Write down what waits."""
        with self._turnstile:
            waiting, self._waiting = self._waiting, []
        if waiting:
            self.strengths.note(waiting)

    def _note(self, keys: Sequence[int], weight: int) -> None:
        now = self.clock.now()
        with self._turnstile:
            self._waiting += [Use(key, now, weight) for key in keys]
            full = len(self._waiting) >= _KEPT_BACK
        if full:
            self.later(self.flush)
