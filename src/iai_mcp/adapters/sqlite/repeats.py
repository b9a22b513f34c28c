"""`Repeats` in the encrypted file."""

from collections.abc import Sequence

from iai_mcp.adapters.sqlite import rows
from iai_mcp.adapters.sqlite.database import Database, scalar
from iai_mcp.ports.learned import Known, Said


class SqliteRepeats:
    def __init__(self, database: Database) -> None:
        self._db = database

    def unfolded(self, after: int, limit: int) -> list[Said]:
        sql = (
            f"SELECT m.key, coalesce(p.key, ''), m.role, m.text FROM {rows.SOURCE} "
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [Said(*row) for row in db.execute(sql, (after, limit))]

    def with_digest(self, digest: int) -> Known | None:
        sql = (
            "SELECT f.key, f.fold FROM folds AS f JOIN memories AS m USING (key) "
            "WHERE f.digest = ? AND m.valid_to IS NULL ORDER BY f.key LIMIT 1"
        )
        with self._db.reading() as db:
            row = db.execute(sql, (digest,)).fetchone()
        return None if row is None else Known(row[0], row[1], "")

    def with_bands(self, bands: Sequence[int], limit: int) -> list[Known]:
        marks = ", ".join("?" * len(bands))
        sql = (
            "SELECT m.key, f.fold, m.text FROM memories AS m JOIN folds AS f USING (key) "
            f"WHERE m.key IN (SELECT key FROM fold_bands WHERE band IN ({marks})) "
            "AND m.valid_to IS NULL ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [Known(*row) for row in db.execute(sql, (*bands, limit))] if bands else []

    def folds_of(self, keys: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        with self._db.reading() as db:
            for start in range(0, len(keys), 500):
                part = keys[start : start + 500]
                marks = ", ".join("?" * len(part))
                sql = f"SELECT key, fold FROM folds WHERE fold IS NOT NULL AND key IN ({marks})"
                found |= dict(db.execute(sql, tuple(part)))
        return found

    def members(self, fold: int, limit: int) -> tuple[int, list[str]]:
        with self._db.reading() as db:
            number = scalar(db, "SELECT count(*) FROM folds WHERE fold = ?", (fold,))
            sql = "SELECT m.id FROM folds JOIN memories AS m USING (key) WHERE fold = ? ORDER BY m.at DESC, m.key DESC LIMIT ?"
            ids = [rows.public_id(row[0]) for row in db.execute(sql, (fold, limit))]
        assert isinstance(number, int)  # noqa: S101 - count(*) is a number
        return number, ids
