"""`Vectors` kept in the encrypted file and searched in memory."""

from collections.abc import Sequence

import numpy as np

from iai_mcp.adapters.sqlite.database import Database, scalar
from iai_mcp.adapters.sqlite.passages import SqlitePassages
from iai_mcp.adapters.sqlite.word_vectors import SqliteWordVectors
from iai_mcp.adapters.vector_index import Keys, VectorIndex, quantise
from iai_mcp.ports.vectors import Matrix, Passages

_PAGE = 5_000


class SqliteVectors:
    """The vectors of one model. Another model's are left aside and replaced in the background."""

    def __init__(self, database: Database, model: str, dimensions: int) -> None:
        self.model = model
        self._db = database
        self._index = VectorIndex(dimensions)
        self._gone: set[int] | None = set()  # what is dropped while the index is still being read
        self._space = self._enter_space(model, dimensions)
        self.passages = SqlitePassages(database, self._space, dimensions)
        self.words = SqliteWordVectors(database, self._space, dimensions)

    def load(self) -> None:
        """Read all vectors of this space into the index."""
        after = 0
        while page := self._page(after):
            after = page[-1][0]
            codes = np.frombuffer(b"".join(row[2] for row in page), dtype=np.int8)
            self._index.add(
                [row[0] for row in page],
                codes.reshape(len(page), -1),
                np.array([row[1] for row in page], dtype=np.float32),
            )
        self.passages.load()
        self.words.load()
        gone, self._gone = self._gone or set(), None
        self.drop(list(gone))

    def put(self, keys: Sequence[int], vectors: Matrix) -> None:
        codes, scales = quantise(np.asarray(vectors, dtype=np.float32))
        kept: list[int] = []
        # What power loss takes back is on the backlog again.
        with self._db.writing(repeatable=True) as db:
            for i, key in enumerate(keys):
                db.execute(
                    "INSERT OR REPLACE INTO vectors SELECT key, ?, ?, ? FROM memories WHERE key = ?",
                    (self._space, float(scales[i]), codes[i].tobytes(), key),
                )
                if db.changes():
                    kept.append(i)
                db.execute("DELETE FROM pending_vectors WHERE key = ?", (key,))
            # Before anybody else may write: whoever forgets one of them drops it after this.
            self._index.add([keys[i] for i in kept], codes[kept], scales[kept])

    def put_passages(self, found: Sequence[Passages]) -> None:
        self.passages.put(found)

    def nearest(
        self,
        vector: Matrix,
        limit: int,
        within: Sequence[int] | Keys | None = None,
        *,
        alike: int | None = None,
    ) -> list[tuple[int, float]]:
        return self._index.nearest(vector, limit, within, alike=alike)

    def cosines(self, vector: Matrix, keys: Keys) -> Matrix:
        """The cosine of each of `keys`; NaN for one that has no vector."""
        return self._index.cosines(vector, keys)

    def like(self, key: int, limit: int) -> list[tuple[int, float]]:
        return self._index.like(key, limit)

    def drop(self, keys: Sequence[int]) -> None:
        gone = self._gone
        if gone is not None:
            gone.update(keys)
        self._index.drop(keys)
        self.passages.drop(keys)

    def __len__(self) -> int:
        return len(self._index)

    def _enter_space(self, model: str, dimensions: int) -> int:
        """The id of this model's space; vectors of another one become pending again."""
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO spaces (model, dimensions) VALUES (?, ?)",
                (model, dimensions),
            )
            space = scalar(db, "SELECT id FROM spaces WHERE model = ?", (model,))
            assert isinstance(space, int)  # noqa: S101 - a primary key
            db.execute(
                "INSERT OR IGNORE INTO pending_vectors SELECT key FROM vectors WHERE space <> ?",
                (space,),
            )
        return space

    def _page(self, after: int) -> list[tuple[int, float, bytes]]:
        sql = (
            "SELECT key, scale, code FROM vectors WHERE key > ? AND space = ? ORDER BY key LIMIT ?"
        )
        with self._db.reading() as db:
            rows: list[tuple[int, float, bytes]] = db.execute(
                sql, (after, self._space, _PAGE)
            ).fetchall()  # type: ignore[assignment] # the schema says so
            return rows
