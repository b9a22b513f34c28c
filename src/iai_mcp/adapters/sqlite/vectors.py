"""`VectorLog` in the encrypted file."""

from collections.abc import Collection, Sequence

import apsw

from iai_mcp.adapters.sqlite import packing
from iai_mcp.adapters.sqlite.database import Database, scalar
from iai_mcp.adapters.sqlite.told_vectors import CURRENT
from iai_mcp.ports.vectors import Coded, CodedPage, CodedParts

_PARTS = "SELECT key, topics, context, scales, codes FROM passages WHERE space = ?"


class SqliteVectors:
    """The vectors of one model. Another model's are left aside and replaced in the background."""

    def __init__(self, database: Database, model: str, dimensions: int) -> None:
        self._db = database
        self._space = self._enter_space(model, dimensions)

    def put(
        self,
        turns: Sequence[Coded],
        parts: Sequence[CodedParts] = (),
        unfinished: Collection[int] = (),
    ) -> list[int]:
        kept: dict[int, None] = {}
        # What power loss takes back is on the backlog again.
        with self._db.writing(repeatable=True) as db:
            for key, topics, context, scales, codes in parts:
                db.execute(
                    "INSERT OR REPLACE INTO passages "
                    "SELECT key, ?, ?, ?, ?, ? FROM memories WHERE key = ?",
                    (self._space, topics, int(context), scales, codes, key),
                )
                if db.changes():
                    kept[key] = None
            for key, scale, code in turns:
                db.execute(
                    "INSERT OR REPLACE INTO vectors SELECT key, ?, ?, ? FROM memories WHERE key = ?",
                    (self._space, scale, code, key),
                )
                if db.changes():
                    kept[key] = None
                if key not in unfinished:
                    db.execute("DELETE FROM pending_vectors WHERE key = ?", (key,))
        return list(kept)

    def page(self, after: int, limit: int) -> CodedPage:
        with self._db.reading() as db:
            return packing.vectors_behind(db, self._space, after, limit)

    def parts(self, keys: Sequence[int]) -> list[CodedParts]:
        marks = ", ".join("?" * len(keys))
        with self._db.reading() as db:
            return _parts(db, f"{_PARTS} AND key IN ({marks})", (self._space, *keys))

    def with_topics(self, after: int, limit: int) -> list[CodedParts]:
        sql = f"{_PARTS} AND topics > 0 AND key > ? ORDER BY key LIMIT ?"
        with self._db.reading() as db:
            return _parts(db, sql, (self._space, after, limit))

    def _enter_space(self, model: str, dimensions: int) -> int:
        """The id of this model's space; vectors of another one become pending again."""
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO spaces (model, dimensions) VALUES (?, ?)",
                (model, dimensions),
            )
            space = scalar(db, "SELECT id FROM spaces WHERE model = ?", (model,))
            assert isinstance(space, int)  # noqa: S101 - a primary key
            before = db.execute("SELECT value FROM meta WHERE name = ?", (CURRENT,)).fetchone()
            if before != (space,):  # else this was done when it became the model
                db.execute(
                    "INSERT OR IGNORE INTO pending_vectors SELECT key FROM vectors WHERE space <> ?",
                    (space,),
                )
                # Those that come with the memories of other machines are of this space, or not kept.
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (CURRENT, space))
        return space


def _parts(db: apsw.Connection, sql: str, values: tuple[int, ...]) -> list[CodedParts]:
    return [CodedParts(*row) for row in db.execute(sql, values)]
