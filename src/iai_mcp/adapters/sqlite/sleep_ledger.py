"""`Ledger` in the encrypted file: how far sleep came, written together with what it changed.

Every change can be written twice with the same outcome.
"""

import json
from collections.abc import Mapping
from typing import assert_never

import apsw

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.ports.sleep import (
    Assigned,
    Change,
    Folded,
    Grouped,
    Night,
    Page,
    Progress,
)

_STARTED, _FINISHED = "sleep:started", "sleep:finished"


class SqliteLedger:
    """One row per step; the night itself in `meta`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def night(self) -> Night | None:
        with self._db.reading() as db:
            started, finished = _moment(db, _STARTED), _moment(db, _FINISHED)
            steps = tuple(
                Progress(step, cursor, bool(done), pages, micros, json.loads(counts), failed)
                for step, cursor, done, pages, micros, counts, failed in db.execute(
                    "SELECT step, cursor, done, pages, micros, counts, failed FROM sleep_steps"
                )
            )
        return None if started is None else Night(started, finished, steps)

    def cursors(self) -> Mapping[str, str]:
        with self._db.reading() as db:
            return {
                str(step): str(cursor)
                for step, cursor in db.execute("SELECT step, cursor FROM sleep_steps")
            }

    def begin(self, cursors: Mapping[str, str], at: int) -> None:
        with self._db.writing() as db:
            db.execute("DELETE FROM sleep_steps")
            for step, cursor in cursors.items():
                db.execute(
                    "INSERT INTO sleep_steps VALUES (?, ?, 0, 0, 0, '{}', '')", (step, cursor)
                )
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_STARTED, at))
            db.execute("DELETE FROM meta WHERE name = ?", (_FINISHED,))

    def apply(self, step: str, page: Page, micros: int) -> None:
        # Its cursor goes with it: a page that power loss takes back is done again.
        with self._db.writing(repeatable=True) as db:
            for change in page.changes:
                _write(db, change)
            row = db.execute("SELECT counts FROM sleep_steps WHERE step = ?", (step,)).fetchone()
            counts: dict[str, int] = json.loads(str(row[0])) if row else {}
            for name, number in page.counts.items():
                counts[name] = counts.get(name, 0) + number
            db.execute(
                "UPDATE sleep_steps SET cursor = ?, done = ?, pages = pages + 1, "
                "micros = micros + ?, counts = ?, failed = ? WHERE step = ?",
                (page.cursor, page.done, micros, json.dumps(counts), page.failed, step),
            )

    def finish(self, at: int) -> None:
        with self._db.writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_FINISHED, at))


def _moment(db: apsw.Connection, name: str) -> int | None:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def _write(db: apsw.Connection, change: Change) -> None:
    """Write one change, inside the caller's transaction."""
    match change:
        case Folded():
            _fold(db, change)
        case Assigned():
            for key in change.keys:
                _assign(db, key, change.most)
        case Grouped():
            _group(db, change)
        case _:
            assert_never(change)


def _fold(db: apsw.Connection, change: Folded) -> None:
    db.execute(
        "INSERT OR REPLACE INTO folds SELECT key, ?, ? FROM memories WHERE key = ?",
        (change.digest, change.fold, change.key),
    )
    if not db.changes():
        return  # forgotten since it was read
    if change.fold is not None:
        db.execute(
            "UPDATE folds SET fold = ? WHERE key = ? AND fold IS NULL", (change.fold, change.fold)
        )
    for band in change.bands:
        db.execute("INSERT OR IGNORE INTO fold_bands VALUES (?, ?)", (band, change.key))


def _assign(db: apsw.Connection, key: int, most: int) -> None:
    row = db.execute("SELECT project FROM memories WHERE key = ?", (key,)).fetchone()
    known = db.execute("SELECT 1 FROM topic_members WHERE key = ?", (key,)).fetchone()
    if row is None or known:
        return
    latest = db.execute(
        "SELECT id, size FROM windows WHERE project IS ? ORDER BY id DESC LIMIT 1", (row[0],)
    ).fetchone()
    if latest is None or latest[1] >= most:
        db.execute("INSERT INTO windows (project) VALUES (?)", (row[0],))
        window = db.last_insert_rowid()
    else:
        window = latest[0]
    db.execute("UPDATE windows SET size = size + 1, state = 'changed' WHERE id = ?", (window,))
    db.execute("INSERT INTO topic_members (key, window) VALUES (?, ?)", (key, window))


def _group(db: apsw.Connection, change: Grouped) -> None:
    db.execute("UPDATE topic_members SET topic = NULL, ties = 0 WHERE window = ?", (change.window,))
    for key, topic in change.topic_of.items():
        db.execute(
            "UPDATE topic_members SET topic = ?, ties = ? WHERE key = ? AND window = ?",
            (topic, change.ties_of.get(key, 0), key, change.window),
        )
    db.execute("UPDATE windows SET state = 'written' WHERE id = ?", (change.window,))
