"""`Ledger` in the encrypted file: how far sleep came, written together with what it changed."""

import json
from collections.abc import Mapping

import apsw

from iai_mcp.adapters.sqlite.database import Database, count
from iai_mcp.adapters.sqlite.sleep_changes import apply
from iai_mcp.ports.sleep import Night, Page, Progress, Suggested

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
                apply(db, change)
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

    def suggestions(self, limit: int) -> list[Suggested]:
        sql = "SELECT older, newer, kind, reason, score, at FROM suggestions ORDER BY score DESC, newer DESC LIMIT ?"
        with self._db.reading() as db:
            return [Suggested(*row) for row in db.execute(sql, (limit,))]

    def suggestion_count(self) -> int:
        with self._db.reading() as db:
            return count(db, "suggestions")


def _moment(db: apsw.Connection, name: str) -> int | None:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])
