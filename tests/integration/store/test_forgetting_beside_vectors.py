"""What is forgotten while vectors are made or read leaves none of them behind in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw
import numpy as np

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

ROWS = np.eye(2, 4, dtype=np.float32)


class Meanwhile(Database):
    """A database beside which something else happens, once, between two of its uses."""

    def __init__(self, true: Database) -> None:
        self.__dict__ = true.__dict__
        self.after_writing: list[Callable[[], None]] = []
        self.after_reading: list[Callable[[], None]] = []

    @contextmanager
    def writing(self, *, repeatable: bool = False) -> Iterator[apsw.Connection]:
        with super().writing(repeatable=repeatable) as db:
            yield db
        while self.after_writing:
            self.after_writing.pop()()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        with super().reading() as db:
            yield db
        while self.after_reading:
            self.after_reading.pop()()


def two_turns(store: MemoryStore) -> None:
    for text in ("the first", "the second"):
        dispatch(store, "memory_capture", {"text": text, "session_id": "s"})


def test_a_memory_forgotten_while_its_vector_is_put_leaves_none(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    two_turns(store)
    beside = Meanwhile(store.database)
    vectors = SqliteVectors(beside, "model", 4)
    vectors.load()

    def forget() -> None:
        store.memories.forget([1], 1)
        vectors.drop([1])

    beside.after_writing.append(forget)
    vectors.put([1, 2], ROWS)

    assert [key for key, _ in vectors.nearest(ROWS[0], 5)] == [2]


def test_a_memory_forgotten_while_the_vectors_are_read_leaves_none(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    two_turns(store)
    SqliteVectors(store.database, "model", 4).put([1, 2], ROWS)
    beside = Meanwhile(store.database)
    vectors = SqliteVectors(beside, "model", 4)

    def forget() -> None:
        store.memories.forget([1], 1)
        vectors.drop([1])

    beside.after_reading.append(forget)
    vectors.load()

    assert [key for key, _ in vectors.nearest(ROWS[0], 5)] == [2]
