"""What is forgotten while vectors are made or read leaves none of them behind in memory."""

import threading
from collections.abc import Callable, Collection, Sequence

import numpy as np

from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.core import dispatch
from iai_mcp.engine.vectors import Vectors
from iai_mcp.ports.vectors import Coded, CodedPage, CodedParts
from iai_mcp.store import MemoryStore

ROWS = np.eye(2, 4, dtype=np.float32)


class Meanwhile(SqliteVectors):
    """Beside it something else happens, once, as soon as something was written or read."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store.database, "model", 4)
        self._store = store
        self.vectors = Vectors(self, 4)
        self.forgetting: threading.Thread | None = None

    def put(
        self,
        turns: Sequence[Coded],
        parts: Sequence[CodedParts] = (),
        unfinished: Collection[int] = (),
    ) -> list[int]:
        kept = super().put(turns, parts, unfinished)
        self._forget_the_first()
        return kept

    def page(self, after: int, limit: int) -> CodedPage:
        found = super().page(after, limit)
        self._forget_the_first()
        return found

    def _forget_the_first(self) -> None:
        if self.forgetting is None:
            gone = threading.Event()

            def forget() -> None:
                self._store.memories.forget([1], 1)
                gone.set()
                self.vectors.drop([1])

            self.forgetting = threading.Thread(target=forget)
            self.forgetting.start()
            assert gone.wait(10)


def two_turns(store: MemoryStore) -> None:
    for text in ("the first", "the second"):
        dispatch(store, "memory_capture", {"text": text, "session_id": "s"})


def left(beside: Meanwhile) -> list[int]:
    assert beside.forgetting is not None
    beside.forgetting.join(10)
    return [key for key, _ in beside.vectors.nearest(ROWS[0], 5)]


def test_a_memory_forgotten_while_its_vector_is_put_leaves_none(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    two_turns(store)
    beside = Meanwhile(store)
    beside.vectors.put([1, 2], ROWS)

    assert left(beside) == [2]


def test_a_memory_forgotten_while_the_vectors_are_read_leaves_none(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    two_turns(store)
    Vectors(SqliteVectors(store.database, "model", 4), 4).put([1, 2], ROWS)
    beside = Meanwhile(store)
    beside.vectors.load()

    assert left(beside) == [2]
