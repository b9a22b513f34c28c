"""One memory of several sessions: by which names it is known, and to whom it belongs.

A host repeats the turns of a session in what was forked or resumed from it. Such a turn is stored
once. `aliases` are the other identities that lead to it; `further_sessions` the further sessions it belongs
to, and, with `gone`, those that it was taken out of, so that it does not come back to them.
"""

import json
from collections.abc import Iterable, Sequence

import apsw

from iai_mcp.adapters.sqlite import shared_tables
from iai_mcp.domain.memories import CleanTurn

# Up to `before_uids` memories are known by their own session's names only; those up to `unmended`
# were not yet looked at for repetitions.
TABLES = """
CREATE TABLE IF NOT EXISTS aliases (
    id BLOB PRIMARY KEY,
    key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    by_uid INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aliases_by_key ON aliases (key);
CREATE TABLE IF NOT EXISTS further_sessions (
    key INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
    session TEXT NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (key, session)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS further_by_session ON further_sessions (session, key) WHERE gone = 0;
INSERT OR IGNORE INTO meta SELECT 'before_uids', coalesce(max(key), 0) FROM memories;
INSERT OR IGNORE INTO meta SELECT 'unmended', coalesce(max(key), 0) FROM memories;
"""

# A condition on `m` with the session bound twice.
IN_SESSION = (
    "(m.session = ? OR m.key IN (SELECT key FROM further_sessions WHERE session = ? AND gone = 0))"
)

# Two short ways through the indexes: one condition for both would read and sort all of a session.
# Summaries are no turns of it.
_BESIDE = """
SELECT key FROM (
    SELECT * FROM (SELECT key, at FROM memories WHERE session = :session
        AND role <> 'summary' AND (at, key) {which} (:at, :key) ORDER BY at {order}, key {order} LIMIT :count)
    UNION ALL
    SELECT * FROM (SELECT m.key, m.at FROM further_sessions AS f JOIN memories AS m USING (key)
        WHERE f.session = :session AND f.gone = 0 AND m.role <> 'summary'
        AND (m.at, m.key) {which} (:at, :key) ORDER BY m.at {order}, m.key {order} LIMIT :count)
) ORDER BY at {order}, key {order} LIMIT :count
"""
_BEFORE = _BESIDE.format(which="<", order="DESC")
_AFTER = _BESIDE.format(which=">", order="ASC")

# The same words of the same role and host at the same millisecond: no two people say that, and a
# host says it twice only where it repeats itself.
_SAME_TURN = """
SELECT o.key FROM memories AS o JOIN memories AS m ON m.key = ?
WHERE o.at = m.at AND o.key < m.key AND o.ts = m.ts AND o.host = m.host AND o.role = m.role
    AND o.text = m.text AND o.project IS m.project AND o.derived = 0
    AND o.session <> m.session AND m.session <> '' AND o.session <> ''
    AND NOT EXISTS (SELECT 1 FROM further_sessions WHERE key = o.key AND session = m.session)
ORDER BY o.key LIMIT 1
"""
_STORED_BEFORE = """
SELECT m.key FROM memories AS m
WHERE m.at = ? AND m.ts = ? AND m.host = ? AND m.role = ? AND m.text = ? AND m.derived = 0
    AND m.key <= (SELECT value FROM meta WHERE name = 'before_uids')
    AND m.session NOT IN ('', ?)
    AND NOT EXISTS (SELECT 1 FROM aliases WHERE key = m.key AND by_uid)
    AND NOT EXISTS (SELECT 1 FROM further_sessions WHERE key = m.key AND session = ?)
ORDER BY m.key LIMIT 1
"""
# What is kept takes over what its copy had. Where both say something, the kept one's word holds.
_TAKEN_OVER = (
    "UPDATE OR IGNORE aliases SET key = :kept WHERE key = :copy",
    "UPDATE OR IGNORE further_sessions SET key = :kept WHERE key = :copy",
    "UPDATE OR IGNORE links SET a = :kept WHERE a = :copy AND b <> :kept",
    "UPDATE OR IGNORE links SET b = :kept WHERE b = :copy AND a <> :kept",
    "UPDATE memories SET successor = :kept WHERE successor = :copy AND key <> :kept",
    "UPDATE memories SET pinned = 1 WHERE key = :kept"
    " AND (SELECT pinned FROM memories WHERE key = :copy)",
    "UPDATE memories SET (valid_to, successor) ="
    " (SELECT valid_to, nullif(successor, :kept) FROM memories WHERE key = :copy)"
    " WHERE key = :kept AND valid_to IS NULL"
    " AND (SELECT valid_to FROM memories WHERE key = :copy) IS NOT NULL",
    "DELETE FROM words WHERE rowid = :copy",
    "DELETE FROM memories WHERE key = :copy",
)


def known(db: apsw.Connection, turn: CleanTurn) -> int | None:
    """The key of the memory that the turn is already, by whatever name."""
    for identity in (turn.identity, *turn.aliases):
        key = by_identity(db, identity)
        if key is not None:
            return key
    if turn.everywhere:  # another device of a circle may have told it
        row = db.execute("SELECT key FROM memories WHERE everywhere = ?", (turn.everywhere,))
        if (found := row.fetchone()) is not None:
            return int(found[0])
    return _stored_before(db, turn) if turn.by_uid else None


def by_identity(db: apsw.Connection, identity: bytes) -> int | None:
    row = db.execute("SELECT key FROM memories WHERE id = ?", (identity,)).fetchone()
    row = row or db.execute("SELECT key FROM aliases WHERE id = ?", (identity,)).fetchone()
    return None if row is None else int(row[0])


def is_forgotten(db: apsw.Connection, turn: CleanTurn) -> bool:
    """Whether it was forgotten under one of its names; then it is, under all of them."""
    for identity in (turn.identity, *turn.aliases):
        row = db.execute("SELECT at FROM tombstones WHERE id = ?", (identity,)).fetchone()
        if row is not None:
            db.executemany(
                "INSERT OR IGNORE INTO tombstones VALUES (?, ?)",
                [(other, row[0]) for other in (turn.identity, *turn.aliases)],
            )
            return True
    return bool(turn.everywhere) and shared_tables.is_forgotten(db, turn.everywhere)


def join(db: apsw.Connection, key: int, turn: CleanTurn) -> None:
    """The memory is known by the turn's names from now on, and belongs to its sessions."""
    if turn.by_uid or turn.aliases:
        names = ((turn.identity, turn.by_uid), *((alias, False) for alias in turn.aliases))
        db.executemany(
            "INSERT OR IGNORE INTO aliases SELECT :id, :key, :by_uid"
            " WHERE NOT EXISTS (SELECT 1 FROM memories WHERE id = :id)",
            [{"id": name, "key": key, "by_uid": by_uid} for name, by_uid in names],
        )
    share(db, key, (turn.provenance.session_id, *turn.also_in))


def share(db: apsw.Connection, key: int, sessions: Iterable[str]) -> None:
    """The memory belongs to these sessions, too, unless it was taken out of one."""
    db.executemany(
        "INSERT OR IGNORE INTO further_sessions SELECT key, :session, 0 FROM memories"
        " WHERE key = :key AND session NOT IN ('', :session)",
        [{"key": key, "session": session} for session in sessions if session],
    )


def before(db: apsw.Connection, session: str, place: tuple[object, int], count: int) -> list[int]:
    """The keys of the session's turns before that time and key, the nearest first."""
    return _beside(db, _BEFORE, session, place, count)


def after(db: apsw.Connection, session: str, place: tuple[object, int], count: int) -> list[int]:
    """The same behind it."""
    return _beside(db, _AFTER, session, place, count)


def _beside(
    db: apsw.Connection, sql: str, session: str, place: tuple[object, int], count: int
) -> list[int]:
    bound = {"session": session, "at": place[0], "key": place[1], "count": count}
    return [row[0] for row in db.execute(sql, bound)]


def in_others(db: apsw.Connection, keys: Sequence[int], session: str) -> list[int]:
    """Those of `keys` that belong to a session beside that one, ascending."""
    sql = (
        "SELECT key FROM memories WHERE key IN (SELECT value FROM json_each(?1)) AND "
        "(session <> ?2 OR key IN (SELECT key FROM further_sessions WHERE session <> ?2 AND gone = 0)) "
        "ORDER BY key"
    )
    return [row[0] for row in db.execute(sql, (json.dumps(list(keys)), session))]


def parents(db: apsw.Connection, session: str) -> list[str]:
    """The sessions that had turns first which this one repeats."""
    sql = (
        "SELECT DISTINCT m.session FROM further_sessions AS s JOIN memories AS m USING (key)"
        " WHERE s.session = ? AND s.gone = 0"
    )
    return [str(row[0]) for row in db.execute(sql, (session,))]


def leave(db: apsw.Connection, key: int, session: str) -> bool:
    """Take the memory out of one of its sessions. Where it belongs to no other, it stays."""
    row = db.execute("SELECT session FROM memories WHERE key = ?", (key,)).fetchone()
    others = db.execute(
        "SELECT session FROM further_sessions WHERE key = ? AND session <> ? AND gone = 0 ORDER BY session",
        (key, session),
    ).fetchall()
    if row is None or (row[0] == session and not others):
        return False
    first = str(others[0][0] if row[0] == session else row[0])
    db.execute("UPDATE memories SET session = ? WHERE key = ?", (first, key))
    db.execute("DELETE FROM further_sessions WHERE key = ? AND session = ?", (key, first))
    db.execute("INSERT OR REPLACE INTO further_sessions VALUES (?, ?, 1)", (key, session))
    return True


def names_of(db: apsw.Connection, key: int) -> list[bytes]:
    """The other identities that lead to the memory."""
    found = db.execute("SELECT id FROM aliases WHERE key = ? ORDER BY id", (key,))
    return [bytes(row[0]) for row in found]


def mend(db: apsw.Connection, limit: int) -> tuple[int, Sequence[int]]:
    """Look at the next `limit` memories that an older version stored, the latest first, and make
    those one that are the same turn; how many were looked at, and the keys that are gone.
    """
    page = db.execute(
        "SELECT key, ts LIKE '%.___%' AND host <> '' AND derived = 0 FROM memories"
        " WHERE key <= (SELECT value FROM meta WHERE name = 'unmended') ORDER BY key DESC LIMIT ?",
        (limit,),
    ).fetchall()
    gone: list[int] = []
    last = 0
    for key, is_told_exactly in page:
        assert isinstance(key, int)  # noqa: S101 - the schema says so
        last = key
        same = db.execute(_SAME_TURN, (key,)).fetchone() if is_told_exactly else None
        if same is not None:
            _make_one(db, int(same[0]), key)
            gone.append(key)
    if page:
        db.execute("UPDATE meta SET value = ? WHERE name = 'unmended'", (last - 1,))
    return len(page), gone


def _make_one(db: apsw.Connection, kept: int, copy: int) -> None:
    """`kept` is from now on what `copy` was."""
    ((identity, session),) = db.execute(
        "SELECT id, session FROM memories WHERE key = ?", (copy,)
    ).fetchall()
    for sql in _TAKEN_OVER:
        db.execute(sql, {"kept": kept, "copy": copy})
    db.execute("INSERT OR IGNORE INTO aliases VALUES (?, ?, 0)", (identity, kept))
    share(db, kept, [str(session)])


def _stored_before(db: apsw.Connection, turn: CleanTurn) -> int | None:
    session = turn.provenance.session_id
    whence = (turn.at.micros, turn.at.text, turn.provenance.host, turn.role, turn.text)
    if not session or "." not in turn.at.text:
        return None
    row = db.execute(_STORED_BEFORE, (*whence, session, session)).fetchone()
    return None if row is None else int(row[0])
