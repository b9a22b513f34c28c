"""`Held` in the encrypted store: what an agent or retention forgot, as one JSON snapshot each.

The rows are in no index, so no recall, timeline or export reaches them. Backups are left as they are
until a row is removed; then its ids go to `unreached`, and backups are rewritten without it.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apsw

from iai_mcp.adapters.sqlite import belonging, outgoing, rows, work_words
from iai_mcp.adapters.sqlite.adding import Arriving, insert_all, key_everywhere, project_id
from iai_mcp.adapters.sqlite.database import Database, fetched
from iai_mcp.domain.instants import Instant
from iai_mcp.domain.memories import CleanTurn, Provenance
from iai_mcp.domain.shared_events import Forgot
from iai_mcp.domain.traits import traits_of
from iai_mcp.domain.work import Done, text_of
from iai_mcp.ports.held import HeldMemory, Restored

# `agent_notes` names the agent whose tool wrote a memory; what a hook or a person wrote is not in it.
TABLES = """
CREATE TABLE IF NOT EXISTS agent_notes (
    key INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
    agent TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS held (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    is_work INTEGER NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS held_by_time ON held (at);
"""

_MEMORY = (
    *("id", "everywhere", "teller", "at", "session", "role", "tier", "ts", "speaker", "host"),
    *("agent_id", "agent_name", "branch", "valid_from", "valid_to", "pinned", "cue", "meta"),
    "text",
)
_WORK = (
    *("id", "at", "session", "host", "agent_id", "agent_name", "branch", "kind", "turn", "same"),
    *("failed", "note", "subject", "output", "details"),
)
_ASKED = 400  # characters of a request that its work is found by
Json = dict[str, Any]  # our own snapshots: their keys are the columns named above


def hold_memory(db: apsw.Connection, key: int, at: int, by: str) -> None:
    """Keep a memory that is about to be forgotten. What was derived is not kept: sleep derives it anew."""
    columns = ", ".join(f"m.{name}" for name in _MEMORY)
    sql = (
        f"SELECT {columns}, coalesce({rows.CAPTURED_BY}, ''), p.key, (SELECT id FROM memories WHERE key = m.successor) "
        "FROM memories AS m LEFT JOIN projects AS p ON p.id = m.project WHERE m.key = ? AND m.derived = 0"
    )
    row = db.execute(sql, (key,)).fetchone()
    if row is None:
        return
    data = {name: _plain(value) for name, value in zip(_MEMORY, row[:-3], strict=True)}
    names = [bytes(row[0]), *belonging.names_of(db, key)]
    data |= {
        "captured_by": row[-3],
        "project": row[-2] or "",
        "successor": _plain(row[-1]),
        "supersedes": _column(db, "SELECT id FROM memories WHERE successor = ?", (key,)),
        "aliases": [
            [_plain(other), uid]
            for other, uid in fetched(db, "SELECT id, by_uid FROM aliases WHERE key = ?", (key,))
        ],
        "sessions": [
            list(one)
            for one in fetched(
                db, "SELECT session, gone FROM further_sessions WHERE key = ?", (key,)
            )
        ],
        "work": [
            found
            for name in names
            for found in _column(db, "SELECT id FROM work WHERE turn = ?", (name,))
        ],
        "circles": _circles(db, row[1]) if by == "agent" else [],
    }
    _keep(db, bytes(row[0]), at, by, False, data)


def hold_work(db: apsw.Connection, key: int, at: int, by: str) -> None:
    """Keep work that is about to be forgotten."""
    columns = ", ".join(f"m.{name}" for name in _WORK)
    sql = f"SELECT {columns}, p.key FROM work AS m LEFT JOIN projects AS p ON p.id = m.project WHERE m.key = ?"
    row = db.execute(sql, (key,)).fetchone()
    if row is None:
        return
    data = {name: _plain(value) for name, value in zip(_WORK, row[:-1], strict=True)}
    sessions = fetched(db, "SELECT session, gone FROM further_work_sessions WHERE key = ?", (key,))
    data |= {
        "project": row[-1] or "",
        "sessions": [list(one) for one in sessions],
        "errors": _column(db, "SELECT error FROM work_errors WHERE key = ?", (key,)),
    }
    _keep(db, bytes(row[0]), at, by, True, data)


def drop_in_copy(db: apsw.Connection, identity: bytes) -> bool:
    """Remove what a copy of the store holds under that id; whether there was anything."""
    db.execute("DELETE FROM held WHERE id = ?", (identity,))
    return db.changes() > 0


class SqliteHeld:
    def __init__(self, database: Database, counted: Callable[[int], None]) -> None:
        self._db = database
        self._counted = counted  # told how many more memories there are

    def entries(self, since: int, ids: Sequence[str] = ()) -> list[HeldMemory]:
        with self._db.reading() as db:
            found = db.execute("SELECT * FROM held WHERE at > ? ORDER BY at DESC, key", (since,))
            listed = [_entry(row) for row in found]
        wanted = {one.lower() for one in ids}
        return [one for one in listed if not wanted or one.id in wanted]

    def restore(self, ids: Sequence[str]) -> Restored:
        came: list[str] = []
        memories = 0
        with self._db.writing() as db:
            rows_of = [row for one in ids if (row := _row(db, rows.identity(one))) is not None]
            # Turns first: work is found by the words of the turn that asked for it.
            for row in sorted(rows_of, key=lambda one: bool(one[4])):
                data = json.loads(str(row[5]))
                back = (_restore_work if row[4] else _restore_memory)(db, data)
                db.execute("DELETE FROM held WHERE key = ?", (row[0],))
                if back:
                    came.append(rows.public_id(bytes(row[1])))
                    memories += not row[4]
            for row in rows_of:
                data = json.loads(str(row[5]))
                for work in data.get("work", ()):
                    _ask_again(db, _bytes(work), bytes(row[1]), data["text"])
        self._counted(memories)
        return Restored(tuple(came), memories)

    def drop(self, matches: Callable[[HeldMemory], bool]) -> int:
        return self._remove(lambda db: (row for row in _all(db) if matches(_entry(row))))

    def expire(self, before: int) -> int:
        return self._remove(lambda db: fetched(db, "SELECT * FROM held WHERE at <= ?", (before,)))

    def _remove(self, chosen: Callable[[apsw.Connection], Iterable[Sequence[Any]]]) -> int:
        with self._db.writing() as db:
            gone = list(chosen(db))
            for row in gone:
                data = json.loads(str(row[5]))
                names = [data["id"], *(alias for alias, _ in data.get("aliases", ()))]
                db.executemany(
                    "INSERT OR IGNORE INTO unreached VALUES (?)",
                    [(bytes.fromhex(name),) for name in names],
                )
                if data.get("everywhere"):
                    _retract(db, data["circles"], bytes.fromhex(data["everywhere"]))
                db.execute("DELETE FROM held WHERE key = ?", (row[0],))
        return len(gone)


def _keep(
    db: apsw.Connection, identity: bytes, at: int, by: str, is_work: bool, data: Json
) -> None:
    db.execute(
        "INSERT OR REPLACE INTO held (id, at, by, is_work, data) VALUES (?, ?, ?, ?, ?)",
        (identity, at, by, is_work, json.dumps(data, ensure_ascii=False)),
        can_cache=False,
    )


def _restore_memory(db: apsw.Connection, data: Json) -> bool:
    identity = _bytes(data["id"])
    assert identity is not None  # noqa: S101 - every memory has one
    everywhere = _bytes(data["everywhere"])
    names = [identity, *(bytes.fromhex(alias) for alias, _ in _list(data["aliases"]))]
    _untomb(db, names)
    if everywhere is not None:
        db.execute("DELETE FROM forgotten_everywhere WHERE identity = ?", (everywhere,))
    if any(belonging.by_identity(db, name) is not None for name in names):
        return False  # it is here again already
    if everywhere is not None and key_everywhere(db, everywhere) is not None:
        return False
    turn = _turn(data, identity, everywhere or b"")
    project = project_id(db, str(data["project"]))
    traits = traits_of(turn.text, turn.role, turn.meta)
    (key,) = insert_all(db, [Arriving(turn, traits, project, _teller(db, data["teller"]))])
    db.execute(
        "UPDATE memories SET pinned = ?, valid_from = ?, valid_to = ?, "
        "successor = (SELECT s.key FROM memories AS s WHERE s.id = ?) WHERE key = ?",
        (data["pinned"], data["valid_from"], data["valid_to"], _bytes(data["successor"]), key),
    )
    for older in _list(data["supersedes"]):
        db.execute(
            "UPDATE memories SET successor = ? WHERE id = ? AND successor IS NULL",
            (key, _bytes(older)),
        )
    db.executemany(
        "INSERT OR IGNORE INTO aliases VALUES (?, ?, ?)",
        [(_bytes(alias), key, uid) for alias, uid in _list(data["aliases"])],
    )
    db.executemany(
        "INSERT OR IGNORE INTO further_sessions VALUES (?, ?, ?)",
        [(key, session, gone) for session, gone in _list(data["sessions"])],
    )
    if everywhere is not None:
        outgoing.restored(db, key, everywhere)
    return True


def _restore_work(db: apsw.Connection, data: Json) -> bool:
    identity = _bytes(data["id"])
    assert identity is not None  # noqa: S101 - all work has one
    _untomb(db, [identity])
    if db.execute("SELECT 1 FROM work WHERE id = ?", (identity,)).fetchone():
        return False
    marks = ", ".join("?" * (len(_WORK) + 1))
    values = [_bytes(data[n]) if n in ("id", "turn", "same") else data[n] for n in _WORK]
    project = project_id(db, str(data["project"]))
    db.execute(
        f"INSERT INTO work ({', '.join(_WORK)}, project) VALUES ({marks})", (*values, project)
    )
    key = db.last_insert_rowid()
    done = _done(data)
    asked = db.execute(
        f"SELECT substr(text, 1, {_ASKED}) FROM memories WHERE id = ?1 "
        "OR key = (SELECT key FROM aliases WHERE id = ?1)",
        (_bytes(data["turn"]),),
    ).fetchone()
    work_words.index(db, key, done, str(data["note"]), str(asked[0]) if asked else "")
    db.executemany(
        "INSERT OR IGNORE INTO work_errors VALUES (?, ?)",
        [(_bytes(error), key) for error in _list(data["errors"])],
    )
    db.executemany(
        "INSERT OR IGNORE INTO further_work_sessions VALUES (?, ?, ?)",
        [(key, session, gone) for session, gone in _list(data["sessions"])],
    )
    return True


def _ask_again(db: apsw.Connection, work: bytes | None, turn: bytes, text: str) -> None:
    """Work is found by the words of its request again."""
    sql = "SELECT key, note, kind, subject, output, details FROM work WHERE id = ? AND turn IS NULL"
    for key, note, *stored in fetched(db, sql, (work,)):
        work_words.drop(db, key)
        work_words.index(db, key, work_words.done_of(*stored), note, text[:_ASKED])
        db.execute("UPDATE work SET turn = ? WHERE key = ?", (turn, key))


def _turn(data: Json, identity: bytes, everywhere: bytes) -> CleanTurn:
    return CleanTurn(
        identity=identity,
        everywhere=everywhere,
        text=str(data["text"]),
        role=str(data["role"]),
        at=Instant(int(str(data["at"])), str(data["ts"])),
        speaker=str(data["speaker"]),
        tier=str(data["tier"]),
        cue=str(data["cue"]),
        provenance=Provenance(
            session_id=str(data["session"]),
            project=str(data["project"]),
            host=str(data["host"]),
            agent_id=str(data["agent_id"]),
            agent_name=str(data["agent_name"]),
            branch=str(data["branch"]),
            captured_by=str(data["captured_by"]),
        ),
        meta=str(data["meta"]),
    )


def _teller(db: apsw.Connection, given: object) -> int | None:
    if not isinstance(given, int):
        return None
    known = db.execute("SELECT 1 FROM tellers WHERE id = ?", (given,)).fetchone()
    return given if known else None


def _untomb(db: apsw.Connection, names: Sequence[bytes]) -> None:
    for table in ("tombstones", "unreached"):
        db.executemany(f"DELETE FROM {table} WHERE id = ?", [(name,) for name in names])


def _circles(db: apsw.Connection, everywhere: object) -> list[str]:
    return outgoing.circles_of(db, everywhere) if isinstance(everywhere, bytes) else []


def _retract(db: apsw.Connection, circles: Sequence[str], everywhere: bytes) -> None:
    for circle in outgoing.still_in(db, circles):
        outgoing.say(db, circle, [Forgot(identity=everywhere)])


def _row(db: apsw.Connection, identity: bytes | None) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = db.execute(
        "SELECT * FROM held WHERE id = ?", (identity,)
    ).fetchone()
    return found


def _all(db: apsw.Connection) -> list[tuple[Any, ...]]:
    return fetched(db, "SELECT * FROM held ORDER BY key")


def _entry(row: Sequence[Any]) -> HeldMemory:
    _, identity, at, by, is_work, written = row
    data = json.loads(str(written))
    assert isinstance(identity, bytes)  # noqa: S101 - the schema says so
    text = data["text"] if not is_work else _work_text(data)
    return HeldMemory(
        id=rows.public_id(identity),
        at=int(str(at)),
        by=str(by),
        project=data["project"],
        session_id=data["session"],
        said_at=data["at"],
        role="tool" if is_work else data["role"],
        text=text,
    )


def _work_text(data: Json) -> str:
    return text_of(_done(data))


def _done(data: Json) -> Done:
    return work_words.done_of(data["kind"], data["subject"], data["output"], data["details"])


def _column(db: apsw.Connection, sql: str, values: Sequence[object]) -> list[object]:
    return [_plain(row[0]) for row in fetched(db, sql, values)]


def _plain(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _bytes(value: object) -> bytes | None:
    return bytes.fromhex(value) if isinstance(value, str) else None


def _list(value: object) -> list[Any]:
    assert isinstance(value, list)  # noqa: S101 - written as one
    return value
