"""`WordIndex` in the encrypted file (FTS5), and how memories come into it and out of it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

import apsw
import numpy as np

from iai_mcp.adapters.sqlite.database import Database, cacheable
from iai_mcp.domain.words import indexed
from iai_mcp.ports.memories import WordHit
from iai_mcp.ports.words import Places

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])


class SqliteWordIndex:
    def __init__(self, database: Database) -> None:
        self._db = database
        # Holds no data: it only has the tokenizer. A connection serves one thread at a time.
        self._tokenizing = apsw.Connection(":memory:")
        self._lock = Lock()

    def tokens(self, text: str) -> list[str]:
        """The words of `text` as the index spells them, in order."""
        with self._lock:
            found = self._tokenizing.fts5_tokenizer(*_TOKENIZER)(
                indexed(text).encode("utf-8", "replace"),
                apsw.FTS5_TOKENIZE_DOCUMENT,
                None,
                include_offsets=False,
            )
        return [str(token[0]) for token in found]

    @contextmanager
    def looked_up(self) -> Iterator["SqliteWords"]:
        with self._db.reading() as db, db:  # one view of the index, and one lock, for all of it
            yield SqliteWords(db)


class SqliteWords:
    """`Words` for as long as its reader is held."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def spelled(self, terms: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(token for _, token in spellings(self._db, terms)))

    def places(self, word: str, limit: int) -> Places:
        # One long text is parsed in a third of the time that thousands of rows take to arrive.
        sql = "SELECT group_concat(doc) FROM (SELECT doc FROM word_places WHERE term = ? LIMIT ?)"
        row = self._db.execute(sql, (word, limit)).fetchone()
        return np.fromstring(str(row[0]) if row and row[0] else "", dtype=np.int64, sep=",")

    def holding(self, word: str) -> int:
        row = self._db.execute("SELECT doc FROM word_counts WHERE term = ?", (word,)).fetchone()
        return int(row[0]) if row else 0

    def holding_phrase(self, phrase: str, limit: int) -> list[int]:
        if not self.spelled([phrase]):
            return []
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (_phrase(phrase), limit))]


def spellings(db: apsw.Connection, terms: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The terms, each with the tokens that the index makes of it."""
    tokenizer = db.fts5_tokenizer(*_TOKENIZER)
    for term in terms:
        for token in tokenizer(
            term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False
        ):
            yield term, str(token[0])


def put_all(db: apsw.Connection, indexes: Sequence[tuple[int, str]]) -> None:
    """Index the words of memories, in the form `indexed` gives them, in place of any before."""
    db.executemany(
        "INSERT OR REPLACE INTO words (rowid, body) VALUES (?, ?)",
        indexes,
        can_cache=all(cacheable(index) for _, index in indexes),
    )


def search(
    db: apsw.Connection, terms: Sequence[str], where: str, values: Sequence[object], limit: int
) -> list[WordHit]:
    """Memories with any of the terms that meet the condition, best first."""
    if not terms:
        return []
    query = " OR ".join(map(_phrase, terms))
    sql = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?"
    if where != "1":
        sql += (
            # The plus keeps the planner from asking the index once per row of the scope.
            " AND +rowid IN (SELECT m.key FROM memories AS m "
            f"LEFT JOIN projects AS p ON p.id = m.project WHERE {where})"
        )
    sql += " ORDER BY rank, rowid LIMIT ?"
    return [WordHit(row[0], -row[1]) for row in db.execute(sql, (query, *values, limit))]


def drop(db: apsw.Connection, key: int) -> None:
    """Take a memory out of the index; its words stay in there until it is purged or merged."""
    db.execute("DELETE FROM words WHERE rowid = ?", (key,))


def merge(db: apsw.Connection, pages: int, *, begin: bool = False) -> bool:
    """Merge a little of the index; whether there was anything to do.

    With `begin` all of it is to be merged, which leaves nothing of what was dropped.
    """
    before = db.total_changes()
    db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (-pages if begin else pages,))
    # The command itself counts as one change.
    return db.total_changes() - before >= 2


def purge(db: apsw.Connection) -> None:
    """Rewrite the index without the entries of deleted memories."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")


def _phrase(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
