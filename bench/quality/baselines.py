"""What every memory should beat: BM25, cosine and their reciprocal rank fusion.

On the same turns and, for the cosine, on the very vectors that the store made.
"""

import re
from collections.abc import Sequence

import apsw
import numpy as np

from bench.quality.datasets import Question, Said
from iai_mcp.ports.embedder import Embedder, Matrix

_FUSION = 60
_DEPTH = 400


class Baselines:
    """The turns of one project. Orders are lists of turn ids (or session ids), best first."""

    def __init__(self, turns: Sequence[Said], vectors: Matrix, embedder: Embedder) -> None:
        self._turns = turns
        self._vectors = vectors
        self._embedder = embedder
        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, tokenize = 'porter unicode61')")
        with self._db:
            self._db.executemany(
                "INSERT INTO t (rowid, body) VALUES (?, ?)",
                ((n, f"{turn.speaker} {turn.text}") for n, turn in enumerate(turns)),
            )

    def orders(self, asked: Question) -> dict[str, list[str]]:
        words, meaning = self._bm25(asked.cue), self._cosine(asked.cue)
        fused: dict[int, float] = {}
        for leg in (words, meaning):
            for place, row in enumerate(leg, 1):
                fused[row] = fused.get(row, 0.0) + 1 / (_FUSION + place)
        both = sorted(fused, key=lambda row: (-fused[row], row))
        return {
            "BM25": self._named(words, asked),
            "cosine": self._named(meaning, asked),
            "RRF": self._named(both, asked),
        }

    def _bm25(self, cue: str) -> list[int]:
        words = dict.fromkeys(re.findall(r"\w+", cue.lower()))
        query = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (query, _DEPTH))] if query else []

    def _cosine(self, cue: str) -> list[int]:
        cosines = self._vectors @ self._embedder.embed([cue])[0]
        return [int(row) for row in np.argsort(-cosines, kind="stable")[:_DEPTH]]

    def _named(self, rows: Sequence[int], asked: Question) -> list[str]:
        turns = (self._turns[row] for row in rows)
        return [turn.session if asked.by_session else turn.id for turn in turns]
