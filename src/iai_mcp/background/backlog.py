"""Bringing memories up to date beside the calls: traits, repetitions, rows in memory, vectors."""

import threading
import time
from collections.abc import Callable

from iai_mcp.background.crew import Crew
from iai_mcp.background.model import Model
from iai_mcp.background.threads import Worker
from iai_mcp.engine.columns import Columns
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog, Left
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories

_RENEWED_AT_ONCE = 200
_MENDED_AT_ONCE = 200
_MEANWHILE = 2  # memories at a time while calls never cease: each takes a core for a moment
_FIRSTS = 4  # memories that get a first vector while one gets its passages
_SMOOTH = 0.1  # how much the last page counts in the estimate of the rest


class Making:
    """The backlog of one model, with those who work on it and how fast they are."""

    def __init__(
        self,
        memories: Memories,
        embedder: Embedder,
        vectors: Vectors,
        spare: Callable[[int], int],
    ) -> None:
        self.vectors = vectors
        self.crew = Crew(embedder, spare)
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
        self._page = page
        self._spare = spare
        self._calm = calm
        self._turnstile = threading.Lock()
        self._making: Making | None = None
        model.ready = self.wake

    def work(self) -> None:
        limit = 0
        while not self.stopping and self.page(limit):
            limit = 0 if self._calm() else _MEANWHILE
        if not self.stopping:
            self._done()

    def page(self, limit: int = 0) -> int:
        """Embed a few; how many there were. One caller at a time: two would embed the same ones."""
        with self._turnstile:
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
            self._making = Making(self._memories, embedder, vectors, self._spare)
        making = self._making
        making.backlog.look()
        if not making.backlog.lacking:
            self._model.behind = False
        return making.page(limit or self._page, alone=limit > 0)
