"""Stores that are filled before a daemon starts, through the real write path; large ones are kept."""

import shutil
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from bench.corpus import Corpus
from iai_mcp.domain.memories import NewTurn
from iai_mcp.ports.embedder import Embedder, Matrix

_EMBEDDED_AT_ONCE = 512
_UNTIL_EMBEDDED = 5_000  # turns: vectors follow soon after what was said, as they do in life
_TOLD_OF = 200_000  # memories: fewer are filled in a few minutes
_FINISHED = "finished"  # a store that was cut off in the middle has no such file


def fill(store: Path, count: int, corpus: Corpus, stores: Path | None = None) -> None:
    """Make `store` one of `count` memories with vectors; from `stores` if it was kept there."""
    if stores is None:
        _fill(store, count, corpus)
        _pack(store)
        return
    kept = stores / f"{count}"
    if not (kept / _FINISHED).exists():
        shutil.rmtree(kept, ignore_errors=True)
        _fill(kept / "store", count, corpus)
        (kept / _FINISHED).touch()
    shutil.copytree(kept / "store", store, dirs_exist_ok=True)
    _pack(store)


def _pack(directory: Path) -> None:
    """As a daemon does within minutes of what was said."""
    from iai_mcp.store import MemoryStore

    store = MemoryStore(directory)
    store.packing.pack_all()
    store.close()


def _fill(directory: Path, count: int, corpus: Corpus) -> None:
    from iai_mcp.adapters.embedding.runtime import load_configured
    from iai_mcp.adapters.sqlite.vectors import SqliteVectors
    from iai_mcp.engine.vectors import Vectors
    from iai_mcp.memory.embedding import EmbedBacklog
    from iai_mcp.store import MemoryStore

    directory.parent.mkdir(parents=True, exist_ok=True)
    store = MemoryStore(directory)
    real = load_configured()
    kept = SqliteVectors(store.database, real.model_id, real.dimensions)
    quick = QuickEmbedder(real, Corpus(1))
    backlog = EmbedBacklog(store.memories, quick, Vectors(kept, real.dimensions))
    turns = _turns(corpus, count)
    while said := list(islice(turns, _UNTIL_EMBEDDED)):
        began = time.perf_counter()
        store.capture(said)
        captured = time.perf_counter()
        while backlog(_EMBEDDED_AT_ONCE):
            continue
        if count >= _TOLD_OF:
            rates = len(said) / (captured - began), len(said) / (time.perf_counter() - captured)
            print(
                f"{store.memories.count():,} memories: {rates[0]:,.0f} captured and {rates[1]:,.0f} embedded a second",
                flush=True,
            )
    store.close()


def _turns(corpus: Corpus, count: int) -> Iterator[NewTurn]:
    from iai_mcp.protocol.turn_events import read_turn

    for session, event in corpus.turns(count):
        turn = read_turn(event, NewTurn(text="", session_id=session, project="bench"))
        assert turn is not None
        yield turn


class QuickEmbedder:
    """Vectors that lie in the real model's space, made in microseconds.

    Each is one of a thousand real sentence vectors, moved a little at random: near and far
    neighbours are distributed as the real model distributes them.
    """

    def __init__(self, real: Embedder, corpus: Corpus) -> None:
        self.model_id, self.dimensions = real.model_id, real.dimensions
        self._real = real
        self._random = np.random.default_rng(11)
        self._bases = real.embed([corpus.text() for _ in range(1000)])

    def embed(self, texts: Sequence[str]) -> Matrix:
        chosen = self._bases[self._random.integers(0, len(self._bases), len(texts))]
        moved = chosen + self._random.standard_normal(chosen.shape, np.float32) * np.float32(0.03)
        normal: Matrix = moved / np.linalg.norm(moved, axis=1, keepdims=True)
        return normal

    def count_tokens(self, text: str) -> int:
        return self._real.count_tokens(text)
