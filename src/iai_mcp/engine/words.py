"""Which words of a cue tell memories apart, and where they occur."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.words import indexed
from iai_mcp.engine.arrays import Floats, beginnings
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
# Postings of a word kept anyway are cut here: a bound for a cue of nothing but common words.
_MOST_PLACES = 20_000
_EXACT_AT_MOST = 200  # memories that hold what the cue quotes, newest first
_WORDS_KEPT = 256  # at ten kilobytes each at most


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one word of a query occurs: rows, each once, and how often in each."""

    rows: NDArray[np.int64]
    counts: Floats
    token: str = ""  # as the index spells it
    holding: int = 0  # memories that hold it, be they among the rows or not
    places: int = 0  # in all of those


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


class KnownPlaces:
    """Where the words of the last cues occur, kept until something is stored or forgotten.

    To ask the index for them is a good part of a small recall, and those who ask use the same words.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[int, int], dict[str, Postings]] = ((0, 0), {})

    def of(self, view: View) -> dict[str, Postings]:
        """By their spelling; without those of very many places."""
        now, kept = (len(view.keys), view.lost), self._kept
        if kept[0] != now or len(kept[1]) >= _WORDS_KEPT:
            kept = self._kept = (now, {})
        return kept[1]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The index as one recall reads it, and what is known of it from those before."""

    index: Words
    view: View
    common: CommonWords
    known: dict[str, Postings]  # see `KnownPlaces`

    def read(self, word: str, limit: int) -> Postings | None:
        """Where a word occurs; None if it has so many places or more."""
        found = self.known.get(word)
        if found is None:
            places = self.index.places(word, limit)
            if len(places) >= limit:
                return None
            found = _postings(word, places, self.view)
            if len(places) < _READ_AT_FIRST:
                self.known[word] = found
        return found if found.places < limit else None


def postings(lookup: Lookup, terms: Sequence[str], *, generous: bool = False) -> list[Postings]:
    """Where the telling ones of the terms occur; a term that occurs nowhere has empty postings.

    `generous` keeps all that is read at first: a word that many turns hold may be in few exchanges.
    """
    index, view = lookup.index, lookup.view
    at_least = _READ_AT_FIRST if generous else _COMMON_AT_LEAST
    common = max(at_least, int(_COMMON_SHARE * len(view.keys)))
    most = max(common, _TOO_COMMON)
    counted = lookup.common.since(view.lost)
    spelled = index.spelled(terms)
    # A word that is surely too common is not even read, unless all of them are.
    unread = {word: counted[word] for word in spelled if counted.get(word, 0) > most}
    read = {w: None if w in unread else lookup.read(w, _READ_AT_FIRST) for w in spelled}
    holding = {
        word: unread.get(word) or (index.holding(word) if found is None else found.holding)
        for word, found in read.items()
    }
    if min((n for n in holding.values() if n), default=0) > most:
        holding |= {word: index.holding(word) for word in unread}
    counted |= {word: count for word, count in holding.items() if count > most}
    rarest = sorted(read, key=lambda word: (holding[word] or 1 << 60, word))
    kept = {
        word
        for rank, word in enumerate(rarest[:_MOST_TERMS])
        if rank == 0 or holding[word] <= (most if rank < _KEPT_ANYWAY else common)
    }
    return [
        found or _postings(word, index.places(word, _MOST_PLACES), view)
        for word, found in read.items()
        if word in kept
    ]


def holding(index: Words, part: str) -> list[int]:
    """The keys of memories that hold the words of an exact part side by side, the newest of very many."""
    phrase = indexed(part).partition("\n")[0]  # without the parts of a camelCase name
    return index.holding_phrase(phrase, _EXACT_AT_MOST)


def _postings(word: str, places: Places, view: View) -> Postings:
    starts = beginnings(places)
    keys, counts = places[starts], np.empty(len(starts), np.float32)
    counts[:-1] = starts[1:] - starts[:-1]
    counts[-1:] = len(places) - starts[-1:]
    found = view.keys.searchsorted(keys)
    # What was said after the view was taken comes behind all that is in it.
    known = found < len(view.keys)
    known[known] = view.keys[found[known]] == keys[known]
    if not known.all():
        found, counts = found[known], counts[known]
    return Postings(found, counts, word, holding=len(keys), places=len(places))
