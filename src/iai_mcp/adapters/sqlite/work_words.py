"""The words that work is found by: what was done, what it was for, what it printed, what was asked for."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import apsw

from iai_mcp.domain.words import indexed
from iai_mcp.domain.work import KINDS, Command, Done, Looked, read_done, text_of

_MOST_ASKED = 400  # characters of a request that its work is found by
_UNKNOWN = (
    "turn IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM memories WHERE id = work.turn) "
    "AND NOT EXISTS (SELECT 1 FROM aliases WHERE id = work.turn)"
)


def index(db: apsw.Connection, key: int, done: Done, note: str, asked: str) -> None:
    if isinstance(done, Looked):
        return
    output = done.output if isinstance(done, Command) else ""
    texts = (text_of(done), note, output, asked[:_MOST_ASKED])
    db.execute(
        "INSERT INTO work_words (rowid, done, note, output, asked) VALUES (?, ?, ?, ?, ?)",
        (key, *map(indexed, texts)),
    )


def drop(db: apsw.Connection, key: int) -> None:
    """Take work out of the index; its words stay in there until it is purged or merged."""
    db.execute("DELETE FROM work_words WHERE rowid = ?", (key,))


def forget_request(db: apsw.Connection, names: Iterable[bytes]) -> None:
    """What served the request of these names is found by its own words only from now on."""
    for name in names:
        _without_request(db, "turn = ?", [name])


def forget_unknown_requests(db: apsw.Connection, limit: int) -> int:
    """The same for requests that are gone already; how much work there was of that kind."""
    return _without_request(db, f"{_UNKNOWN} LIMIT ?", [limit])


def purge(db: apsw.Connection) -> None:
    """Rewrite the index without the entries of what was forgotten."""
    db.execute("INSERT INTO work_words (work_words) VALUES ('optimize')")


def merge(db: apsw.Connection, pages: int, *, begin: bool = False) -> bool:
    """Merge a little of the index, as `words.merge` does; whether there was anything to do."""
    before = db.total_changes()
    db.execute(
        "INSERT INTO work_words (work_words, rank) VALUES ('merge', ?)",
        (-pages if begin else pages,),
    )
    # The command itself counts as one change.
    return db.total_changes() - before >= 2


def done_of(number: int, subject: str, output: str, details: str) -> Done:
    """What was done, from the columns that hold it."""
    raw = json.loads(details) | {"command": subject, "path": subject, "output": output}
    done = read_done(KINDS[number], raw)
    # Whether it failed was decided when it arrived, from words that redaction may have changed.
    return replace(done, failed=raw.get("failed") is True) if isinstance(done, Command) else done


def _without_request(db: apsw.Connection, where: str, values: Sequence[object]) -> int:
    columns = "key, note, kind, subject, output, details"
    found = list(db.execute(f"SELECT {columns} FROM work WHERE {where}", values))
    for key, note, *stored in found:
        drop(db, key)
        index(db, key, done_of(*stored), note, "")
        db.execute("UPDATE work SET turn = NULL WHERE key = ?", (key,))
    return len(found)
