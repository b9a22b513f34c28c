"""`Memories` in an encrypted SQLite file."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import apsw

from iai_mcp.adapters.sqlite import belonging, entries, outgoing, packing, rows, schema, words
from iai_mcp.adapters.sqlite.adding import insert, project_id
from iai_mcp.adapters.sqlite.database import Database, Remembered, count, scalar
from iai_mcp.adapters.sqlite.forgetting import forget_one
from iai_mcp.adapters.sqlite.forgetting import purge as purge_words
from iai_mcp.adapters.sqlite.held import hold_memory
from iai_mcp.adapters.sqlite.shared_tables import memberships
from iai_mcp.domain.errors import Busy, NotFound
from iai_mcp.domain.exchanges import noted
from iai_mcp.domain.memories import CleanTurn, Memory
from iai_mcp.domain.ranking.use import Link
from iai_mcp.domain.traits import WISH, Traits, traits_of
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.ports.memories import (
    DISPUTES,
    Carried,
    EntryPage,
    Placed,
    Renewed,
    Scope,
    Stored,
    Unembedded,
    WordHit,
)
from iai_mcp.ports.upkeep import Gone

_LINKS_AT_MOST = 200
_LONG = 1 << 16  # characters: what follows from more takes milliseconds to work out
_AT_ONCE = 500  # values named in one statement
_LATELY = 7 * 24 * 3600 * 1_000_000  # microseconds
_LOG_SECONDS = 5.0  # who reads is done by then, but for a check of the whole file

# Each has an index of its own; the planner would join them with a scan.
_MARKED_BY_PEOPLE = (
    "m.pinned = 1",
    "m.session = ''",
    "m.key IN (SELECT successor FROM memories WHERE successor IS NOT NULL)",
)


class SqliteMemories:
    """The encrypted store. One writer, many readers; see `Database` for what is durable when."""

    def __init__(self, database: Database) -> None:
        self._db = database
        with database.writing() as db:
            schema.upgrade(db)
            salt = scalar(db, "SELECT value FROM meta WHERE name = 'salt'")
            # Each from an index: for a condition on the rows all texts would be read past.
            self._count = count(db, "memories") - count(db, "memories WHERE derived = 1")
        assert isinstance(salt, bytes)  # noqa: S101 - written as such with the schema
        self._salt = salt
        self._counting = threading.Lock()
        self._latest = Remembered(database, entries.latest)
        self._private = Remembered(database, _private)
        self._untrusted = Remembered(database, partial(_members, untrusted=True))
        # Whoever sends to circles puts its own here: something may wait to go out.
        self.told: Callable[[], None] = lambda: None

    @property
    def salt(self) -> bytes:
        return self._salt

    def add(self, turns: Sequence[CleanTurn]) -> list[Stored]:
        early = [self._derived_early(turn) for turn in turns]
        with self._db.writing() as db:
            stored = [_add_one(db, *one) for one in zip(turns, early, strict=True)]
            outgoing.captured(db, _new(stored))
        self.counted(sum(one.status == "inserted" for one in stored))
        self.told()
        return stored

    def get(self, keys: Sequence[int], longest: int | None = None) -> list[Memory]:
        found = {m.key: m for m in self._select_in("m.key", keys, longest)}
        return [found[key] for key in keys if key in found]

    def find(self, ids: Sequence[str], longest: int | None = None) -> list[Memory]:
        return self.get(self.keys_of(ids), longest)

    def keys_of(self, ids: Sequence[str]) -> list[int]:
        wanted = dict.fromkeys(one for one in map(rows.identity, ids) if one is not None)
        known = {bytes(ident): key for key, ident in self._pairs("id", list(wanted))}
        others = [identity for identity in wanted if identity not in known]
        known |= {bytes(ident): key for key, ident in self._pairs("id", others, "aliases")}
        return list(dict.fromkeys(known[one] for one in wanted if one in known))

    def ids_beginning(self, digits: str, limit: int) -> list[str]:
        with self._db.reading() as db:
            own = rows.ids_beginning(db, "memories", digits, limit)
            return [*own, *rows.ids_beginning(db, "aliases", digits, limit)][:limit]

    def ids_of(self, keys: Sequence[int]) -> list[str]:
        known = dict(self._pairs("key", keys))
        return [rows.public_id(known[key]) for key in keys if key in known]

    def timeline(self, scope: Scope, limit: int) -> list[Memory]:
        return self.get([placed.key for placed in self.newest(scope, limit)][::-1])

    def newest(
        self, scope: Scope, limit: int, before: tuple[int, int] | None = None
    ) -> list[Placed]:
        where, values = rows.condition(scope)
        if before is not None:
            where, values = f"{where} AND (m.at, m.key) < (?, ?)", [*values, *before]
        return self._placed(where, values, "m.at DESC, m.key DESC", limit)

    def notes(self, scope: Scope, limit: int) -> list[Memory]:
        where, values = rows.condition(scope)
        found: set[tuple[int, int]] = set()
        for marked in _MARKED_BY_PEOPLE:
            marked_there = f"{marked} AND m.derived = 0 AND {where}"
            placed = self._placed(marked_there, values, "m.at DESC, m.key DESC", limit)
            found |= {(one.at, one.key) for one in placed}
        return self.get([key for _, key in sorted(found, reverse=True)[:limit]])

    def arrived(self, after: int, limit: int) -> list[Placed]:
        return self._placed("m.key > ? AND m.derived = 0", [after], "m.key", limit)

    def containing(self, words: str, scope: Scope) -> list[int]:
        where, values = rows.condition(scope)
        sql = f"SELECT m.key, m.text, m.meta FROM {rows.SOURCE} WHERE {where} ORDER BY m.key"
        phrase = Phrase(words)
        with self._db.reading() as db:  # row by row: never all the texts at once
            return [
                key
                for key, text, meta in db.execute(sql, values)
                if phrase.is_in(text) or (meta and phrase.is_in(noted(json.loads(meta))))
            ]

    def neighbours(
        self, memory: Memory, count: int, longest: int | None = None
    ) -> tuple[list[Memory], list[Memory]]:
        session, place = memory.provenance.session_id, (memory.at.micros, memory.key)
        if not session or count <= 0:
            return [], []
        with self._db.reading() as db:
            before = belonging.before(db, session, place, count)
            after = belonging.after(db, session, place, count)
        return self.get(before[::-1], longest), self.get(after, longest)

    def keys(self, scope: Scope) -> Sequence[int] | None:
        if scope.everything:
            return None
        where, values = rows.condition(scope)
        sql = f"SELECT m.key FROM {rows.SOURCE} WHERE {where} ORDER BY m.key"
        with self._db.reading() as db:
            return [row[0] for row in db.execute(sql, values)]

    def by_words(self, terms: Sequence[str], scope: Scope, limit: int) -> list[WordHit]:
        where, values = rows.condition(scope)
        with self._db.reading() as db:
            return words.search(db, terms, where, values, limit)

    def supersede(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        with self._db.writing() as db:
            if not db.execute("SELECT 1 FROM memories WHERE key = ?", (old.key,)).fetchone():
                raise NotFound("that memory was forgotten a moment ago")
            stored = _add_one(db, new)
            if stored.key is not None and stored.key != old.key:
                db.execute(
                    "UPDATE memories SET valid_to = ?, successor = ? WHERE key = ?",
                    (at, stored.key, old.key),
                )
                _link(db, old.key, stored.key, "contradicts", 1.0, at)
                outgoing.captured(db, _new([stored]))
                outgoing.superseded(db, old.key, stored.key)
        self.counted(int(stored.status == "inserted"))
        self.told()
        return stored

    def dispute(self, old: Memory, new: CleanTurn, at: int) -> Stored:
        with self._db.writing() as db:
            if not db.execute("SELECT 1 FROM memories WHERE key = ?", (old.key,)).fetchone():
                raise NotFound("that memory was forgotten a moment ago")
            stored = _add_one(db, new)
            if stored.key is not None and stored.key != old.key:
                _link(db, old.key, stored.key, DISPUTES, 1.0, at)
                outgoing.captured(db, _new([stored]))
        self.counted(int(stored.status == "inserted"))
        self.told()
        return stored

    def reinstate(self, key: int) -> None:
        with self._db.writing() as db:
            db.execute(
                "UPDATE memories SET valid_to = NULL, successor = NULL WHERE key = ?", (key,)
            )
            db.execute("DELETE FROM links WHERE a = ? AND kind = 'contradicts'", (key,))
            outgoing.reinstated(db, key)
        self.told()

    def unforget(self, identities: Sequence[bytes]) -> None:
        with self._db.writing() as db:
            for table in ("tombstones", "unreached"):
                sql = f"DELETE FROM {table} WHERE id = ?"
                db.executemany(sql, [(one,) for one in identities])

    def session_projects(self, session: str) -> frozenset[str]:
        sql = (
            "SELECT DISTINCT coalesce(p.key, '') FROM (SELECT project FROM memories WHERE session = ?1 "
            "UNION SELECT m.project FROM further_sessions AS f JOIN memories AS m USING (key) "
            "WHERE f.session = ?1 UNION SELECT project FROM work WHERE session = ?1) AS s "
            "LEFT JOIN projects AS p ON p.id = s.project"
        )
        with self._db.reading() as db:
            return frozenset(str(row[0]) for row in db.execute(sql, (session,)))

    def link(self, pairs: Iterable[tuple[int, int]], kind: str, step: float, at: int) -> int:
        with self._db.writing() as db:
            return sum(_link(db, min(pair), max(pair), kind, step, at) for pair in pairs)

    def links(self, keys: Sequence[int], kind: str) -> list[Link]:
        if not keys:
            return []
        marks = ", ".join("?" * len(keys))
        sql = (
            f"SELECT a, b, weight, at FROM links WHERE kind = ? AND a IN ({marks}) "
            f"UNION SELECT a, b, weight, at FROM links WHERE kind = ? AND b IN ({marks}) "
            "ORDER BY weight DESC, a, b LIMIT ?"
        )
        with self._db.reading() as db:
            found = db.execute(sql, (kind, *keys, kind, *keys, _LINKS_AT_MOST))
            return [Link(*row) for row in found]

    def forget(
        self,
        keys: Sequence[int],
        at: int,
        *,
        purge: bool = True,
        only_here: bool = False,
        hold: str = "",
    ) -> list[str]:
        with self._db.writing() as db:
            for key in keys if hold else ():
                hold_memory(db, key, at, hold)
            outgoing.forgetting(db, keys, only_here=only_here or bool(hold))
            gone = [one for key in keys if (one := forget_one(db, key, at)) is not None]
            if not hold:  # else backups keep it as long as the store holds it
                db.executemany(
                    "INSERT OR IGNORE INTO unreached VALUES (?)",
                    [(one,) for names, _ in gone for one in names],
                )
            if gone and purge:
                # Deleted entries stay in the index's segments until they are merged.
                purge_words(db)
        self.counted(-sum(not derived for _, derived in gone))
        self.told()
        return [rows.public_id(names[0]) for names, _ in gone]

    def leave(self, keys: Sequence[int], session: str) -> list[int]:
        with self._db.writing() as db:
            return [key for key in keys if belonging.leave(db, key, session)]

    def in_other_sessions(self, keys: Sequence[int], session: str) -> list[int]:
        with self._db.reading() as db:
            return belonging.in_others(db, keys, session)

    def lineage(self, session: str) -> frozenset[str]:
        with self._db.reading() as db:
            return frozenset((session, *belonging.parents(db, session)) if session else ())

    def aliases(self, keys: Sequence[int]) -> dict[int, list[str]]:
        sql = (
            "SELECT key, id FROM aliases WHERE key IN (SELECT value FROM json_each(?)) ORDER BY id"
        )
        found: dict[int, list[str]] = {}
        with self._db.reading() as db:
            for key, other in db.execute(sql, (json.dumps(list(keys)),)):
                found.setdefault(key, []).append(rows.public_id(other))
        return found

    def mend(self, limit: int) -> tuple[int, Sequence[int]]:
        with self._db.writing() as db:
            looked_at, gone = belonging.mend(db, limit)
        self.counted(-len(gone))
        return looked_at, gone

    def purge(self) -> None:
        with self._db.writing() as db:
            purge_words(db)

    def unreached(self) -> list[Gone]:
        sql = "SELECT id, at FROM unreached JOIN tombstones USING (id)"
        with self._db.reading() as db:
            return [Gone(bytes(row[0]), row[1]) for row in db.execute(sql)]

    def unreached_count(self) -> int:
        sql = "(SELECT 1 FROM unreached LIMIT 1000)"  # that it is much is all that anybody asks
        with self._db.reading() as db:
            return count(db, sql)

    def scrub(self) -> None:
        self.purge()
        # The log still holds pages as they were before: it has to be emptied, not just copied.
        patience = time.monotonic() + _LOG_SECONDS
        while not self._db.checkpoint():
            if time.monotonic() > patience:
                raise Busy("the store's log is being read: what was forgotten leaves it later")
            time.sleep(0.05)

    def reached(self, gone: Sequence[Gone]) -> None:
        with self._db.writing() as db:
            db.executemany("DELETE FROM unreached WHERE id = ?", [(g.identity,) for g in gone])

    def after(self, key: int, limit: int) -> list[Memory]:
        return self._select(
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?", [key, limit]
        )

    def pin(self, key: int, pinned: bool) -> None:
        with self._db.writing() as db:
            db.execute("UPDATE memories SET pinned = ? WHERE key = ?", (int(pinned), key))
            outgoing.pinned(db, key, pinned)
        self.told()

    def supersedes(self, keys: Sequence[int]) -> dict[int, list[str]]:
        sql = "SELECT successor, id FROM memories WHERE successor IN (SELECT value FROM json_each(?)) ORDER BY key"
        found: dict[int, list[str]] = {}
        with self._db.reading() as db:
            for key, old in db.execute(sql, (json.dumps(list(keys)),)):
                found.setdefault(key, []).append(rows.public_id(old))
        return found

    def carry_over(self, carried: Sequence[Carried]) -> None:
        with self._db.writing() as db:
            for one in carried:
                _carry_over(db, one)

    def adopt_salt(self, salt: bytes) -> None:
        with self._db.writing() as db:
            if count(db, "memories") == 0:
                db.execute("UPDATE meta SET value = ? WHERE name = 'salt'", (salt,))
                self._salt = salt

    def latest(self) -> int:
        return self._latest()

    def entries(self, after: int, limit: int) -> EntryPage:
        with self._db.reading() as db:
            return packing.entries_behind(db, after, limit)

    def renew(self, limit: int) -> list[Renewed]:
        with self._db.reading() as db:
            if not entries.outdated(db, 1):
                return []  # nearly always: nobody has to wait for a writer that writes nothing
        with self._db.writing() as db:
            return entries.renew(db, limit)

    def pending(self, after: int = 0) -> list[int]:
        # CROSS: from those that wait to their memories, never through all memories to those that wait.
        sql = (
            "SELECT p.key FROM pending_vectors AS p CROSS JOIN memories AS m USING (key) "
            "WHERE p.key > ? ORDER BY "
            "EXISTS (SELECT 1 FROM memories AS n WHERE n.project = m.project AND n.at >= ?) DESC, "
            "m.at DESC, m.key DESC"
        )
        with self._db.reading() as db:
            last = scalar(db, "SELECT coalesce(max(at), 0) FROM memories")
            return [row[0] for row in db.execute(sql, (after, int(str(last)) - _LATELY))]

    def unembedded(self, keys: Sequence[int]) -> Iterator[Unembedded]:
        sql = (
            "SELECT m.key, m.text, m.role, coalesce(t.flags, 0) & ?, m.teller FROM memories AS m "
            "LEFT JOIN traits AS t USING (key) WHERE m.key = ?"
        )
        for key in keys:
            # A view for each: embedding takes its time, and an old view keeps the log from shrinking.
            with self._db.reading() as db:
                row = db.execute(sql, (WISH, key), can_cache=False).fetchone()
            if row is not None:  # else it was forgotten meanwhile
                yield Unembedded(row[0], row[1], row[2], bool(row[3]), row[4] is not None)

    def said_before(self, key: int) -> Unembedded | None:
        sql = "SELECT session, at FROM memories WHERE key = ? AND session <> ''"
        with self._db.reading() as db:
            found = db.execute(sql, (key,)).fetchall()
            last = [k for s, at in found for k in belonging.before(db, str(s), (at, key), 1)]
        return next(self.unembedded(last), None)

    def pending_count(self) -> int:
        with self._db.reading() as db:
            return count(db, "pending_vectors")

    def count(self) -> int:
        return self._count

    def is_shared(self) -> bool:
        """Whether this store belongs to any circle."""
        with self._db.reading() as db:
            return bool(memberships(db))

    def members(self, *, untrusted: bool = False) -> list[str]:
        if untrusted:
            return list(self._untrusted())
        with self._db.reading() as db:
            return _members(db, untrusted=False)

    def private_projects(self) -> list[str]:
        return list(self._private())

    def set_private(self, project: str, private: bool) -> None:
        with self._db.writing() as db:
            number = project_id(db, project)
            db.execute("UPDATE projects SET private = ? WHERE id = ?", (private, number))

    def withdraw(self, projects: Sequence[str]) -> None:
        with self._db.writing() as db:
            outgoing.withdraw(db, projects)
        self.told()

    def projects(self) -> list[str]:
        with self._db.reading() as db:
            return [row[0] for row in db.execute("SELECT key FROM projects ORDER BY key")]

    def _derived_early(self, turn: CleanTurn) -> Traits | None:
        """What follows from a new and long text, before others have to wait for who writes."""
        if len(turn.text) <= _LONG:
            return None
        with self._db.reading() as db:
            if db.execute("SELECT 1 FROM memories WHERE id = ?", (turn.identity,)).fetchone():
                return None
        return traits_of(turn.text, turn.role, turn.meta)

    def counted(self, more: int) -> None:
        """So many more were said; fewer where it is negative."""
        with self._counting:
            self._count += more

    def _placed(self, where: str, values: Sequence[object], order: str, limit: int) -> list[Placed]:
        # The length of a value is in its row's header: nothing long is read for it.
        sql = (
            f"SELECT m.key, m.at, octet_length(m.text) + octet_length(m.cue) FROM {rows.SOURCE} "
            f"WHERE {where} ORDER BY {order} LIMIT ?"
        )
        with self._db.reading() as db:
            return [Placed(*row) for row in db.execute(sql, (*values, limit))]

    def _pairs(
        self, column: str, wanted: Sequence[object], table: str = "memories"
    ) -> Iterator[tuple[int, bytes]]:
        """Key and identity of the memories that have one of these values there."""
        with self._db.reading() as db:
            for part in _parts(wanted):
                marks = ", ".join("?" * len(part))
                sql = f"SELECT key, id FROM {table} WHERE {column} IN ({marks})"
                yield from db.execute(sql, tuple(part))

    def _select(
        self, tail: str, values: Sequence[object], longest: int | None = None
    ) -> list[Memory]:
        columns = rows.columns(longest)
        sql = f"SELECT {columns} FROM {rows.SOURCE} {tail}"
        with self._db.reading() as db:
            return [rows.memory(row) for row in db.execute(sql, tuple(values))]

    def _select_in(
        self, column: str, wanted: Sequence[object], longest: int | None
    ) -> list[Memory]:
        found: list[Memory] = []
        for part in _parts(wanted):
            tail = f"WHERE {column} IN ({', '.join('?' * len(part))})"
            found += self._select(tail, part, longest)
        return found


def _parts(wanted: Sequence[object]) -> Iterator[Sequence[object]]:
    """As many as one statement takes."""
    for start in range(0, len(wanted), _AT_ONCE):
        yield wanted[start : start + _AT_ONCE]


def _new(stored: Sequence[Stored]) -> list[int]:
    return [one.key for one in stored if one.status == "inserted" and one.key is not None]


def _add_one(db: apsw.Connection, turn: CleanTurn, early: Traits | None = None) -> Stored:
    public = rows.public_id(turn.identity)
    known = belonging.known(db, turn)
    if known is not None:
        belonging.join(db, known, turn)
        ident = scalar(db, "SELECT id FROM memories WHERE key = ?", (known,))
        assert isinstance(ident, bytes)  # noqa: S101 - the schema says so
        return Stored("duplicate", rows.public_id(ident), known)
    if belonging.is_forgotten(db, turn):
        return Stored("forgotten", public, None)
    key = insert(db, turn, early)
    belonging.join(db, key, turn)
    return Stored("inserted", public, key)


def _private(db: apsw.Connection) -> list[str]:
    found = db.execute("SELECT key FROM projects WHERE private ORDER BY key")
    return [str(row[0]) for row in found]


def _members(db: apsw.Connection, *, untrusted: bool) -> list[str]:
    sql = f"SELECT DISTINCT {rows.MEMBER} WHERE t.member <> c.member"
    if untrusted:
        sql += " AND (t.circle, t.member) NOT IN (SELECT circle, member FROM circle_trust)"
    return sorted(str(row[0]) for row in db.execute(sql))


def _carry_over(db: apsw.Connection, one: Carried) -> None:
    if one.pinned:
        db.execute("UPDATE memories SET pinned = 1 WHERE key = ?", (one.key,))
        outgoing.pinned(db, one.key, True)
    if one.valid_to is not None:
        db.execute("UPDATE memories SET valid_to = ? WHERE key = ?", (one.valid_to, one.key))
    for old in one.supersedes:
        sql = "SELECT o.key, n.at FROM memories AS o, memories AS n WHERE o.id = ? AND n.key = ? AND o.key <> n.key AND o.successor IS NULL"
        row = db.execute(sql, (rows.identity(old), one.key)).fetchone()
        if row is not None:
            sql = (
                "UPDATE memories SET successor = ?, valid_to = coalesce(valid_to, ?) WHERE key = ?"
            )
            db.execute(sql, (one.key, row[1], row[0]))
            _link(db, row[0], one.key, "contradicts", 1.0, row[1])
            outgoing.superseded(db, row[0], one.key)


def _link(db: apsw.Connection, a: int, b: int, kind: str, step: float, at: int) -> int:
    """Link the two, or more strongly; not one that was forgotten meanwhile."""
    db.execute(
        "INSERT INTO links SELECT x.key, y.key, ?, ?, ? FROM memories AS x, memories AS y "
        "WHERE x.key = ? AND y.key = ? ON CONFLICT (a, b, kind) "
        "DO UPDATE SET weight = min(1.0, weight + excluded.weight), at = excluded.at",
        (kind, step, at, a, b),
    )
    return db.changes()
