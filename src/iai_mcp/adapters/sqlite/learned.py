"""What sleep found out, read from the encrypted file: repeats and topics."""

import json
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
    TopicSummary,
    Window,
)

# Of none of the projects that are named as JSON.
_OPEN = "coalesce(p.key, '') NOT IN (SELECT value FROM json_each(?))"

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
# Each topic with its size and its most connected memory, which stands for it.
_SIZES = """
SELECT count(*) AS size, min(n.at) AS first, max(n.at) AS last,
    (SELECT h.key FROM topic_members AS h WHERE h.window = t.window AND h.topic = t.topic
     ORDER BY h.ties DESC, h.key LIMIT 1) AS hub
FROM topic_members AS t JOIN memories AS n USING (key) WHERE t.topic IS NOT NULL
GROUP BY t.window, t.topic
"""
_LABEL = 80  # characters of that memory


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

    def members(
        self, fold: int, limit: int, not_projects: Sequence[str] = ()
    ) -> tuple[int, list[str]]:
        source = f"FROM {rows.SOURCE} JOIN folds AS f ON f.key = m.key WHERE f.fold = ? AND {_OPEN}"
        asked = (fold, json.dumps(list(not_projects)))
        with self._db.reading() as db:
            number = scalar(db, f"SELECT count(*) {source}", asked)
            sql = f"SELECT m.id {source} ORDER BY m.at DESC, m.key DESC LIMIT ?"
            ids = [rows.public_id(row[0]) for row in db.execute(sql, (*asked, limit))]
        assert isinstance(number, int)  # noqa: S101 - count(*) is a number
        return number, ids


class SqliteTopics:
    def __init__(self, database: Database) -> None:
        self._db = database

    def unassigned(self, after: int, limit: int) -> list[int]:
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

    def reopen(self, space: str) -> None:
        with self._db.writing() as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (_SPACE,)).fetchone()
            if row is None or row[0] != space:
                db.execute("UPDATE windows SET state = 'changed'")
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SPACE, space))

    def count(self, not_projects: Sequence[str] = ()) -> int:
        sql = (
            f"SELECT count(*) FROM (SELECT DISTINCT t.window, t.topic FROM {rows.SOURCE} "
            f"JOIN topic_members AS t ON t.key = m.key WHERE t.topic IS NOT NULL AND {_OPEN})"
        )
        if not not_projects:  # nearly always, and then no memory has to be looked at
            sql = "SELECT count(*) FROM (SELECT DISTINCT window, topic FROM topic_members WHERE topic IS NOT NULL)"
        with self._db.reading() as db:
            asked = (json.dumps(list(not_projects)),) if not_projects else ()
            return int(str(scalar(db, sql, asked)))

    def waiting_count(self) -> int:
        latest = "(SELECT coalesce(max(key), 0) FROM folds)"
        with self._db.reading() as db:
            return count(db, f"memories WHERE derived = 0 AND key > {latest}")

    def hubs(self, limit: int, not_projects: Sequence[str] = ()) -> list[Hub]:
        sql = (
            f"SELECT m.id, t.ties FROM {rows.SOURCE} JOIN topic_members AS t ON t.key = m.key "
            f"WHERE t.ties > 0 AND {_OPEN} ORDER BY t.ties DESC, m.key LIMIT ?"
        )
        asked = (json.dumps(list(not_projects)), limit)
        with self._db.reading() as db:
            return [Hub(rows.public_id(row[0]), row[1]) for row in db.execute(sql, asked)]

    def largest(self, limit: int, not_projects: Sequence[str]) -> list[TopicSummary]:
        sql = (
            f"SELECT m.id, substr(m.text, 1, {_LABEL}), coalesce(p.key, ''), t.size, t.first, t.last "
            f"FROM {rows.SOURCE} JOIN ({_SIZES}) AS t ON t.hub = m.key "
            f"WHERE {_OPEN} ORDER BY t.size DESC, t.last DESC LIMIT ?"
        )
        with self._db.reading() as db:
            found = db.execute(sql, (json.dumps(list(not_projects)), limit))
            return [
                TopicSummary(rows.public_id(ident), " ".join(str(label).split()), *rest)
                for ident, label, *rest in found
            ]


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
