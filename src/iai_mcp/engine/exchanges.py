"""Exchanges of worked sessions that might answer a cue, and the turns of those that do."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.exchanges import ExchangeTurns, kinds
from iai_mcp.domain.ranking.candidates import Floats
from iai_mcp.domain.ranking.exchanges import NONE, ExchangeCandidates, ExchangeWords, Work
from iai_mcp.domain.traits import Fact
from iai_mcp.engine.columns import NOBODY, Mask, View, having
from iai_mcp.engine.vectors import Vectors
from iai_mcp.engine.words import Exactness
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.memories import Scope

Rows = NDArray[np.int64]

POOL = 80  # of each leg: more changes nothing measurable
ALIKE = 20  # of them, so many at most that score the same
# How many turns are compared passage by passage.
_LOOKED_AT_CLOSELY = 96
_ONE_PASSAGE = 8  # words: a turn so short is its own only passage
# Words and cosine on one scale, only to choose whom to look at closely.
_WORDS_AT_FIRST, _COSINE_AT_FIRST = 4.0, 10.0
_MOST_TURNS = 400  # of one exchange: the first and the last of them


@dataclass(frozen=True, slots=True)
class Cue:
    """What exchanges are measured by; `vector` and `vectors` are None while there is no model."""

    vector: Matrix | None
    scope: Scope
    also: Sequence[int]  # keys to measure whatever the legs find
    words: ExchangeWords
    by_row: Floats  # what shared words are worth
    exact: Exactness
    vectors: Vectors | None


def candidates(cue: Cue, view: View, work: Work) -> ExchangeCandidates:
    """The exchanges that might answer, measured."""
    words, by_row, exact = cue.words, cue.by_row, cue.exact.worth
    chosen = np.zeros(len(work), np.bool_)
    chosen[np.argsort(-words.soft, kind="stable")[:POOL]] = True
    worked = work.number != NONE
    inside = np.flatnonzero(worked)
    near = inside[:0]
    if cue.vectors is not None and cue.vector is not None:
        near = nearest_rows(cue.vectors, cue.vector, cue.scope, view, worked, len(inside))
    also = view.rows_of(np.array(sorted(cue.also), np.int64))
    named = work.number[np.concatenate([near, also, cue.exact.rows])]
    chosen[named[named != NONE]] = True
    rows = inside[chosen[work.number[inside]]]
    cosine = _cosines(cue, view, rows)
    numbers = np.flatnonzero(chosen)
    place = (np.cumsum(chosen) - 1)[work.number[rows]]
    worth = _WORDS_AT_FIRST * by_row[rows] + _COSINE_AT_FIRST * np.nan_to_num(cosine)
    best = np.full(len(numbers), -1, np.int64)
    ascending = np.argsort(worth, kind="stable")
    best[place[ascending]] = rows[ascending]
    return ExchangeCandidates(
        heads=view.keys[work.heads[numbers]],
        keys=view.keys[best],
        soft=words.soft[numbers],
        plain=words.plain[numbers],
        cosine=_most(cosine, place, len(numbers)),
        exact=_most(exact[rows], place, len(numbers)),
        at=view.at[best] / 1e6,
        session=work.session[numbers],
        project=view.project[best],
    )


def nearest_rows(
    vectors: Vectors, cue: Matrix, scope: Scope, view: View, among: Mask, count: int
) -> Rows:
    """The rows nearest in meaning among some of them, which are so many."""
    others = int(np.count_nonzero(view.alive)) - count if scope.everything else len(view.keys)
    if others > POOL:
        found = vectors.nearest(cue, POOL, view.keys[among], alike=ALIKE)
        return view.rows_of(np.array([key for key, _ in found], np.int64))
    # All are searched at once, without picking rows: the few others can not take many places.
    found = vectors.nearest(cue, POOL + others, alike=ALIKE)
    rows = view.rows_of(np.array([key for key, _ in found], np.int64))
    return rows[among[rows]][:POOL] if others else rows


def turns(view: View, within: Mask, heads: Sequence[int]) -> list[ExchangeTurns]:
    """The turns of the exchanges that these keys begin, as far as they are within."""
    rows = np.searchsorted(view.keys, np.array(heads, np.int64))  # no key ever leaves the columns
    each = [_with_neighbours(view, row, len(within)) for row in rows.tolist()]
    every = np.array([row for rows in each for row in rows], np.int64)
    facts = view.facts[every]
    spoken, turning, inside_it = (
        having(facts, fact).tolist() for fact in (Fact.SPOKEN, Fact.TURNING, Fact.WITHIN)
    )
    length, keys = view.length[every].tolist(), view.keys[every].tolist()
    own_head = np.repeat(rows, [len(own) for own in each])
    inside = (within[every] & (view.head[every] == own_head)).tolist()
    found: list[ExchangeTurns] = []
    start = 0
    for own in each:
        part = slice(start, start := start + len(own))
        own_kinds = kinds(spoken[part], length[part], turning[part], inside_it[part])
        kept = list(compress(zip(keys[part], own_kinds, strict=True), inside[part]))
        if len(kept) > _MOST_TURNS:
            kept = [*kept[: _MOST_TURNS // 2], *kept[-_MOST_TURNS // 2 :]]
        found.append(ExchangeTurns(tuple(key for key, _ in kept), tuple(kind for _, kind in kept)))
    return found


def _with_neighbours(view: View, head: int, size: int) -> list[int]:
    """The rows of an exchange with the one before and the one after it, which tell whether it answers
    and is answered. What was said after the view was taken is left out."""
    before, row = int(view.before[head]), head
    rows = [before] if NOBODY < before < size else []
    while row != NOBODY and row < size:
        rows.append(row)
        if view.head[row] != head:
            break
        row = int(view.after[row])
    return rows


def _cosines(cue: Cue, view: View, rows: Rows) -> Floats:
    """Per row the cosine of the cue with it or its best passage; NaN where it has no vector."""
    if cue.vectors is None or cue.vector is None or not rows.size:
        return np.full(len(rows), np.nan, np.float32)
    keys = view.keys[rows]
    turn = cue.vectors.cosines(cue.vector, keys)
    first = _WORDS_AT_FIRST * cue.by_row[rows] + _COSINE_AT_FIRST * np.nan_to_num(turn)
    first[view.length[rows] < _ONE_PASSAGE] = -np.inf
    closely = np.sort(np.argsort(-first, kind="stable")[:_LOOKED_AT_CLOSELY])
    passage, _ = cue.vectors.best_passages(cue.vector, keys[closely])
    turn[closely] = np.fmax(turn[closely], passage)
    return turn


def _most(column: Floats, place: Rows, size: int) -> Floats:
    """The largest at each place; NaN where there is none."""
    most = np.full(size, np.nan, np.float32)
    np.fmax.at(most, place, column)
    return most
