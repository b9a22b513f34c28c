"""`WordVectorLog` in the encrypted file. A word leaves it with the last memory that holds it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import apsw

from iai_mcp.adapters.sqlite import words as index
from iai_mcp.adapters.sqlite.database import Database, scalar
from iai_mcp.domain.words import indexed, may_mean, words
from iai_mcp.ports.vectors import Coded
from iai_mcp.ports.word_vectors import Unread

_READ_OF_EACH = 20_000  # characters of a memory


class SqliteWordVectors:
    """The words of one model's space."""

    def __init__(self, database: Database, model: str) -> None:
        """The model's space is there already: its turns come first."""
        self._db = database
        with database.reading() as db:
            self._space = scalar(db, "SELECT id FROM spaces WHERE model = ?", (model,))
        self._cursor = f"words_read_{self._space}"

    def page(self, after: int, limit: int) -> list[Coded]:
        sql = "SELECT id, scale, code FROM word_vectors WHERE id > ? AND space = ? ORDER BY id LIMIT ?"
        with self._db.reading() as db:
            return [Coded(*row) for row in db.execute(sql, (after, self._space, limit))]

    def unread(self, limit: int, often: int) -> Unread:
        sql = "SELECT key, substr(text, 1, ?) FROM memories WHERE key > ? ORDER BY key LIMIT ?"
        with self._db.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE name = ?", (self._cursor,)).fetchone()
            page = db.execute(sql, (_READ_OF_EACH, row[0] if row else 0, limit)).fetchall()
            said = _said(db, (str(text) for _, text in page))
            new = {
                token: word
                for token, word in said.items()
                if not self._known(db, token) and _count(db, token) >= often
            }
        return Unread(new, int(page[-1][0]) if page else None)  # type: ignore[arg-type] # the schema says so

    def put(self, words: Mapping[str, Coded], read_to: int) -> dict[str, int]:
        sql = "INSERT OR IGNORE INTO word_vectors (space, token, scale, code) VALUES (?, ?, ?, ?)"
        kept: dict[str, int] = {}
        with self._db.writing(repeatable=True) as db:
            for token, one in words.items():
                db.execute(sql, (self._space, token, one.scale, one.code))
                if db.changes():
                    kept[token] = db.last_insert_rowid()
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (self._cursor, read_to))
        return kept

    def pair(self, pairs: Sequence[tuple[int, int, float]]) -> None:
        sql = (
            "INSERT OR IGNORE INTO word_pairs SELECT ?1, ?2, ?3 "
            "WHERE EXISTS (SELECT 1 FROM word_vectors WHERE id = ?1) "
            "AND EXISTS (SELECT 1 FROM word_vectors WHERE id = ?2)"
        )
        with self._db.writing(repeatable=True) as db:
            for a, b, cosine in pairs:
                db.executemany(sql, [(a, b, cosine), (b, a, cosine)])

    def pairs(self, words: Sequence[str], least: float) -> list[tuple[str, str, float]]:
        sql = (
            "SELECT own.token, other.token, cosine FROM word_vectors AS own "
            "JOIN word_pairs ON a = own.id JOIN word_vectors AS other ON other.id = b "
            f"WHERE own.space = ? AND cosine >= ? AND own.token IN ({_marks(words)}) "
            "ORDER BY cosine DESC, b"
        )
        with self._db.reading() as db:
            return db.execute(sql, (self._space, least, *words)).fetchall()  # type: ignore[return-value] # the schema says so

    def missing(self, terms: Sequence[str]) -> dict[str, str]:
        with self._db.reading() as db:
            said = index.spellings(db, filter(may_mean, terms))
            return {token: term for term, token in said if not self._known(db, token)}

    def spelled(self, numbers: Sequence[int]) -> dict[int, str]:
        sql = f"SELECT id, token FROM word_vectors WHERE id IN ({_marks(numbers)})"
        with self._db.reading() as db:
            return dict(db.execute(sql, tuple(numbers)).fetchall())  # type: ignore[arg-type] # the schema says so

    def _known(self, db: apsw.Connection, token: str) -> bool:
        sql = "SELECT 1 FROM word_vectors WHERE space = ? AND token = ?"
        return db.execute(sql, (self._space, token)).fetchone() is not None


def _said(db: apsw.Connection, texts: Iterable[str]) -> dict[str, str]:
    """The words of some texts, by their token in the form that is used most."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(filter(may_mean, words(indexed(text))))
    found: dict[str, str] = {}
    for word, token in index.spellings(db, (word for word, _ in counted.most_common())):
        found.setdefault(token, word)
    return found


def _count(db: apsw.Connection, token: str) -> int:
    row = db.execute("SELECT cnt FROM word_counts WHERE term = ?", (token,)).fetchone()
    return int(row[0]) if row else 0


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
