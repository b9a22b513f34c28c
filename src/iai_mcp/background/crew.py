"""Several threads that embed side by side, as many as the machine has to spare."""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from iai_mcp.ports.embedder import Embedder, Matrix

# Characters in a share that one thread takes: some two hundred milliseconds, after which it gives back
# what it held, and few enough that all end at about the same time.
_SHARE = 4_096
# Beside anything else that wants the processor. Not lower: whoever has the interpreter while others get
# the processor keeps them all waiting.
_NICE = 10


class Crew:
    """`embed` of an embedder, on as many threads as `spare` says; it is told how many are at work."""

    def __init__(self, embedder: Embedder, spare: Callable[[int], int]) -> None:
        self._embedder = embedder
        self._spare = spare
        self.hands = 1

    def look_around(self) -> int:
        """How many threads embed from now on."""
        self.hands = max(1, self._spare(self.hands))
        return self.hands

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Raises:
        What the embedder raised; the other threads stop after their share.
        """
        rows = np.empty((len(texts), self._embedder.dimensions), np.float32)
        waiting = list(_shares(texts, self.hands))
        shares = iter(waiting)
        failures: list[BaseException] = []
        lock = threading.Lock()

        def work() -> None:
            _step_back()
            while not failures:
                with lock:
                    share = next(shares, None)
                if share is None:
                    return
                try:
                    rows[share] = self._embedder.embed([texts[place] for place in share])
                except BaseException as failed:  # noqa: BLE001 - handed on to who asked
                    failures.append(failed)

        wanted = min(self.hands, len(waiting))
        threads = [threading.Thread(target=work, name="embed-hand") for _ in range(wanted)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return rows


def _shares(texts: Sequence[str], hands: int) -> Iterator[list[int]]:
    """The places of the texts, like lengths together, the longest first: short shares are left for
    the end, when somebody waits for the last of them.
    """
    most = min(_SHARE, sum(map(len, texts)) // (2 * hands) + 1)
    share: list[int] = []
    size = 0
    for place in sorted(range(len(texts)), key=lambda place: -len(texts[place])):
        share.append(place)
        size += len(texts[place])
        if size >= most:
            yield share
            share, size = [], 0
    if share:
        yield share


def _step_back() -> None:
    """Let others have the processor before this thread. Only Linux has threads of several ranks."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
