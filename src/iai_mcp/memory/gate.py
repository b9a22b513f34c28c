"""A few at a time, in the order they came."""

import threading
from collections import deque


class Gate:
    """At most so many inside; whoever waits longest is next.

    A semaphore lets whoever asks at the right moment pass those who wait: under load some callers
    would wait for many answers and others for none.
    """

    def __init__(self, at_once: int) -> None:
        self._lock = threading.Lock()
        self._free = at_once
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        gate.acquire()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
