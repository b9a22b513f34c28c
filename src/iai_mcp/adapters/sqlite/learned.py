"""What sleep found out, read from the encrypted file: repeats, topics, habits, strengths."""

import json
import uuid
from collections.abc import Sequence

import apsw
import numpy as np

from iai_mcp.adapters.sqlite import rows
from iai_mcp.adapters.sqlite.database import Database, count, scalar
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.learned import (
    Hub,
    Known,
    Said,
    Standing,
    Topic,
    Trace,
    Use,
    Used,
    Window,
    Written,
)

_Member = tuple[int, int, str, int | None, bytes]  # key, at, session, space, code

_SPACE = "sleep:topics_space"
# One of a group of repeats stands for all of them; what was superseded stands for nothing.
_MEMBERS = """
SELECT m.key, m.at, m.session, v.space, v.code
FROM topic_members AS t JOIN memories AS m USING (key)
LEFT JOIN vectors AS v USING (key) LEFT JOIN folds AS f USING (key)
WHERE t.window = ? AND m.valid_to IS NULL AND (f.fold IS NULL OR f.fold = m.key
    OR NOT EXISTS (SELECT 1 FROM folds AS o WHERE o.fold = f.fold AND o.key < m.key))
ORDER BY m.key
"""
_TOPICS = """
SELECT t.topic, m.key, m.id FROM topic_members AS t JOIN memories AS m USING (key)
WHERE t.window = ? AND t.topic IS NOT NULL ORDER BY t.topic, t.ties DESC, m.key
"""


class SqliteRepeats:
    def __init__(self, database: Database) -> None:
        self._db = database

    def unfolded(self, after: int, limit: int) -> list[Said]:
        sql = (
            f"SELECT m.key, coalesce(p.key, ''), m.role, m.text FROM {rows.SOURCE} "
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [Said(*row) for row in db.execute(sql, (after, limit))]

    def with_digest(self, digest: int) -> Known | None:
        sql = (
            "SELECT f.key, f.fold FROM folds AS f JOIN memories AS m USING (key) "
            "WHERE f.digest = ? AND m.valid_to IS NULL ORDER BY f.key LIMIT 1"
        )
        with self._db.reading() as db:
            row = db.execute(sql, (digest,)).fetchone()
        return None if row is None else Known(row[0], row[1], "")

    def with_bands(self, bands: Sequence[int], limit: int) -> list[Known]:
        marks = ", ".join("?" * len(bands))
        sql = (
            "SELECT m.key, f.fold, m.text FROM memories AS m JOIN folds AS f USING (key) "
            f"WHERE m.key IN (SELECT key FROM fold_bands WHERE band IN ({marks})) "
            "AND m.valid_to IS NULL ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [Known(*row) for row in db.execute(sql, (*bands, limit))] if bands else []

    def folds_of(self, keys: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        with self._db.reading() as db:
            for start in range(0, len(keys), 500):
                part = keys[start : start + 500]
                marks = ", ".join("?" * len(part))
                sql = f"SELECT key, fold FROM folds WHERE fold IS NOT NULL AND key IN ({marks})"
                found |= dict(db.execute(sql, tuple(part)))
        return found

    def members(self, fold: int, limit: int) -> tuple[int, list[str]]:
        with self._db.reading() as db:
            number = scalar(db, "SELECT count(*) FROM folds WHERE fold = ?", (fold,))
            sql = "SELECT m.id FROM folds JOIN memories AS m USING (key) WHERE fold = ? ORDER BY m.at DESC, m.key DESC LIMIT ?"
            ids = [rows.public_id(row[0]) for row in db.execute(sql, (fold, limit))]
        assert isinstance(number, int)  # noqa: S101 - count(*) is a number
        return number, ids


class SqliteTopics:
    def __init__(self, database: Database) -> None:
        self._db = database

    def unassigned(self, after: int, limit: int) -> list[int]:
        # What is derived is told unasked: nothing is, of what other machines say.
        sql = "SELECT key FROM memories WHERE key > ? AND derived = 0 AND teller IS NULL ORDER BY key LIMIT ?"
        with self._db.reading() as db:
            return [row[0] for row in db.execute(sql, (after, limit))]

    def changed(self) -> Window | None:
        with self._db.reading() as db:
            window = _next(db, "changed")
            if window is None:
                return None
            found: list[_Member] = db.execute(_MEMBERS, (window,)).fetchall()  # type: ignore[assignment] # the schema says so
        return Window(
            window,
            tuple(row[0] for row in found),
            tuple(row[1] for row in found),
            tuple(row[2] for row in found),
            _matrix(found),
        )

    def opening_words(self, keys: Sequence[int], letters: int) -> list[str]:
        marks = ", ".join("?" * len(keys))
        sql = f"SELECT key, substr(text, 1, ?) FROM memories WHERE key IN ({marks})"
        with self._db.reading() as db:
            found = dict(db.execute(sql, (letters, *keys)))
        return [str(found.get(key, "")) for key in keys]

    def grouped(self) -> tuple[int, list[Topic]] | None:
        with self._db.reading() as db:
            window = _next(db, "grouped")
            if window is None:
                return None
            members: dict[int, list[tuple[int, str]]] = {}
            for topic, key, identity in db.execute(_TOPICS, (window,)):
                members.setdefault(topic, []).append((key, rows.public_id(identity)))
        topics = [
            Topic(tuple(key for key, _ in one), tuple(public for _, public in one))
            for one in members.values()
        ]
        return window, topics

    def standing(self, identities: Sequence[bytes]) -> frozenset[bytes]:
        marks = ", ".join("?" * len(identities))
        sql = f"SELECT id FROM memories WHERE id IN ({marks}) UNION SELECT id FROM tombstones WHERE id IN ({marks})"
        with self._db.reading() as db:
            return frozenset(bytes(row[0]) for row in db.execute(sql, (*identities, *identities)))

    def reopen(self, space: str) -> None:
        with self._db.writing() as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (_SPACE,)).fetchone()
            if row is None or row[0] != space:
                db.execute("UPDATE windows SET state = 'changed'")
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SPACE, space))

    def count(self) -> int:
        with self._db.reading() as db:
            return count(
                db,
                "(SELECT DISTINCT window, topic FROM topic_members WHERE topic IS NOT NULL)",
            )

    def derived_count(self) -> int:
        with self._db.reading() as db:
            return count(db, "derivations")

    def waiting_count(self) -> int:
        latest = "(SELECT coalesce(max(key), 0) FROM folds)"
        with self._db.reading() as db:
            return count(db, f"memories WHERE derived = 0 AND key > {latest}")

    def hubs(self, limit: int) -> list[Hub]:
        sql = (
            "SELECT m.id, t.ties FROM topic_members AS t JOIN memories AS m USING (key) "
            "WHERE t.ties > 0 ORDER BY t.ties DESC, m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [Hub(rows.public_id(row[0]), row[1]) for row in db.execute(sql, (limit,))]

    def largest(self, limit: int, not_projects: Sequence[str]) -> list[Written]:
        sql = (
            "SELECT m.id, m.cue, coalesce(p.key, ''), count(*), m.valid_from, m.at "
            f"FROM {rows.SOURCE} JOIN derivations AS d ON d.key = m.key AND d.kind = 'topic' "
            "JOIN sources AS s ON s.derived = m.key "
            "WHERE coalesce(p.key, '') NOT IN (SELECT value FROM json_each(?)) "
            "GROUP BY m.key ORDER BY count(*) DESC, m.at DESC LIMIT ?"
        )
        with self._db.reading() as db:
            found = db.execute(sql, (json.dumps(list(not_projects)), limit))
            return [Written(str(uuid.UUID(bytes=ident)), *rest) for ident, *rest in found]

    def derived_of(self, keys: Sequence[int]) -> dict[int, list[int]]:
        marks = ", ".join("?" * len(keys))
        sql = f"SELECT derived, source FROM sources WHERE source IN ({marks})"
        found: dict[int, set[int]] = {}
        with self._db.reading() as db:
            for derived, source in db.execute(sql, tuple(keys)):
                found.setdefault(derived, set()).add(source)
        return {derived: [key for key in keys if key in of] for derived, of in found.items()}


def _next(db: apsw.Connection, state: str) -> int | None:
    sql = "SELECT id FROM windows WHERE state = ? ORDER BY id LIMIT 1"
    row = db.execute(sql, (state,)).fetchone()
    return None if row is None else int(row[0])


def _matrix(found: Sequence[_Member]) -> Matrix | None:
    """The vectors as rows of unit length; None where one is missing or of another space."""
    if len({row[3] for row in found}) != 1 or found[0][3] is None:
        return None
    codes = np.frombuffer(b"".join(row[4] for row in found), dtype=np.int8)
    vectors = codes.reshape(len(found), -1).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Matrix = vectors / np.maximum(lengths, 1e-6)
    return unit


class SqliteStrengths:
    def __init__(self, database: Database) -> None:
        self._db = database

    def note(self, uses: Sequence[Use]) -> None:
        with self._db.writing() as db:
            for use in uses:
                db.execute(
                    "INSERT INTO uses (key, at, weight) SELECT key, ?, ? FROM memories WHERE key = ?",
                    (use.at, use.weight, use.key),
                )
                db.execute("UPDATE strengths SET strength = 1.0 WHERE key = ?", (use.key,))

    def of(self, keys: Sequence[int]) -> dict[int, float]:
        # One statement for any number of keys: it is prepared once.
        sql = "SELECT key, strength FROM strengths WHERE key IN (SELECT value FROM json_each(?))"
        with self._db.reading() as db:
            return dict(db.execute(sql, (json.dumps(list(keys)),)))

    def used(self, limit: int) -> list[Used]:
        sql = (
            "SELECT u.key, m.at, s.stability, s.difficulty, s.used_at, u.id, u.at, u.weight "
            "FROM uses AS u JOIN memories AS m USING (key) LEFT JOIN strengths AS s USING (key) "
            "WHERE u.key IN (SELECT DISTINCT key FROM uses ORDER BY key LIMIT ?) "
            "ORDER BY u.key, u.at, u.id"
        )
        found: dict[int, Used] = {}
        with self._db.reading() as db:
            for key, said, stability, difficulty, used_at, number, at, weight in db.execute(
                sql, (limit,)
            ):
                known = found.get(key) or Used(
                    key, said, _trace(stability, difficulty, used_at), ()
                )
                uses = (*known.uses, (number, Use(key, at, weight)))
                found[key] = Used(key, said, known.trace, uses)
        return list(found.values())

    def standing(self, after: int, limit: int) -> list[Standing]:
        sql = (
            "SELECT m.key, m.at, m.pinned, s.stability, s.difficulty, s.used_at, s.strength "
            "FROM memories AS m LEFT JOIN strengths AS s USING (key) "
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [
                Standing(key, at, bool(pinned), _trace(stability, difficulty, used_at), strength)
                for key, at, pinned, stability, difficulty, used_at, strength in db.execute(
                    sql, (after, limit)
                )
            ]

    def weakest(self, limit: int, not_projects: Sequence[str]) -> list[tuple[int, float]]:
        sql = (
            f"SELECT m.key, s.strength FROM {rows.SOURCE} JOIN strengths AS s ON s.key = m.key "
            "WHERE m.derived = 0 AND m.pinned = 0 AND m.valid_to IS NULL "
            "AND coalesce(p.key, '') NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY s.strength, m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return list(db.execute(sql, (json.dumps(list(not_projects)), limit)))

    def levels(self) -> list[int]:
        sql = "SELECT min(cast(strength * 10 AS INTEGER), 9), count(*) FROM strengths GROUP BY 1"
        with self._db.reading() as db:
            found = dict(db.execute(sql))
        return [found.get(level, 0) for level in range(10)]


def _trace(stability: float | None, difficulty: float | None, used_at: int | None) -> Trace | None:
    if stability is None or difficulty is None or used_at is None:
        return None
    return Trace(stability, difficulty, used_at)
