"""How fast memory answered and how large it was, minute by minute, for the last hours.

Kept in the process and gone with it: it is for looking at, and nothing depends on it.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

_MINUTE = 60_000_000  # microseconds
_HOURS = 4
_MOST = 200  # recalls of one minute that are looked at; of more, the latest


@dataclass(frozen=True, slots=True)
class Sizes:
    """What there was at the first call of a minute."""

    memories: int
    store_bytes: int
    resident_bytes: int


@dataclass(frozen=True, slots=True)
class Minute:
    """`begins` in microseconds; `took` are the latest recalls in seconds, the quickest first."""

    begins: int
    sizes: Sizes
    recalls: int
    took: tuple[float, ...]

    def share(self, part: float) -> float:
        """So many seconds at most took that part of the recalls; 0 where there was none."""
        return self.took[min(int(part * len(self.took)), len(self.took) - 1)] if self.took else 0.0


@dataclass(slots=True)
class _Slot:
    begins: int
    sizes: Sizes
    recalls: int = 0
    took: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST))


class Pace:
    """Minutes in which something was asked, the oldest first. Every call is safe from any thread."""

    def __init__(self, clock: Callable[[], int], sizes: Callable[[], Sizes]) -> None:
        self._clock = clock
        self._sizes = sizes
        self._slots: deque[_Slot] = deque(maxlen=_HOURS * 60)
        self._turnstile = threading.Lock()

    def recalled(self, seconds: float) -> None:
        """A recall took so long."""
        slot = self._slot()
        with self._turnstile:
            slot.recalls += 1
            slot.took.append(seconds)

    def minutes(self) -> list[Minute]:
        self._slot()
        with self._turnstile:
            return [
                Minute(one.begins, one.sizes, one.recalls, tuple(sorted(one.took)))
                for one in self._slots
            ]

    def _slot(self) -> _Slot:
        begins = self._clock() // _MINUTE * _MINUTE
        with self._turnstile:
            if self._slots and self._slots[-1].begins == begins:
                return self._slots[-1]
        sizes = self._sizes()  # not under the lock: it looks at files
        with self._turnstile:
            if not self._slots or self._slots[-1].begins != begins:
                self._slots.append(_Slot(begins, sizes))
            return self._slots[-1]
