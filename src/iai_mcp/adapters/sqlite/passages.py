"""Vectors of the passages of each memory, on disk; of standing wishes' topics, in memory too.

A turn has up to a dozen passages: kept in memory they would weigh more than everything else.
They are read only for the few candidates that a recall looks at closely.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.engine.vector_index import Keys, VectorIndex, quantise
from iai_mcp.ports.vectors import Matrix, Passages

_TOPICS_EACH = 16  # topics are kept under key * this + their place
_PAGE = 2_000


class SqlitePassages:
    """The passages of one model's space."""

    def __init__(self, database: Database, space: int, dimensions: int) -> None:
        self._db = database
        self._space = space
        self._dimensions = dimensions
        self._topics = VectorIndex(dimensions)

    def load(self) -> None:
        """Bring the topics of standing wishes into memory."""
        sql = (
            "SELECT key, topics, context, scales, codes FROM passages "
            "WHERE topics > 0 AND space = ? AND key > ? ORDER BY key LIMIT ?"
        )
        after = 0
        while True:
            with self._db.reading() as db:
                page = [_row(row) for row in db.execute(sql, (self._space, after, _PAGE))]
            if not page:
                return
            for row in page:
                self._remember(row.key, row.topics, row.scales, row.codes)
            after = page[-1].key

    def put(self, found: Sequence[Passages]) -> None:
        """Keep them; a memory that was forgotten is passed over."""
        sql = (
            "INSERT OR REPLACE INTO passages SELECT key, ?, ?, ?, ?, ? FROM memories WHERE key = ?"
        )
        with self._db.writing(repeatable=True) as db:
            for one in found:
                codes, scales = quantise(np.asarray(one.vectors, dtype=np.float32))
                packed = scales.tobytes(), codes.tobytes()
                db.execute(sql, (self._space, one.topics, int(one.context), *packed, one.key))
                if one.topics and db.changes():
                    self._remember(one.key, one.topics, *packed)

    def drop(self, keys: Sequence[int]) -> None:
        self._topics.drop([slot for key in keys for slot in _slots(key)])

    def wishes_about(
        self, vector: Matrix, limit: int, within: Keys | None = None
    ) -> dict[int, float]:
        """Memories whose standing wishes are about the cue, with the best cosine of each."""
        slots = None
        if within is not None:
            slots = (within[:, None] * _TOPICS_EACH + np.arange(_TOPICS_EACH)).reshape(-1)
        best: dict[int, float] = {}
        for slot, cosine in self._topics.nearest(vector, limit, slots):
            best.setdefault(slot // _TOPICS_EACH, cosine)
        return best

    def best(self, vector: Matrix, keys: Keys) -> tuple[Matrix, Matrix]:
        """The cosines of each memory's best passage and of its context; NaN where it has none.

        The keys come in ascending order.
        """
        passage = np.full(len(keys), np.nan, np.float32)
        context = np.full(len(keys), np.nan, np.float32)
        wanted = keys.tolist()
        sql = (
            "SELECT key, topics, context, scales, codes FROM passages "
            f"WHERE space = ? AND key IN ({', '.join('?' * len(wanted))})"
        )
        with self._db.reading() as db:
            rows: list[tuple[int, int, int, bytes, bytes]] = db.execute(
                sql, (self._space, *wanted)
            ).fetchall()  # type: ignore[assignment] # the schema says so
        if not rows:
            return passage, context
        scales = np.frombuffer(b"".join([row[3] for row in rows]), np.float32)
        codes = np.frombuffer(b"".join([row[4] for row in rows]), np.int8)
        query = np.ascontiguousarray(vector, dtype=np.float32).reshape(-1)
        cosines = (codes.reshape(-1, self._dimensions).astype(np.float32) @ query) * scales
        found, topics, contexts, each, _ = zip(*rows, strict=True)
        ends = np.cumsum([len(own) // scales.itemsize for own in each])
        starts = np.concatenate([[0], ends[:-1]])
        places = np.searchsorted(keys, found)
        whole = np.flatnonzero(contexts)
        context[places[whole]] = cosines[ends[whole] - 1]
        cosines[ends[whole] - 1] = np.nan
        for one in np.flatnonzero(topics):
            cosines[starts[one] : starts[one] + topics[one]] = np.nan
        passage[places] = np.fmax.reduceat(cosines, starts)
        return passage, context

    def _remember(self, key: int, topics: int, scales: bytes, codes: bytes) -> None:
        kept = min(topics, _TOPICS_EACH)
        self._topics.add(
            list(_slots(key))[:kept],
            np.frombuffer(codes, np.int8).reshape(-1, self._dimensions)[:kept],
            np.frombuffer(scales, np.float32)[:kept],
        )


@dataclass(frozen=True, slots=True)
class _Row:
    key: int
    topics: int
    context: int
    scales: bytes
    codes: bytes


def _row(raw: Sequence[object]) -> _Row:
    key, topics, context, scales, codes = raw
    assert isinstance(key, int) and isinstance(topics, int) and isinstance(context, int)  # noqa: S101 - the schema says so
    assert isinstance(scales, bytes) and isinstance(codes, bytes)  # noqa: S101 - the schema says so
    return _Row(key, topics, context, scales, codes)


def _slots(key: int) -> range:
    return range(key * _TOPICS_EACH, (key + 1) * _TOPICS_EACH)
