"""Events and small settings, kept in the same encrypted file."""

import json
from collections.abc import Mapping

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.instants import iso

_KEPT_EVENTS = 50_000  # a year of ordinary use; older ones go so that the journal stays bounded


class SqliteJournal:
    """What happened, and what was set, in the order it happened."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def record_event(self, kind: str, data: Mapping[str, object], at: int) -> None:
        with self._db.writing() as db:
            db.execute(
                "INSERT INTO events (at, kind, data) VALUES (?, ?, ?)",
                (at, kind, json.dumps(data, ensure_ascii=False)),
            )
            newest = db.last_insert_rowid()
            db.execute("DELETE FROM events WHERE key <= ?", (newest - _KEPT_EVENTS,))

    def events(self, kind: str, since: int | None, limit: int) -> list[dict[str, object]]:
        sql = "SELECT key, at, kind, data FROM events WHERE (? = '' OR kind = ?) AND at >= ? ORDER BY key DESC LIMIT ?"
        floor = since if since is not None else -(1 << 62)
        with self._db.reading() as db:
            found = db.execute(sql, (kind, kind, floor, limit)).fetchall()
        return [
            {"id": row[0], "ts": iso(row[1]), "kind": row[2], "data": json.loads(row[3])}
            for row in reversed(found)
        ]

    def setting(self, name: str) -> str | None:
        with self._db.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (f"set:{name}",)).fetchone()
        return None if row is None else str(row[0])

    def set_setting(self, name: str, value: str) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"set:{name}", value))

    def settings(self) -> dict[str, str]:
        with self._db.reading() as db:
            found = db.execute("SELECT name, value FROM meta WHERE name LIKE 'set:%'").fetchall()
        return {str(name)[4:]: str(value) for name, value in found}
