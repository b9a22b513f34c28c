"""`Topics` in the encrypted file."""

from collections.abc import Sequence

import apsw
import numpy as np

from iai_mcp.adapters.sqlite import rows
from iai_mcp.adapters.sqlite.database import Database, count
from iai_mcp.ports.learned import Hub, Topic, Window
from iai_mcp.ports.vectors import Matrix

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


class SqliteTopics:
    def __init__(self, database: Database) -> None:
        self._db = database

    def unassigned(self, after: int, limit: int) -> list[int]:
        sql = "SELECT key FROM memories WHERE key > ? AND derived = 0 ORDER BY key LIMIT ?"
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
