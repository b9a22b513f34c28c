"""People first: sleep works while nobody is being answered, and breaks off when somebody is."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iai_mcp.ports.sleep import Enough

# One interpreter thinks one thought at a time: a page that runs beside an answer takes from it. Longer
# than this nobody is waited for, so that sleep gets done under a load that never ends.
_PATIENCE = 0.25
# Vectors can wait a little longer: what lacks them is found by its words.
_LONG_PATIENCE, _CALM = 1.0, 0.03
# Whoever asked a moment ago may ask again at once: pages are short then.
_AROUND = 1.0
_PAGE, _SHORT_PAGE = 0.015, 0.004


class Courtesy:
    """Counts who is being answered right now. Every call is safe from any thread."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, patience: float = _PATIENCE
    ) -> None:
        self._clock = clock
        self._patience = patience
        self._changed = threading.Condition()
        self._answering = 0
        self._left = float("-inf")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Somebody is being answered for as long as this is entered."""
        with self._changed:
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._left = self._clock()
                if not self._answering:
                    self._changed.notify_all()

    def step_aside(self) -> bool:
        """Wait until nobody is being answered, but not for ever; whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._answering, self._patience)

    def wait_for_calm(self) -> bool:
        """Wait until nobody has been answered for a moment, but not for ever; whether that is so.

        Whoever sends one batch after another is between two of them only for a moment.
        """
        until = self._clock() + _LONG_PATIENCE
        with self._changed:
            while (now := self._clock()) < until:
                calm_at = float("inf") if self._answering else self._left + _CALM
                if now >= calm_at:
                    return True
                self._changed.wait(min(calm_at, until) - now)
        return False

    @contextmanager
    def page(self) -> "Iterator[Enough]":
        """One page of work. It asks what it is given, after each memory, whether that is enough."""
        began = self._clock()
        most = _SHORT_PAGE if began - self._left < _AROUND else _PAGE
        yield lambda: self._answering > 0 or self._clock() - began >= most
