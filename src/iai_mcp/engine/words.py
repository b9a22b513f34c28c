"""Which words of a cue tell memories apart, and where they occur."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.ranking.candidates import Floats, beginnings
from iai_mcp.domain.ranking.lexical import Mask, Postings
from iai_mcp.domain.words import indexed
from iai_mcp.engine.columns import View
from iai_mcp.ports.words import Places, Words

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
_EXACT_AT_MOST = 200  # memories that hold what the cue quotes, newest first
# A name that many memories hold tells them apart no longer: its worth falls from here on.
_RARE_NAME = 3
_NOWHERE: Places = np.zeros(0, np.int64)


class CommonWords:
    """Words that were counted and are common, with how many memories held them then at least.

    To count one takes as long as to read all its places. What is stored since only makes it more
    common; when something was forgotten or read anew, all are counted again.
    """

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._lost = 0

    def since(self, lost: int) -> dict[str, int]:
        """`lost` is how many were forgotten or read anew by now."""
        if lost != self._lost:
            self._held, self._lost = {}, lost
        return self._held


def postings(
    index: Words,
    terms: Sequence[str],
    view: View,
    known: CommonWords,
    *,
    generous: bool = False,
) -> list[Postings]:
    """Where the telling ones of the terms occur; a term that occurs nowhere has empty postings.

    `generous` keeps all that is read at first: a word that many turns hold may be in few exchanges.
    """
    at_least = _READ_AT_FIRST if generous else _COMMON_AT_LEAST
    common = max(at_least, int(_COMMON_SHARE * len(view.keys)))
    most = max(common, _TOO_COMMON)
    counted = known.since(view.lost)
    spelled = index.spelled(terms)
    # A word that is surely too common is not even read, unless all of them are.
    unread = {word: counted[word] for word in spelled if counted.get(word, 0) > most}
    places = {w: _NOWHERE if w in unread else index.places(w, _READ_AT_FIRST) for w in spelled}
    holding = {word: unread.get(word) or _held(index, word, places[word]) for word in spelled}
    if min((n for n in holding.values() if n), default=0) > most:
        holding |= {word: index.holding(word) for word in unread}
    counted |= {word: count for word, count in holding.items() if count > most}
    rarest = sorted(places, key=lambda word: (holding[word] or 1 << 60, word))
    kept = {
        word
        for rank, word in enumerate(rarest[:_MOST_TERMS])
        if rank == 0 or holding[word] <= (most if rank < _KEPT_ANYWAY else common)
    }
    for word in kept:
        if word in unread or len(places[word]) == _READ_AT_FIRST:
            places[word] = index.places(word, _MOST_PLACES)
    return [_postings(word, read, view) for word, read in places.items() if word in kept]


def _held(index: Words, word: str, read: Places) -> int:
    """How many memories hold a word of which so many places were read at first."""
    return len(beginnings(read)) if len(read) < _READ_AT_FIRST else index.holding(word)


def rare(index: Words, word: str, view: View) -> Postings | None:
    """Where a word occurs; None for one that is too common to stand in for another."""
    most = max(_RARE_AT_MOST, int(_RARE_SHARE * len(view.keys)))
    places = index.places(word, most)
    return _postings(word, places, view) if len(places) < most else None


@dataclass(frozen=True, slots=True)
class Exactness:
    """The share of what the cue quotes that rows hold, less where many hold it."""

    worth: Floats  # per row
    rows: NDArray[np.int64]  # that hold any of it, ascending


def exactness(index: Words, names: Sequence[str], view: View, within: Mask) -> Exactness:
    worth = np.zeros(len(view.keys), np.float32)
    total = max(1, sum(map(len, names)))
    held: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for name in names:
        phrase = indexed(name).partition("\n")[0]  # without the parts of a camelCase name
        keys = index.holding_phrase(phrase, _EXACT_AT_MOST)
        rows = view.rows_of(np.array(keys, np.int64))
        rows = rows[within[rows]]
        if rows.size:
            worth[rows] += min(1.0, _RARE_NAME / rows.size) * len(name)
            held.append(rows)
    every = np.unique(np.concatenate(held))
    worth[every] /= total
    return Exactness(worth, every)


def _postings(word: str, places: Places, view: View) -> Postings:
    starts = beginnings(places)
    keys, counts = places[starts], np.empty(len(starts), np.float32)
    counts[:-1] = starts[1:] - starts[:-1]
    counts[-1:] = len(places) - starts[-1:]
    found = view.keys.searchsorted(keys)
    # What was said after the view was taken comes behind all that is in it.
    known = found < len(view.keys)
    known[known] = view.keys[found[known]] == keys[known]
    if known.all():
        return Postings(found, counts, word)
    return Postings(found[known], counts[known], word)
