"""Bringing memories up to date beside the calls: traits, repetitions, rows in memory, vectors."""

import threading
from collections.abc import Callable

from iai_mcp.background.model import Model
from iai_mcp.background.threads import Worker
from iai_mcp.engine.columns import Columns
from iai_mcp.memory.embedding import EmbedBacklog
from iai_mcp.ports.memories import Memories

_RENEWED_AT_ONCE = 200
_MENDED_AT_ONCE = 200
_MEANWHILE = 2  # memories at a time while calls never cease: each takes a core for a moment


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
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
    ) -> None:
        super().__init__("embed", failed)
        self._memories = memories
        self._columns = columns
        self._model = model
        self._worked = worked
        self._page = page
        self._calm = calm
        self._turnstile = threading.Lock()
        model.ready = self.wake

    def work(self) -> None:
        limit = 0
        while not self.stopping and self.page(limit):
            limit = 0 if self._calm() else _MEANWHILE

    def page(self, limit: int = 0) -> int:
        """Embed a few; how many there were. One caller at a time: two would embed the same ones."""
        with self._turnstile:
            self._columns.catch_up()  # else the next recall would have all of it to read
            renewed = self._memories.renew(_RENEWED_AT_ONCE)
            if renewed:
                self._columns.correct(renewed)
                return len(renewed)
            return self._mended() or self._embedded(limit or self._page)

    def _mended(self) -> int:
        looked_at, gone = self._memories.mend(_MENDED_AT_ONCE)
        self._columns.drop(gone)
        self._model.drop(gone)
        return looked_at

    def _embedded(self, limit: int) -> int:
        embedder, vectors = self._model.embedder.get(), self._model.vectors
        if isinstance(embedder, str) or vectors is None:
            return 0
        done = EmbedBacklog(self._memories, embedder, vectors)(limit)
        if done:
            return done
        self._model.behind = False
        # Single words are for sessions in which somebody worked: others are found without.
        words = vectors.words
        return words.learn(embedder, limit) if words is not None and self._worked() else 0
