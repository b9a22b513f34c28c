"""What the store's words mean, so that one can stand in for another: `obsolete` for `outdated`.

Only numbers and vectors are held in memory. The words themselves stay in the file, and leave it with
the last memory that holds them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import apsw
import numpy as np

from iai_mcp.adapters.sqlite import words
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.vector_index import VectorIndex, quantise
from iai_mcp.domain.words import indexed
from iai_mcp.domain.words import words as words_of
from iai_mcp.ports.vectors import Matrix, Unmeant

_OFTEN = 3  # a word said less often is a name or a slip
_MOST = 16_384  # words: their vectors weigh seven megabytes
_READ_OF_EACH = 20_000  # characters of a memory
_NEAR, _NEIGHBOURS = 0.5, 24  # the least cosine of a pair that is kept, and how many of a new word
_LOOKED_AT = 8  # of them, for one word of a cue
_SHORTEST, _LONGEST = 3, 24  # letters


class SqliteWordVectors:
    """The words of one model's space."""

    def __init__(self, database: Database, space: int, dimensions: int) -> None:
        self._db = database
        self._space = space
        self._index = VectorIndex(dimensions)

    def load(self) -> None:
        sql = "SELECT id, scale, code FROM word_vectors WHERE space = ? ORDER BY id"
        with self._db.reading() as db:
            rows: list[tuple[int, float, bytes]] = db.execute(sql, (self._space,)).fetchall()  # type: ignore[assignment] # the schema says so
        if not rows:
            return
        codes = np.frombuffer(b"".join(row[2] for row in rows), np.int8)
        scales = np.array([row[1] for row in rows], np.float32)
        self._index.add([row[0] for row in rows], codes.reshape(len(rows), -1), scales)

    def unmeant(self, page: int) -> Unmeant:
        """The words of the next memories that are said often and have no vector yet."""
        with self._db.reading() as db:
            read = _read_to(db, self._space)
            sql = "SELECT key, substr(text, 1, ?) FROM memories WHERE key > ? ORDER BY key LIMIT ?"
            rows: list[tuple[int, str]] = db.execute(sql, (_READ_OF_EACH, read, page)).fetchall()  # type: ignore[assignment] # the schema says so
            if not rows or len(self._index) >= _MOST:
                return Unmeant((), (), None)
            said = _surfaces(db, (text for _, text in rows))
            new = {token: word for token, word in said.items() if self._is_new(db, token)}
        return Unmeant(tuple(new), tuple(new.values()), rows[-1][0])

    def put(self, found: Unmeant, vectors: Matrix) -> None:
        """Keep the vectors of what `unmeant` gave, and that those memories were read."""
        with self._db.writing(repeatable=True) as db:
            if found.tokens:
                self._add(db, found.tokens, vectors)
            db.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_cursor(self._space), found.read_to)
            )

    def unknown(self, terms: Sequence[str]) -> dict[str, str]:
        """Those of a cue's terms that have no vector, by their token."""
        if not len(self._index):
            return {}
        with self._db.reading() as db:
            said = {
                token: term
                for term in terms
                if _may_mean(term)
                for token in words.tokens(db, [term])
            }
            return {token: term for token, term in said.items() if not self._id(db, token)}

    def near(
        self, tokens: Sequence[str], given: Mapping[str, Matrix], least: float
    ) -> dict[str, list[tuple[str, float]]]:
        """The words of the store nearest to each token, with their cosines, nearest first."""
        if not len(self._index):
            return {}
        sql = (
            "SELECT own.token, other.token, cosine FROM word_vectors AS own JOIN word_pairs ON a = own.id "
            "JOIN word_vectors AS other ON other.id = b WHERE own.space = ? AND cosine >= ? AND own.token "
            f"IN ({', '.join('?' * len(tokens))}) ORDER BY cosine DESC, b"
        )
        found: dict[str, list[tuple[str, float]]] = {}
        with self._db.reading() as db:
            for token, other, cosine in db.execute(sql, (self._space, least, *tokens)):
                found.setdefault(str(token), []).append((str(other), float(cosine)))
            for token, vector in given.items():
                near = self._index.nearest(vector, _LOOKED_AT)
                spelled = ((self._token(db, number), cosine) for number, cosine in near)
                found[token] = [
                    (word, cosine) for word, cosine in spelled if word and cosine >= least
                ]
        return {token: near[:_LOOKED_AT] for token, near in found.items()}

    def _add(self, db: apsw.Connection, tokens: Sequence[str], vectors: Matrix) -> None:
        codes, scales = quantise(vectors)
        new: list[tuple[int, int]] = []
        for place, token in enumerate(tokens):
            db.execute(
                "INSERT OR IGNORE INTO word_vectors (space, token, scale, code) VALUES (?, ?, ?, ?)",
                (self._space, token, float(scales[place]), codes[place].tobytes()),
            )
            if db.changes():
                new.append((db.last_insert_rowid(), place))
        places = [place for _, place in new]
        self._index.add([number for number, _ in new], codes[places], scales[places])
        for number, place in new:
            near = self._index.nearest(vectors[place], _NEIGHBOURS)
            pairs = [
                (other, cosine) for other, cosine in near if cosine >= _NEAR and other != number
            ]
            both = [
                pair
                for other, cos in pairs
                for pair in ((number, other, cos), (other, number, cos))
            ]
            # One that was dropped meanwhile has no row to refer to.
            db.executemany(
                "INSERT OR IGNORE INTO word_pairs SELECT ?1, ?2, ?3 "
                "WHERE EXISTS (SELECT 1 FROM word_vectors WHERE id = ?1) "
                "AND EXISTS (SELECT 1 FROM word_vectors WHERE id = ?2)",
                both,
            )

    def _is_new(self, db: apsw.Connection, token: str) -> bool:
        return not self._id(db, token) and words.said(db, token) >= _OFTEN

    def _id(self, db: apsw.Connection, token: str) -> int:
        sql = "SELECT id FROM word_vectors WHERE space = ? AND token = ?"
        row = db.execute(sql, (self._space, token)).fetchone()
        return int(row[0]) if row else 0

    def _token(self, db: apsw.Connection, number: int) -> str:
        row = db.execute("SELECT token FROM word_vectors WHERE id = ?", (number,)).fetchone()
        return str(row[0]) if row else ""


def _surfaces(db: apsw.Connection, texts: Iterable[str]) -> dict[str, str]:
    """The words of some texts, by their token in the form that is used most."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(word for word in words_of(indexed(text)) if _may_mean(word))
    found: dict[str, str] = {}
    for word, _ in counted.most_common():
        for token in words.tokens(db, [word]):
            found.setdefault(token, word)
    return found


def _may_mean(word: str) -> bool:
    """Whether a model could know the word; it knows no numbers, and few words of other scripts."""
    return word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST


def _cursor(space: int) -> str:
    return f"words_read_{space}"


def _read_to(db: apsw.Connection, space: int) -> int:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (_cursor(space),)).fetchone()
    return int(row[0]) if row else 0
