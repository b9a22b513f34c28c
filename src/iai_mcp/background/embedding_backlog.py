"""Background task: updates memories after they were stored: traits, repetitions, columns, vectors."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from iai_mcp.background.embedding_model import Model
from iai_mcp.background.workers import Worker
from iai_mcp.engine.columns import Columns
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog, Left
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.memories import Memories

_RENEWED_AT_ONCE = 200
_MENDED_AT_ONCE = 200
_MEANWHILE = 2  # memories at a time while calls never cease: each takes a core for a moment
_FIRSTS = 4  # memories that get a first vector while one gets its passages
_SMOOTH = 0.1  # how much the last page counts in the estimate of the rest


class ModelBacklog:
    """The backlog of one model, with those who work on it and how fast they are."""

    def __init__(
        self,
        memories: Memories,
        embedder: Embedder,
        vectors: Vectors,
        spare: Callable[[int], int],
    ) -> None:
        self.vectors = vectors
        self.crew = EmbeddingThreads(embedder, spare)
        self.backlog = EmbedBacklog(memories, self.crew, vectors)
        self._paces: dict[bool, float] = {}  # seconds for a memory: its first vector, or the rest

    def page(self, limit: int, *, alone: bool) -> int:
        if alone:
            self.crew.hands = 1
        else:
            limit *= self.crew.look_around()
        first = self.backlog.lacking > 0
        began = time.monotonic()
        done = self.backlog(limit * _FIRSTS if first else limit)
        if done:
            pace = (time.monotonic() - began) / done
            self._paces[first] = pace * _SMOOTH + self._paces.get(first, pace) * (1 - _SMOOTH)
        return done

    def seconds(self, left: Left) -> float | None:
        """About how long until all have a first vector, or else their passages."""
        first = left.first > 0
        pace = self._paces.get(first)
        return None if pace is None else pace * (left.first if first else left.passages)


class Backlog(Worker):
    """Gives vectors to memories, a page at a time, whenever there are any."""

    def __init__(
        self,
        memories: Memories,
        columns: Columns,
        model: Model,
        worked: Callable[[], bool],
        *,
        page: int,
        spare: Callable[[int], int],
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
        done: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__("embed", failed)
        self._done = done  # called when nothing is left
        self._memories = memories
        self._columns = columns
        self._model = model
        self._worked = worked
        self._page = page
        self._spare = spare
        self._calm = calm
        self._lock = threading.Lock()
        self._making: ModelBacklog | None = None
        model.ready = self.wake

    def work(self) -> None:
        limit = 0
        while not self.stopping and self.page(limit):
            limit = 0 if self._calm() else _MEANWHILE
        if not self.stopping:
            self._done()

    def page(self, limit: int = 0) -> int:
        """Embed a few; how many there were. One caller at a time: two would embed the same ones."""
        with self._lock:
            self._columns.catch_up()  # else the next recall would have all of it to read
            renewed = self._memories.renew(_RENEWED_AT_ONCE)
            if renewed:
                self._columns.correct(renewed)
                return len(renewed)
            return self._mended() or self._embedded(limit)

    def left(self) -> dict[str, object]:
        """How many memories lack vectors, how many of them have none, and about how long it takes
        until all have one, or else all of theirs; None while nothing is known of that.
        """
        making = self._making
        if making is None:
            left, seconds = Left(self._memories.pending_count(), 0), None
        else:
            left = making.backlog.left
            seconds = making.seconds(left)
        return {
            "vectors_pending": left.first + left.passages,
            "first_vectors_pending": left.first,
            "vectors_seconds": None if seconds is None else round(seconds, 1),
        }

    def _mended(self) -> int:
        looked_at, gone = self._memories.mend(_MENDED_AT_ONCE)
        self._columns.drop(gone)
        self._model.drop(gone)
        return looked_at

    def _embedded(self, limit: int) -> int:
        embedder, vectors = self._model.embedder.get(), self._model.vectors
        if isinstance(embedder, str) or vectors is None:
            return 0
        if self._making is None:
            self._making = ModelBacklog(self._memories, embedder, vectors, self._spare)
        making = self._making
        making.backlog.look()
        if not making.backlog.lacking:
            self._model.behind = False
            learned = self._learned(vectors, embedder, limit or self._page)
            if learned:
                return learned
        return making.page(limit or self._page, alone=limit > 0)

    def _learned(self, vectors: Vectors, embedder: Embedder, memories: int) -> int:
        """Read the words of a few; how many memories there were at most.

        Single words are for sessions in which somebody worked: others are found without. They are few and
        short, so they come before passages.
        """
        if vectors.words is None or not self._worked():
            return 0
        return vectors.words.learn(embedder, memories)


# Characters in a share that one thread takes: some two hundred milliseconds, after which it gives back
# what it held, and few enough that all end at about the same time.
_SHARE = 4_096
# Beside anything else that wants the processor. Not lower: whoever has the interpreter while others get
# the processor keeps them all waiting.
_NICE = 10


class EmbeddingThreads:
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
