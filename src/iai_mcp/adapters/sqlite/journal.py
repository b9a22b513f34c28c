"""Events and small settings, kept in the same encrypted file."""

import json
from collections.abc import Mapping, Sequence
from threading import Lock

from apsw import Connection

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.instants import iso
from iai_mcp.ports.journal import Event

_KEPT_EVENTS = 50_000  # a year of ordinary use; older ones go so that the journal stays bounded
# A program that prints something every few seconds comes to rest as often: such changes must not
# push out what happened to the memory.
_KEPT_CHANGES = 10_000


class SqliteJournal:
    """What happened, and what was set, in the order it happened."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._settings: dict[str, str] | None = None  # every recall asks for them
        self._changes = 0
        self._keeping = Lock()

    def record_event(self, kind: str, data: Mapping[str, object], at: int) -> None:
        with self._db.writing() as db:
            _insert(db, Event(kind, data, at))
            _forget_older(db)

    def record_events(self, events: Sequence[Event], name: str = "", value: str = "") -> None:
        with self._db.writing() as db:
            for event in events:
                _insert(db, event)
            if events:
                _forget_older(db)
                _forget_older_changes(db, len(events))
            if name:
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"set:{name}", value))
        if name:
            self._changed()

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
        self._changed()

    def settings(self) -> dict[str, str]:
        known, changes = self._settings, self._changes
        if known is None:
            sql = "SELECT name, value FROM meta WHERE name LIKE 'set:%'"
            with self._db.reading() as db:
                known = {str(name)[4:]: str(value) for name, value in db.execute(sql)}
            with self._keeping:
                if changes == self._changes:  # else it was read before what was set meanwhile
                    self._settings = known
        return dict(known)

    def _changed(self) -> None:
        with self._keeping:
            self._changes += 1
            self._settings = None


def _insert(db: Connection, event: Event) -> None:
    data = json.dumps(event.data, ensure_ascii=False)
    db.execute("INSERT INTO events (at, kind, data) VALUES (?, ?, ?)", (event.at, event.kind, data))


def _forget_older(db: Connection) -> None:
    db.execute("DELETE FROM events WHERE key <= ?", (db.last_insert_rowid() - _KEPT_EVENTS,))


def _forget_older_changes(db: Connection, count: int) -> None:
    """Those that were passed since the last time: a window, because the journal has no index."""
    floor = db.last_insert_rowid() - _KEPT_CHANGES
    db.execute(
        "DELETE FROM events WHERE key > ? AND key <= ? AND kind = 'SessionStatusChanged'",
        (floor - count - 1000, floor),
    )
