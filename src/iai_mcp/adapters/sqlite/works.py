"""`Works` in the encrypted SQLite file, beside the memories and with the same projects."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TypeVar

import apsw

from iai_mcp.adapters.sqlite import rows, work_words
from iai_mcp.adapters.sqlite.adding import project_id
from iai_mcp.adapters.sqlite.database import Database, count
from iai_mcp.adapters.sqlite.forgetting import forget_work
from iai_mcp.adapters.sqlite.held import hold_work
from iai_mcp.domain.commands import errors_in, same_command
from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Provenance
from iai_mcp.domain.mendings import Mending
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.domain.work import (
    KINDS,
    CleanWork,
    Command,
    Edit,
    Kind,
    Record,
    details_of,
    whole_path,
)
from iai_mcp.ports.memories import Scope, Stored
from iai_mcp.ports.works import Found

_T = TypeVar("_T")

_INSERT = """
INSERT INTO work (id, at, session, project, host, agent_id, agent_name, branch, kind, turn, same,
    failed, note, subject, output, details)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_COLUMNS = (
    "m.key, m.id, m.at, m.session, p.key, m.host, m.agent_id, m.agent_name, m.branch, m.kind, "
    "m.turn, m.note, m.subject, m.output, m.details"
)
_SOURCE = "work AS m LEFT JOIN projects AS p ON p.id = m.project"
# A condition with the session bound twice.
_IN_SESSION = (
    "(m.session = ? OR m.key IN "
    "(SELECT key FROM further_work_sessions WHERE session = ? AND gone = 0))"
)
# What the agent said it was for tells most; then what was done, what it printed, what it served.
# A request in a closed project is no reason to find open work.
_BY_OPEN_WORDS = (
    "(NOT EXISTS (SELECT 1 FROM memories AS q JOIN projects AS r ON r.id = q.project "
    "WHERE q.id = m.turn AND r.key IN (SELECT value FROM json_each(?))) "
    "OR m.key IN (SELECT rowid FROM work_words WHERE work_words MATCH ?))"
)
_WEIGHTS = "1.0, 1.5, 0.5, 0.35"
_CHECKOUTS = ("/*", "*worktrees/*")  # where a path may begin that is not as seen from the project
_AT_ONCE = 500  # values named in one statement


class SqliteWorks:
    """What was done, in the file of what was said. See `Database` for what is durable when."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, works: Sequence[CleanWork], asked: Sequence[str]) -> list[Stored]:
        with self._db.writing() as db:
            return [_add_one(db, *one) for one in zip(works, asked, strict=True)]

    def get(self, keys: Sequence[int]) -> list[Record]:
        found = {one.key: one for one in self._among("m.key", keys)}
        return [found[key] for key in keys if key in found]

    def find(self, ids: Sequence[str]) -> list[Record]:
        wanted = [one for one in map(rows.identity, ids) if one is not None]
        found = {one.id: one for one in self._among("m.id", wanted)}
        return [found[i] for i in dict.fromkeys(map(str.lower, ids)) if i in found]

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        with self._db.reading() as db:
            return rows.ids_beginning(db, "work", digits, limit)

    def in_session(self, session_id: str, limit: int) -> list[Record]:
        sql = "m.session = ? ORDER BY m.at DESC, m.key DESC LIMIT ?"
        return self._select(sql, [session_id, limit])[::-1]

    def newest(self, scope: Scope, kinds: Sequence[Kind], limit: int) -> list[Record]:
        where, values = _condition(scope, kinds)
        return self._select(f"{where} ORDER BY m.at DESC, m.key DESC LIMIT ?", [*values, limit])

    def by_words(
        self, terms: Sequence[str], scope: Scope, kinds: Sequence[Kind], limit: int
    ) -> list[Found]:
        if not terms:
            return []
        where, values = _condition(scope, kinds)
        query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        if scope.not_projects:
            where = f"{where} AND {_BY_OPEN_WORDS}"
            values = [*values, json.dumps(scope.not_projects), f"{{done note output}} : ({query})"]
        sql = (
            f"SELECT rowid, bm25(work_words, {_WEIGHTS}) AS score FROM work_words "
            # The plus keeps the planner from asking the index once per row of the scope.
            f"WHERE work_words MATCH ? AND +rowid IN (SELECT m.key FROM {_SOURCE} WHERE {where}) "
            "ORDER BY score, rowid DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [Found(row[0], -row[1]) for row in db.execute(sql, (query, *values, limit))]

    def runs_of(self, commands: Sequence[str], scope: Scope) -> dict[str, list[int]]:
        marks = {_mark(command): command for command in commands}
        where, values = _condition(scope, ("command",))
        found: dict[str, list[int]] = {}
        with self._db.reading() as db:
            for some in _portions(list(marks)):
                sql = (
                    f"SELECT m.same, m.key FROM {_SOURCE} WHERE m.same IN ({_marks(some)}) "
                    f"AND {where} ORDER BY m.at, m.key"
                )
                for same, key in db.execute(sql, (*some, *values)):
                    found.setdefault(marks[bytes(same)], []).append(key)
        return found

    def edits_of(self, path: str, scope: Scope, limit: int) -> list[Record]:
        plain = path.strip().removeprefix("./").rstrip("/")
        if not plain:
            return []
        if plain.startswith("/"):
            within = _within_project(plain, scope)
            # The same file in other checkouts of the project, too.
            return self._edits_below(within, scope, limit) or self._edits_at(plain, scope, limit)
        exact = self._edits_below(plain, scope, limit)
        ends = (f"*/{_pattern(plain)}", f"*/{_pattern(plain)}/*")
        return exact or self._edits(["m.subject GLOB ?"] * len(ends), ends, scope, limit)

    def _edits_below(self, plain: str, scope: Scope, limit: int) -> list[Record]:
        """By the path as seen from the project."""
        if not plain:
            return []
        below = _pattern(plain)
        # The same file under its whole path, or in a worktree within the project.
        wider = [f"{below}/*", *(f"{at}/{below}{end}" for at in _CHECKOUTS for end in ("", "/*"))]
        conditions = ["m.subject = ?", *["m.subject GLOB ?"] * len(wider)]
        return self._edits(conditions, [plain, *wider], scope, limit)

    def _edits_at(self, path: str, scope: Scope, limit: int) -> list[Record]:
        """By the whole path: what is stored is its end, or lies below it."""
        ends = [path, *(path[at + 1 :] for at, char in enumerate(path) if char == "/" and at)]
        conditions = [f"m.subject IN ({_marks(ends)})", "p.key LIKE '/%'"]
        found = self._edits(conditions, ends, scope, -1)
        return [one for one in found if _lies_at(one, path)][:limit]

    def _edits(
        self, conditions: Sequence[str], bound: Sequence[object], scope: Scope, limit: int
    ) -> list[Record]:
        where, values = _condition(scope, ("edit",))
        sql = f"{where} AND ({' OR '.join(conditions)}) ORDER BY m.at DESC, m.key DESC LIMIT ?"
        return self._select(sql, [*values, *bound, limit])

    def failing_with(self, errors: Sequence[str], scope: Scope, limit: int) -> list[int]:
        if not errors:
            return []
        marks = [_mark(error) for error in errors[:_AT_ONCE]]
        where, values = _condition(scope, ("command",))
        sql = (
            f"SELECT m.key, count(*) AS shared FROM {_SOURCE} JOIN work_errors AS e ON e.key = m.key "
            f"WHERE e.error IN ({_marks(marks)}) AND {where} "
            "GROUP BY m.key ORDER BY shared DESC, m.at DESC, m.key DESC LIMIT ?"
        )
        with self._db.reading() as db:
            return [row[0] for row in db.execute(sql, (*marks, *values, limit))]

    def put_mendings(self, mendings: Sequence[Mending]) -> None:
        with self._db.writing(repeatable=True) as db:
            for one in mendings:
                db.execute(
                    "INSERT OR REPLACE INTO mendings SELECT ?, ?, ? "
                    "WHERE (SELECT count(*) FROM work WHERE key IN (?, ?)) = 2",
                    (one.failure, one.success, json.dumps(one.steps), one.failure, one.success),
                )

    def mendings_of(self, failures: Sequence[int]) -> list[Mending]:
        found: dict[int, Mending] = {}
        with self._db.reading() as db:
            for some in _portions(failures):
                sql = f"SELECT failure, success, steps FROM mendings WHERE failure IN ({_marks(some)})"
                for failure, success, steps in db.execute(sql, some):
                    found[failure] = Mending(failure, tuple(json.loads(steps)), success)
        return [found[key] for key in failures if key in found]

    def unsettled(self, after: int, limit: int) -> list[tuple[int, str]]:
        sql = (
            "SELECT key, session FROM work WHERE failed = 1 AND key > ? "
            "AND key NOT IN (SELECT failure FROM mendings) ORDER BY key LIMIT ?"
        )
        with self._db.reading() as db:
            return [(row[0], row[1]) for row in db.execute(sql, (after, limit))]

    def keys(self, scope: Scope) -> list[int]:
        where, values = _condition(scope, KINDS)
        with self._db.reading() as db:
            sql = f"SELECT m.key FROM {_SOURCE} WHERE {where} ORDER BY m.key"
            return [row[0] for row in db.execute(sql, values)]

    def left_behind(self, limit: int) -> list[int]:
        sql = (
            "SELECT key FROM work WHERE NOT EXISTS "
            "(SELECT 1 FROM memories AS m WHERE m.session = work.session) ORDER BY key LIMIT ?"
        )
        with self._db.reading() as db:
            return [row[0] for row in db.execute(sql, (limit,))]

    def containing(self, words: str, scope: Scope) -> list[int]:
        where, values = _condition(scope, KINDS)
        sql = (
            "SELECT m.key, m.note, m.subject, m.output, m.details "
            f"FROM {_SOURCE} WHERE {where} ORDER BY m.key"
        )
        phrase = Phrase(words)
        with self._db.reading() as db:
            found = db.execute(sql, values)
            return [row[0] for row in found if phrase.is_in("\n".join(row[1:]))]

    def after(self, key: int, limit: int) -> list[Record]:
        return self._select("m.key > ? ORDER BY m.key LIMIT ?", [key, limit])

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        found: list[int] = []
        with self._db.reading() as db:
            for some in _portions(keys):
                sql = (
                    f"SELECT key FROM work WHERE key IN ({_marks(some)}) AND (session <> ? OR EXISTS "
                    "(SELECT 1 FROM further_work_sessions AS f "
                    "WHERE f.key = work.key AND f.session <> ? AND f.gone = 0))"
                )
                found += [row[0] for row in db.execute(sql, (*some, session, session))]
        return sorted(found)

    def sessions_of(self, keys: Sequence[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        with self._db.reading() as db:
            for some in _portions(keys):
                named = f"key IN ({_marks(some)})"
                sql = (
                    f"SELECT key, session FROM further_work_sessions WHERE {named} AND gone = 0 "
                    f"UNION SELECT key, session FROM work WHERE {named} ORDER BY key, session"
                )
                for key, session in db.execute(sql, (*some, *some)):
                    found.setdefault(key, []).append(session)
        return {key: sessions for key, sessions in found.items() if len(sessions) > 1}

    def share(self, sessions: Mapping[int, Sequence[str]]) -> None:
        with self._db.writing() as db:
            for key, several in sessions.items():
                for session in several:
                    _share(db, key, session)

    def leave(self, keys: Sequence[int], session: str) -> None:
        with self._db.writing() as db:
            for key in keys:
                _leave(db, key, session)

    def forget(self, keys: Sequence[int], at: int, *, hold: str = "") -> list[str]:
        with self._db.writing() as db:
            for key in keys if hold else ():
                hold_work(db, key, at, hold)
            gone = [one for key in keys if (one := forget_work(db, key, at)) is not None]
            if not hold:  # else backups keep it as long as the store holds it
                unreached = [(one,) for one in gone]
                db.executemany("INSERT OR IGNORE INTO unreached VALUES (?)", unreached)
            if gone:
                work_words.purge(db)
        return [rows.public_id(one) for one in gone]

    def forget_unknown_requests(self, limit: int) -> int:
        with self._db.writing() as db:
            found = work_words.forget_unknown_requests(db, limit)
            if found:
                work_words.purge(db)
            return found

    def count(self) -> int:
        with self._db.reading() as db:
            return count(db, "work")

    def _among(self, column: str, values: Sequence[object]) -> list[Record]:
        found: list[Record] = []
        for some in _portions(values):
            found += self._select(f"{column} IN ({_marks(some)})", list(some))
        return found

    def _select(self, rest: str, values: Sequence[object]) -> list[Record]:
        with self._db.reading() as db:
            sql = f"SELECT {_COLUMNS} FROM {_SOURCE} WHERE {rest}"
            return [_record(row) for row in db.execute(sql, values)]


def _add_one(db: apsw.Connection, work: CleanWork, asked: str) -> Stored:
    public = rows.public_id(work.identity)
    if db.execute("SELECT 1 FROM tombstones WHERE id = ?", (work.identity,)).fetchone():
        return Stored("forgotten", public, None)
    known = db.execute("SELECT key FROM work WHERE id = ?", (work.identity,)).fetchone()
    if known is not None:
        _share(db, known[0], work.provenance.session_id)
        return Stored("duplicate", public, known[0])
    whence, done = work.provenance, work.done
    failed = isinstance(done, Command) and done.failed
    db.execute(
        _INSERT,
        (
            work.identity,
            work.at.micros,
            whence.session_id,
            project_id(db, whence.project),
            whence.host,
            whence.agent_id,
            whence.agent_name,
            whence.branch,
            KINDS.index(work.kind),
            work.turn,
            _same(work),
            int(failed),
            work.note,
            *_stored(work),
        ),
    )
    key = db.last_insert_rowid()
    work_words.index(db, key, done, work.note, asked)
    if failed and isinstance(done, Command):
        errors = [(_mark(error), key) for error in errors_in(done.output)]
        db.executemany("INSERT OR IGNORE INTO work_errors VALUES (?, ?)", errors)
    return Stored("inserted", public, key)


def _share(db: apsw.Connection, key: int, session: str) -> None:
    """It belongs to this session, too, unless it was taken out of it."""
    db.execute(
        "INSERT OR IGNORE INTO further_work_sessions SELECT key, :session, 0 FROM work "
        "WHERE key = :key AND session NOT IN ('', :session) AND :session <> ''",
        {"key": key, "session": session},
    )


def _leave(db: apsw.Connection, key: int, session: str) -> None:
    row = db.execute("SELECT session FROM work WHERE key = ?", (key,)).fetchone()
    others = db.execute(
        "SELECT session FROM further_work_sessions WHERE key = ? AND session <> ? AND gone = 0 "
        "ORDER BY session",
        (key, session),
    ).fetchall()
    if row is None or (row[0] == session and not others):
        return
    first = others[0][0] if row[0] == session else row[0]
    db.execute("UPDATE work SET session = ? WHERE key = ?", (first, key))
    db.execute("DELETE FROM further_work_sessions WHERE key = ? AND session = ?", (key, first))
    db.execute("INSERT OR REPLACE INTO further_work_sessions VALUES (?, ?, 1)", (key, session))


def _same(work: CleanWork) -> bytes | None:
    return _mark(same_command(work.done.command)) if isinstance(work.done, Command) else None


def _stored(work: CleanWork) -> tuple[str, str, str]:
    """(subject, output, the rest as JSON)."""
    rest = details_of(work.done)
    subject, output = "", ""
    if isinstance(work.done, Command):
        subject, output = str(rest.pop("command")), str(rest.pop("output", ""))
        rest.pop("failed", None)
        if work.done.failed:
            rest["failed"] = True
    elif isinstance(work.done, Edit):
        subject = str(rest.pop("path"))
    return subject, output, json.dumps(rest, ensure_ascii=False, separators=(",", ":"))


def _record(row: Sequence[object]) -> Record:
    (key, ident, at, session, project, host, agent_id, agent_name, branch) = row[:9]
    (number, turn, note, subject, output, details) = row[9:]
    assert isinstance(key, int) and isinstance(ident, bytes) and isinstance(at, int)  # noqa: S101 - the schema says so
    assert isinstance(number, int)  # noqa: S101 - the schema says so
    return Record(
        key=key,
        id=rows.public_id(ident),
        at=from_micros(at),
        done=work_words.done_of(number, str(subject), str(output), str(details)),
        note=str(note),
        turn=turn if isinstance(turn, bytes) else None,
        provenance=Provenance(
            session_id=str(session),
            project=str(project) if project is not None else "",
            host=str(host),
            agent_id=str(agent_id),
            agent_name=str(agent_name),
            branch=str(branch),
        ),
    )


def _within_project(path: str, scope: Scope) -> str:
    """A whole path as seen from the project that is asked; "" where it lies in none."""
    roots = [key.rstrip("/") for key in scope.projects if key.startswith("/")]
    inside = [path[len(root) + 1 :] for root in roots if path.startswith(f"{root}/")]
    return min(inside, key=len, default="")


def _lies_at(record: Record, path: str) -> bool:
    whole = (
        whole_path(record.done, record.provenance.project) if isinstance(record.done, Edit) else ""
    )
    return whole == path or whole.startswith(f"{path}/")


def _condition(scope: Scope, kinds: Sequence[Kind]) -> tuple[str, list[object]]:
    asked = replace(
        scope, role="", said=False, session_id="", members=(), not_members=(), machines=()
    )
    where, values = rows.condition(asked)
    if any(names and "" not in names for names in (scope.members, scope.machines)):
        where = f"{where} AND 0"  # work was done here, by oneself
    if scope.session_id:
        where, values = f"{where} AND {_IN_SESSION}", [*values, scope.session_id, scope.session_id]
    numbers = ", ".join(str(KINDS.index(kind)) for kind in kinds)
    return (where if len(kinds) == len(KINDS) else f"{where} AND m.kind IN ({numbers})"), values


def _mark(text: str) -> bytes:
    """A short name for a command or an error: what is looked up is never the words themselves."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def _portions(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _pattern(path: str) -> str:
    """The path as a pattern that matches itself alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
