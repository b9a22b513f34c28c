"""Looking at places that may never answer: a network mount, say, whose server has gone.

Whoever waits for such a place can not be called back. So threads of our own look, never those
that serve calls, and a look is waited for only so long. A place that did not answer is not asked
again before it does: it costs those who name it, and nobody else.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from iai_mcp.domain.errors import PlaceSilent

_PATIENCE_SECONDS = 2.0  # a look takes microseconds: this is for disks that have to wake up
_THREADS = 128
_AT_ONE_PLACE = 2

_T = TypeVar("_T")


class Looks:
    """Threads that look. They are few while every place answers."""

    def __init__(self, patience: float = _PATIENCE_SECONDS, threads: int = _THREADS) -> None:
        self._patience = patience
        self._most = threads
        self._changed = threading.Condition()
        self._started = 0
        self._idle: list[SimpleQueue[_Look]] = []
        self._under_way: Counter[str] = Counter()
        self._silent: Counter[str] = Counter()

    def __call__(self, place: str, look: Callable[[], _T]) -> _T:
        """What `look` gives, which looks at `place` and perhaps at others from there.

        Raises:
            PlaceSilent: it takes too long.
        """
        found: list[_T] = []
        taken = _Look(place, lambda: found.append(look()))
        self._begin(taken)
        if not taken.done.wait(self._patience) and self._gave_up(taken):
            raise _silent(place)
        if taken.error is not None:
            raise taken.error
        return found[0]

    def _begin(self, look: "_Look") -> None:
        ends_at = time.monotonic() + self._patience
        with self._changed:
            while self._under_way[look.place] >= _AT_ONE_PLACE:
                left = ends_at - time.monotonic()
                if self._silent[look.place] or left <= 0:
                    raise _silent(look.place)
                self._changed.wait(left)
            if self._silent[look.place] or not (self._idle or self._started < self._most):
                raise _silent(look.place)
            self._under_way[look.place] += 1
            waiting = self._idle.pop() if self._idle else self._start()
        waiting.put(look)

    def _start(self) -> "SimpleQueue[_Look]":
        looks: SimpleQueue[_Look] = SimpleQueue()
        # Nobody waits for it at the end: it may never come back.
        threading.Thread(target=self._work, args=(looks,), name="look", daemon=True).start()
        self._started += 1
        return looks

    def _work(self, looks: "SimpleQueue[_Look]") -> None:
        while True:
            look = looks.get()
            look.take()
            with self._changed:
                look.done.set()
                self._idle.append(looks)
                self._under_way -= Counter((look.place,))
                if look.given_up:
                    self._silent -= Counter((look.place,))
                self._changed.notify_all()

    def _gave_up(self, look: "_Look") -> bool:
        """Whether it is still under way; from now on its place is not asked again."""
        with self._changed:
            if look.done.is_set():
                return False
            look.given_up = True
            self._silent[look.place] += 1
            self._changed.notify_all()
            return True


class _Look:
    __slots__ = ("_look", "done", "error", "given_up", "place")

    def __init__(self, place: str, look: Callable[[], object]) -> None:
        self.place = place
        self.done = threading.Event()
        self.error: Exception | None = None
        self.given_up = False
        self._look = look

    def take(self) -> None:
        try:
            self._look()
        except Exception as failed:  # noqa: BLE001 - it is raised where it was asked for
            self.error = failed


def _silent(place: str) -> PlaceSilent:
    return PlaceSilent(
        f"{place[:200]} does not answer: if it is a mount whose server has gone, bring it back, "
        "or unmount it"
    )


# For the whole process: so are the threads that it has.
look_at = Looks()
