"""The lexical index: every memory findable by its words from the moment it is stored."""

from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from iai_mcp.adapters.sqlite.database import cacheable
from iai_mcp.adapters.sqlite.sheet import View
from iai_mcp.domain.ranking.lexical import Postings
from iai_mcp.domain.words import indexed
from iai_mcp.ports.memories import WordHit

Places = NDArray[np.int64]

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
# A word in more than this share of all memories tells little and costs most: it is left out,
# unless it is among the rarest of the cue.
_COMMON_SHARE = 0.02
_COMMON_AT_LEAST = 400
_KEPT_ANYWAY = 3
_MOST_TERMS = 12
# So many places of each word are read before any are counted: counting reads them as well, and
# most words are rarer than that.
_READ_AT_FIRST = 800
# A word this common is left out even if it is among the rarest, unless it is the rarest of all.
_TOO_COMMON = 600
# A word that is said more often than this does not stand in for another one.
_RARE_AT_MOST, _RARE_SHARE = 200, 0.01
# Postings of a word kept anyway are cut here: a bound for a cue of nothing but common words.
_MOST_PLACES = 20_000


def put(db: apsw.Connection, key: int, index: str) -> None:
    """Index the words of one memory, in the form `indexed` gives them, in place of any before."""
    db.execute(
        "INSERT OR REPLACE INTO words (rowid, body) VALUES (?, ?)",
        (key, index),
        can_cache=cacheable(index),
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


def postings(
    db: apsw.Connection, terms: Sequence[str], view: View, *, generous: bool = False
) -> list[Postings]:
    """Where the telling ones of the terms occur; a term that occurs nowhere has empty postings.

    `generous` keeps all that is read at first: a word that many turns hold may be in few exchanges.
    """
    at_least = _READ_AT_FIRST if generous else _COMMON_AT_LEAST
    common = max(at_least, int(_COMMON_SHARE * len(view.keys)))
    with db:  # one view of the index, and one lock, for all of them
        places = {token: _places(db, token, _READ_AT_FIRST) for token in tokens(db, terms)}
        holding = {
            token: len(_starts(read)) if len(read) < _READ_AT_FIRST else _holding(db, token)
            for token, read in places.items()
        }
        rarest = sorted(places, key=lambda token: (holding[token] or 1 << 60, token))
        kept = {
            token
            for rank, token in enumerate(rarest[:_MOST_TERMS])
            if rank == 0
            or holding[token] <= (max(common, _TOO_COMMON) if rank < _KEPT_ANYWAY else common)
        }
        for token in kept:
            if len(places[token]) == _READ_AT_FIRST:
                places[token] = _places(db, token, _MOST_PLACES)
    return [_postings(token, read, view) for token, read in places.items() if token in kept]


def rare(db: apsw.Connection, token: str, view: View) -> Postings | None:
    """Where a token occurs; None for one that is too common to stand in for another."""
    most = max(_RARE_AT_MOST, int(_RARE_SHARE * len(view.keys)))
    places = _places(db, token, most)
    return _postings(token, places, view) if len(places) < most else None


def holding_phrase(db: apsw.Connection, name: str, limit: int) -> list[int]:
    """Keys of memories with the words of `name` side by side, newest first."""
    phrase = indexed(name).partition("\n")[0]  # without the parts of a camelCase name
    if not tokens(db, [phrase]):
        return []
    sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
    return [row[0] for row in db.execute(sql, (_phrase(phrase), limit))]


def purge(db: apsw.Connection) -> None:
    """Rewrite the index without the entries of deleted memories, and drop words that nobody said."""
    db.execute("INSERT INTO words (words) VALUES ('optimize')")
    db.execute(
        "DELETE FROM word_vectors "
        "WHERE NOT EXISTS (SELECT 1 FROM word_counts WHERE term = word_vectors.token)"
    )


def _phrase(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def tokens(db: apsw.Connection, terms: Sequence[str]) -> list[str]:
    """The terms as the index spells them, each once."""
    tokenizer = db.fts5_tokenizer(*_TOKENIZER)
    found: dict[str, None] = {}
    for term in terms:
        for token in tokenizer(
            term.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False
        ):
            found[str(token[0])] = None
    return list(found)


def said(db: apsw.Connection, token: str) -> int:
    """How often the token was said."""
    row = db.execute("SELECT cnt FROM word_counts WHERE term = ?", (token,)).fetchone()
    return int(row[0]) if row else 0


def _holding(db: apsw.Connection, token: str) -> int:
    row = db.execute("SELECT doc FROM word_counts WHERE term = ?", (token,)).fetchone()
    return int(row[0]) if row else 0


def _places(db: apsw.Connection, token: str, limit: int) -> Places:
    """The memories that hold the token, once for every time they do: a memory's stand together."""
    # One long text is parsed in a third of the time that thousands of rows take to arrive.
    sql = "SELECT group_concat(doc) FROM (SELECT doc FROM word_places WHERE term = ? LIMIT ?)"
    row = db.execute(sql, (token, limit)).fetchone()
    return np.fromstring(str(row[0]) if row and row[0] else "", dtype=np.int64, sep=",")


def _starts(places: Places) -> Places:
    changes = np.ones(len(places), dtype=np.bool_)
    np.not_equal(places[1:], places[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def _postings(token: str, places: Places, view: View) -> Postings:
    starts = _starts(places)
    keys, counts = places[starts], np.diff(starts, append=len(places))
    found = np.minimum(np.searchsorted(view.keys, keys), max(len(view.keys) - 1, 0))
    known = view.keys[found] == keys if len(view.keys) else np.zeros(len(keys), dtype=np.bool_)
    return Postings(found[known], counts[known].astype(np.float32), token)
