"""What plain search makes of the same turns within the same bytes: BM25, cosine, rank fusion."""

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.quality.baselines import Baselines
from bench.quality.datasets import Question, Said
from bench.scratch import Scratch
from iai_mcp.ports.embedder import Embedder, Matrix

_AROUND, _HIT = 160, 290  # bytes of an answer, and of a hit, besides the text
_PIECE, _LEAST = 680, 120  # bytes of text in a hit: what a short one leaves goes to further hits
_SHORT = 3  # letters: words that tell nothing


class Rivals(Baselines):
    """The turns of one store. The cosine is that of a turn's best passage, as the store made them."""

    def __init__(self, home: Scratch, embedder: Embedder) -> None:
        wanted = ("IAI_", "HOME", "PYTHON_K")
        os.environ.update({k: v for k, v in home.environment.items() if k.startswith(wanted)})
        from iai_mcp.adapters.sqlite.vectors import SqliteVectors
        from iai_mcp.engine.vectors import Vectors
        from iai_mcp.store import MemoryStore

        store = MemoryStore(Path(home.environment["IAI_MCP_STORE"]))
        self._store = store
        log = SqliteVectors(store.database, embedder.model_id, embedder.dimensions)
        self._kept = Vectors(log, embedder.dimensions)
        self._kept.load()
        said = store.memories.after(0, store.memories.count())
        self._keys = np.array([memory.key for memory in said], np.int64)
        self._texts = {str(memory.key): memory.text for memory in said}
        turns = [Said(str(m.key), m.provenance.session_id, m.role, m.text) for m in said]
        super().__init__(turns, np.zeros((len(turns), 0), np.float32), embedder)

    def close(self) -> None:
        self._store.close()

    def answers(self, wordings: Sequence[str], size: int) -> dict[str, list[str]]:
        """By system: the pieces of turns it would answer with, in so many bytes."""
        cue = "\n".join(" ".join(wording.split()) for wording in wordings)
        asked = Question("", cue, frozenset(), "", "", "")
        return {
            system: self._within(size, cue, order) for system, order in self.orders(asked).items()
        }

    def _within(self, size: int, cue: str, order: Sequence[str]) -> list[str]:
        left, shown = size - _AROUND, list[str]()
        for key in order:
            room = min(_PIECE, left - _HIT)
            if room < _LEAST:
                break
            shown.append(piece(self._texts[key], cue, room))
            left -= _HIT + size_of(shown[-1])
        return shown

    def _cosine(self, cue: str) -> list[int]:
        """By the mean over the wordings, which are the lines of `cue`."""
        vectors: Matrix = self._embedder.embed(cue.splitlines())
        passage = self._kept.best_passages(vectors, self._keys)
        best = np.nan_to_num(np.fmax(self._kept.cosines(vectors, self._keys), passage)).mean(axis=0)
        return [int(row) for row in np.argsort(-best, kind="stable")[:400]]


def piece(text: str, cue: str, room: int) -> str:
    """The stretch of `text` with most of the cue's words, in so many bytes of JSON."""
    words = {word for word in re.findall(r"\w+", cue.lower()) if len(word) > _SHORT}
    starts = [0, *(m.end() for m in re.finditer(r"\n+|[.!?] ", text))]
    best = max(starts, key=lambda start: (_held(text[start : start + room], words), -start))
    shown = text[best : best + room]
    while shown and size_of(shown) > room:
        shown = shown[:-8]
    return shown


def size_of(text: str) -> int:
    """Bytes of JSON, without the quotes around it."""
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def _held(text: str, words: set[str]) -> int:
    return len(words & set(re.findall(r"\w+", text.lower())))
