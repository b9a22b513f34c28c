"""`Habits` in the encrypted file."""

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.ports.learned import Evidence, Seen

_UNIT = "\x1f"  # between the terms of an observation; a command has spaces of its own


class SqliteHabits:
    def __init__(self, database: Database) -> None:
        self._db = database

    def seen(self, kind: str, term: str, limit: int) -> list[Seen]:
        sql = (
            "SELECT o.habit, o.terms FROM observations AS o JOIN habits AS h ON h.id = o.habit "
            "WHERE h.kind = ? AND instr(? || o.terms || ?, ? || ? || ?) ORDER BY o.id DESC LIMIT ?"
        )
        values = (kind, _UNIT, _UNIT, _UNIT, term, _UNIT, limit)
        with self._db.reading() as db:
            return [Seen(row[0], tuple(row[1].split(_UNIT))) for row in db.execute(sql, values)]

    def changed(self) -> tuple[int, str, list[Evidence]] | None:
        evidence = (
            "SELECT m.key, min(o.sentence) FROM observations AS o JOIN memories AS m USING (key) "
            "WHERE o.habit = ? AND m.valid_to IS NULL GROUP BY m.key ORDER BY m.at, m.key"
        )
        with self._db.reading() as db:
            row = db.execute("SELECT id, kind FROM habits WHERE changed = 1 LIMIT 1").fetchone()
            if row is None:
                return None
            return row[0], row[1], [Evidence(*one) for one in db.execute(evidence, (row[0],))]
