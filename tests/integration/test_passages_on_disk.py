"""Passages on disk: the best one of each memory, apart from its topics and its context."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.core import dispatch
from iai_mcp.engine.vectors import Passages, Vectors
from iai_mcp.store import MemoryStore

CUE = np.array([1.0, 0.0, 0.0, 0.0], np.float32)


def _at(cosine: float) -> np.ndarray:
    return np.array([cosine, np.sqrt(1 - cosine**2), 0.0, 0.0], np.float32)


@pytest.fixture
def vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vectors]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    store = MemoryStore()
    for number in range(4):
        dispatch(store, "memory_capture", {"text": f"turn {number}", "session_id": "s"})
    yield Vectors(SqliteVectors(store.database, "model", 4), 4)
    store.close()


def _put(vectors: Vectors, key: int, *cosines: float, topics: int, context: bool) -> None:
    rows = np.stack([_at(cosine) for cosine in cosines])
    vectors.put([], np.zeros((0, 4), np.float32), [Passages(key, topics, context, rows)])


def test_neither_topics_nor_context_pass_for_a_passage(vectors: Vectors) -> None:
    _put(vectors, 1, 0.9, 0.2, 0.4, 0.8, topics=1, context=True)
    _put(vectors, 3, 0.3, 0.1, topics=0, context=False)

    (passage,) = vectors.best_passages(CUE[None], np.array([1, 2, 3]))

    assert passage == pytest.approx([0.4, np.nan, 0.3], abs=0.01, nan_ok=True)


def test_a_memory_with_nothing_but_topics_and_context_has_no_passage(
    vectors: Vectors,
) -> None:
    _put(vectors, 1, 0.9, 0.7, topics=1, context=True)
    _put(vectors, 2, 0.5, topics=0, context=False)

    (passage,) = vectors.best_passages(CUE[None], np.array([1, 2]))

    assert passage == pytest.approx([np.nan, 0.5], abs=0.01, nan_ok=True)


def test_wishes_are_found_by_their_topics_within_some_keys(vectors: Vectors) -> None:
    _put(vectors, 1, 0.9, topics=1, context=False)
    _put(vectors, 2, 0.8, 0.6, topics=2, context=False)

    found = vectors.wishes_about(CUE, 5, np.array([2]))

    assert found == pytest.approx({2: 0.8}, abs=0.01)


def test_cosines_of_memories_without_a_vector_are_unknown(vectors: Vectors) -> None:
    vectors.put([2], _at(0.6)[None, :])

    cosines = vectors.cosines(CUE, np.array([1, 2, 9]))

    assert cosines == pytest.approx([np.nan, 0.6, np.nan], abs=0.01, nan_ok=True)
