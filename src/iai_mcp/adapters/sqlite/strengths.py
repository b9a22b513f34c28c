"""`Strengths` in the encrypted file."""

import json
from collections.abc import Sequence

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.ports.learned import Standing, Trace, Use, Used


class SqliteStrengths:
    def __init__(self, database: Database) -> None:
        self._db = database

    def note(self, uses: Sequence[Use]) -> None:
        with self._db.writing() as db:
            for use in uses:
                db.execute(
                    "INSERT INTO uses (key, at, weight) SELECT key, ?, ? FROM memories WHERE key = ?",
                    (use.at, use.weight, use.key),
                )
                db.execute("UPDATE strengths SET strength = 1.0 WHERE key = ?", (use.key,))

    def of(self, keys: Sequence[int]) -> dict[int, float]:
        # One statement for any number of keys: it is prepared once.
        sql = "SELECT key, strength FROM strengths WHERE key IN (SELECT value FROM json_each(?))"
        with self._db.reading() as db:
            return dict(db.execute(sql, (json.dumps(list(keys)),)))

    def used(self, limit: int) -> list[Used]:
        sql = (
            "SELECT u.key, m.at, s.stability, s.difficulty, s.used_at, u.id, u.at, u.weight "
            "FROM uses AS u JOIN memories AS m USING (key) LEFT JOIN strengths AS s USING (key) "
            "WHERE u.key IN (SELECT DISTINCT key FROM uses ORDER BY key LIMIT ?) "
            "ORDER BY u.key, u.at, u.id"
        )
        found: dict[int, Used] = {}
        with self._db.reading() as db:
            for key, said, stability, difficulty, used_at, number, at, weight in db.execute(
                sql, (limit,)
            ):
                known = found.get(key) or Used(
                    key, said, _trace(stability, difficulty, used_at), ()
                )
                uses = (*known.uses, (number, Use(key, at, weight)))
                found[key] = Used(key, said, known.trace, uses)
        return list(found.values())

    def standing(self, after: int, limit: int) -> list[Standing]:
        sql = (
            "SELECT m.key, m.at, m.pinned, s.stability, s.difficulty, s.used_at, s.strength "
            "FROM memories AS m LEFT JOIN strengths AS s USING (key) "
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [
                Standing(key, at, bool(pinned), _trace(stability, difficulty, used_at), strength)
                for key, at, pinned, stability, difficulty, used_at, strength in db.execute(
                    sql, (after, limit)
                )
            ]


def _trace(stability: float | None, difficulty: float | None, used_at: int | None) -> Trace | None:
    if stability is None or difficulty is None or used_at is None:
        return None
    return Trace(stability, difficulty, used_at)
