"""Many who ask the same at the same moment are answered by one ranking."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Made = TypeVar("Made")


@dataclass(slots=True)
class _Running(Generic[Made]):
    then: int  # what had been written when it began
    done: threading.Event = field(default_factory=threading.Event)
    made: Made | None = None  # None when it failed: each then sees for itself


class SameQuestions(Generic[Made]):
    """Whoever asks what is being answered waits for that answer, unless something was written since it
    began: who stored something and asks finds it. Every call is safe from any thread.
    """

    def __init__(self, written: Callable[[], int]) -> None:
        """`written` is another number after everything that was written."""
        self._written = written
        self._lock = threading.Lock()
        self._running: dict[Hashable, _Running[Made]] = {}

    def answer(self, asked: Hashable, make: Callable[[], Made]) -> Made:
        with self._lock:
            now = self._written()
            running = self._running.get(asked)
            if running is None or running.then != now:
                own = self._running[asked] = _Running(now)
                running = None
        if running is None:
            return self._made(asked, own, make)
        running.done.wait()
        return make() if running.made is None else running.made

    def _made(self, asked: Hashable, own: "_Running[Made]", make: Callable[[], Made]) -> Made:
        try:
            own.made = made = make()
            return made
        finally:
            with self._lock:
                if self._running.get(asked) is own:
                    del self._running[asked]
            own.done.set()
