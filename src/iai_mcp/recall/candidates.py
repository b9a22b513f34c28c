"""Stage 2: the exchanges that may answer, with what words, meaning and exact parts say of each.

A candidate is an exchange: a request with all replies to it. A note, or a turn of a conversation in which
every request has one reply at most, is an exchange of one turn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.traits import Fact
from iai_mcp.engine import words
from iai_mcp.engine.arrays import few_of_equal
from iai_mcp.engine.columns import NOBODY, Columns, Mask, View, having
from iai_mcp.engine.vectors import Vectors
from iai_mcp.engine.words import CommonWords, KnownPlaces, Lookup, Postings
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.words import WordIndex
from iai_mcp.recall.query import Query

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Numbers = NDArray[np.int32]

NONE = -1
_TALK = 2  # turns: a longer exchange makes its session one of work
_READ_OF_A_TURN = 4_000  # words: a pasted log does not make an exchange longer
_SATURATION, _LENGTH_PENALTY = 1.2, 0.7  # BM25's k1 and b
_POOL, _POOL_OF_SEVERAL = 80, 40  # exchanges of each leg and wording
_ALIKE = 20  # rows of equal score among them, at most
_WISHES = 24
_CLOSELY = 96  # turns whose passages are compared
_MOST_TURNS = 400  # of one exchange
_WORDS_AT_FIRST, _COSINE_AT_FIRST = 4.0, 10.0  # to choose those


@dataclass(frozen=True, slots=True)
class Groups:
    """The exchanges of a scope, numbered from 0."""

    number: Numbers  # per row: its exchange, or NONE outside the scope
    heads: Rows  # per exchange: its first row
    length: Floats  # in words
    mean_length: float
    assistants: bool  # whether assistants spoke at all
    work: bool  # whether any exchange has several turns
    speakers: Sequence[int]

    def __len__(self) -> int:
        return len(self.heads)


class GroupCache:
    """The groups of the scope asked for last: they change only when something is stored or forgotten."""

    def __init__(self) -> None:
        self._last: tuple[Mask, Groups] | None = None

    def of(self, view: View, within: Mask) -> Groups:
        """`within` is the columns' own mask, which is another object after every change."""
        last = self._last
        if last is not None and last[0] is within:
            return last[1]
        made = group_rows(view, within)
        self._last = (within, made)
        return made


def group_rows(view: View, within: Mask) -> Groups:
    """Number the exchanges of a scope. Whether a session is one of work does not depend on the scope."""
    rows = np.arange(len(view.keys))
    sizes = np.bincount(view.head[view.in_session], minlength=len(rows))
    long = np.flatnonzero(sizes > _TALK)
    head = rows
    if long.size:
        worked = np.zeros(int(view.session.max(initial=NONE)) + 1, np.bool_)
        worked[view.session[long]] = True
        head = np.where(worked[view.session] & view.in_session, view.head, rows)
    opened = np.zeros(len(rows), np.bool_)
    opened[head[within]] = True
    heads = np.flatnonzero(opened)
    number = np.where(within, (np.cumsum(opened, dtype=np.int32) - 1)[head], NONE).astype(np.int32)
    counted = np.minimum(view.length[within], _READ_OF_A_TURN)
    length = np.bincount(number[within], weights=counted, minlength=len(heads))
    return Groups(
        number=number,
        heads=heads,
        length=length.astype(np.float32),
        mean_length=float(length.mean()) if len(heads) else 1.0,
        assistants=bool((within & ~view.spoken).any()),
        work=bool(long.size),
        speakers=np.flatnonzero(np.bincount(view.speaker[within])).tolist(),
    )


@dataclass(frozen=True, slots=True)
class Candidates:
    """One entry per exchange that may answer, in order of arrival; two-dimensional: one row per wording.

    What was not measured is NaN.
    """

    heads: NDArray[np.int64]  # the key of its first turn
    best: NDArray[np.int64]  # the key of the turn that speaks best for it
    words: Floats  # 2-d: share of BM25 reached
    coverage: Floats  # 2-d: share of the wording's rarity that it holds
    turn: Floats  # 2-d: best cosine of a whole turn
    passage: Floats  # 2-d: best cosine of a passage
    exact: Floats  # share of the cue's exact parts that it holds, the rare ones counting more
    at: NDArray[np.float64]  # seconds since 1970, of the best turn
    length: Floats  # words
    spoken: Mask  # whether a person spoke in it, or took part
    asks: Mask  # whether its best turn ends with a question
    topic: Floats  # cosine of the cue with the topic of a standing wish that it states
    named: Mask  # whether the speaker whom the cue names spoke in it
    session: Numbers
    project: Numbers
    before: Rows  # the place of the exchange before it in its session, or NONE
    after: Rows
    assistants: bool
    rarity: Sequence[Mapping[str, float]]  # per wording: its tokens with their idf
    rows: int  # turns in the scope

    def __len__(self) -> int:
        return len(self.heads)


@dataclass(frozen=True, slots=True)
class Finder:
    """Reads the index, the columns and the vectors. Every call is safe from any thread."""

    columns: Columns
    index: WordIndex
    vectors: Callable[[], Vectors | None]  # None while there is no model
    groups: GroupCache = field(default_factory=GroupCache)
    common: CommonWords = field(default_factory=CommonWords)
    places: KnownPlaces = field(default_factory=KnownPlaces)

    def holding_exactly(self, parts: Sequence[str]) -> list[list[int]]:
        """For each exact part, the keys of memories with its words side by side, newest first."""
        if not parts:
            return []
        with self.index.looked_up() as index:
            return [words.holding(index, part) for part in parts]

    def find(
        self,
        query: Query,
        embedded: Matrix | None,
        scope: Scope,
        exact_keys: Sequence[Sequence[int]] = (),
    ) -> Candidates:
        """The candidates; `embedded` has a row per wording, and is None while there is no model.

        `exact_keys` are the memories that hold each exact part of the cue.

        Raises:
            StoreError: the store can not be read.
        """
        view = self.columns.current()
        within = self.columns.within(view, scope)
        groups = self.groups.of(view, within)
        vectors = self.vectors() if embedded is not None else None
        with self.index.looked_up() as index:
            lookup = Lookup(index, view, self.common, self.places.of(view))
            by_words = [
                _bm25(words.postings(lookup, one.terms, generous=groups.work), groups)
                for one in query.wordings
            ]
        exact = [view.rows_of(np.array(keys, np.int64)) for keys in exact_keys]
        exact = [rows[within[rows]] for rows in exact]
        leg = None if vectors is None or embedded is None else _Meaning(vectors, embedded)
        named = (
            self.columns.number("speaker", query.speakers[0])
            if len(query.speakers) == 1
            else NOBODY
        )
        return _measured(view, within, groups, by_words, exact, leg, scope, named)

    def exchanges(self, heads: Sequence[int], scope: Scope) -> list["Exchange"]:
        """The turns of the exchanges that these keys begin, as far as the scope holds them."""
        view = self.columns.view()
        within = self.columns.within(view, scope)
        groups = self.groups.of(view, within)
        user = self.columns.number("role", "user")
        first = view.rows_of(np.array(heads, np.int64)).tolist()
        return [_exchange(view, groups, row, user) for row in first]

    def people(self, scope: Scope) -> list[str]:
        """The names of who spoke there."""
        view = self.columns.current()
        groups = self.groups.of(view, self.columns.within(view, scope))
        names = self.columns.names("speaker")
        return [names[number] for number in groups.speakers if names[number]]

    def works(self, scope: Scope) -> bool:
        """Whether any exchange there has more than a question and its answer."""
        view = self.columns.current()
        return self.groups.of(view, self.columns.within(view, scope)).work

    def number(self, column: str, name: str) -> int:
        """The number that stands for a speaker's, session's or project's name; -1 if unknown."""
        return self.columns.number(column, name)

    def holding(self, terms: Sequence[str]) -> dict[str, int]:
        """How many memories hold each of the terms; of one that is several words, the rarest."""
        with self.index.looked_up() as index:
            return {
                term: min(map(index.holding, index.spelled([term])), default=0) for term in terms
            }


@dataclass(frozen=True, slots=True)
class WordMatch:
    """Per exchange that holds any word of a wording: its number, BM25 share and coverage."""

    numbers: Rows
    words: Floats
    coverage: Floats
    rows: Rows  # turns with any of the words, ascending
    by_row: Floats  # the BM25 share that each of these reaches alone
    rarity: Mapping[str, float]  # the wording's tokens with their idf


@dataclass(frozen=True, slots=True)
class _Meaning:
    vectors: Vectors
    embedded: Matrix


def _bm25(terms: Sequence[Postings], groups: Groups) -> WordMatch:
    numbers, values, weights, rows, row_values = [], [], [], [], []
    rarities: dict[str, float] = {}
    for term in terms:
        inside = groups.number[term.rows] != NONE
        own, counts = term.rows[inside], term.counts[inside]
        found, places = np.unique(groups.number[own], return_inverse=True)
        rarity = idf(len(groups), len(found))
        rarities[term.token] = rarity
        frequency = np.bincount(places, weights=counts, minlength=len(found))
        penalty = 1 - _LENGTH_PENALTY + _LENGTH_PENALTY * groups.length[found] / groups.mean_length
        values.append(rarity * frequency * (_SATURATION + 1) / (frequency + _SATURATION * penalty))
        weights.append(np.full(len(found), rarity))
        numbers.append(found)
        rows.append(own)
        row_values.append(rarity * counts / (counts + _SATURATION))
    total = sum(rarities.values()) or 1.0
    found, (words_, coverage) = _summed(numbers, values, weights)
    own, (by_row,) = _summed(rows, row_values)
    return WordMatch(found, words_ / total, coverage / total, own, by_row / total, rarities)


def _summed(numbers: Sequence[Rows], *columns: Sequence[Floats]) -> tuple[Rows, list[Floats]]:
    """Each number once, ascending, with the sum of its values in every column."""
    if not numbers:
        return np.zeros(0, np.int64), [np.zeros(0, np.float32) for _ in columns]
    every, places = np.unique(np.concatenate(numbers), return_inverse=True)
    sums = [
        np.bincount(places, weights=np.concatenate(column), minlength=len(every)).astype(np.float32)
        for column in columns
    ]
    return every.astype(np.int64), sums


def idf(total: int, holding: int) -> float:
    """How rare a word is that so many of all hold. Never 0: in a small store most words are held by many."""
    return float(np.log1p((total - holding + 0.5) / (holding + 0.5)))


def _measured(
    view: View,
    within: Mask,
    groups: Groups,
    by_words: Sequence[WordMatch],
    exact: Sequence[Rows],
    leg: _Meaning | None,
    scope: Scope,
    named: int,
) -> Candidates:
    chosen = np.zeros(len(groups), np.bool_)
    most = _POOL if len(by_words) == 1 else _POOL_OF_SEVERAL
    for match in by_words:
        chosen[match.numbers[_best_words(match, most)]] = True
    for rows in exact:
        chosen[groups.number[rows]] = True
    wishes: dict[int, float] = {}
    if leg is not None:
        for vector in leg.embedded:
            chosen[groups.number[_nearest(leg.vectors, vector, most, scope, view, within)]] = True
        wishes = leg.vectors.wishes_about(leg.embedded[0], _WISHES)
        about = view.rows_of(np.array(sorted(wishes), np.int64))
        chosen[groups.number[about[within[about]]]] = True
    rows, place, pool, before, after = _with_neighbours(view, groups, chosen)
    if not pool.size:
        return _nothing(len(by_words))
    size = len(pool)
    words_ = np.stack([_placed(match.numbers, match.words, pool) for match in by_words])
    coverage = np.stack([_placed(match.numbers, match.coverage, pool) for match in by_words])
    by_row = np.stack([_placed(match.rows, match.by_row, rows) for match in by_words])
    turn = np.full((len(by_words), len(rows)), np.nan, np.float32)
    passage = turn.copy()
    if leg is not None:
        keys = view.keys[rows]
        turn = leg.vectors.cosines(leg.embedded, keys)
        worth = (_WORDS_AT_FIRST * by_row + _COSINE_AT_FIRST * np.nan_to_num(turn)).max(axis=0)
        closely = np.sort(np.argsort(-worth, kind="stable")[:_CLOSELY])
        passage[:, closely] = leg.vectors.best_passages(leg.embedded, keys[closely])
    speaks = (by_row + np.nan_to_num(np.fmax(turn, passage))).mean(axis=0)
    best = np.zeros(size, np.int64)
    ascending = np.argsort(speaks, kind="stable")
    best[place[ascending]] = rows[ascending]
    return Candidates(
        heads=view.keys[groups.heads[pool]],
        best=view.keys[best],
        words=words_,
        coverage=coverage,
        turn=_most(turn, place, size),
        passage=_most(passage, place, size),
        exact=_exact(exact, groups, pool),
        at=view.at[best] / 1e6,
        length=groups.length[pool],
        # Who asked and who answered belong together in an exchange of several turns.
        spoken=_any(view.spoken[rows], place, size) | (np.bincount(place, minlength=size) > 1),
        asks=having(view.facts[best], Fact.ASKS),
        topic=_most(_topics(wishes, view.keys[rows])[None], place, size)[0],
        named=_any(view.speaker[rows] == named, place, size) & (named != NOBODY),
        session=view.sessions(groups.heads[pool]),
        project=view.project[best],
        before=before,
        after=after,
        assistants=groups.assistants,
        rarity=[match.rarity for match in by_words],
        rows=int(np.count_nonzero(within)),
    )


def _best_words(match: WordMatch, most: int) -> Rows:
    """The places of those that reach most, newest first among equals, and few of very many equals."""
    order = np.lexsort((-match.numbers, -match.words))
    return order[few_of_equal(match.words[order], most // 2)][:most]


def _nearest(
    vectors: Vectors, vector: Matrix, most: int, scope: Scope, view: View, within: Mask
) -> Rows:
    """The rows of the scope that are nearest in meaning."""
    among = None if scope.everything else view.keys[within]
    found = vectors.nearest(vector, most, among, alike=_ALIKE)
    rows = view.rows_of(np.array([key for key, _ in found], np.int64))
    return rows[within[rows]]


def _with_neighbours(
    view: View, groups: Groups, chosen: Mask
) -> tuple[Rows, Rows, Rows, Rows, Rows]:
    """All rows of the chosen exchanges and of those beside them, the place of each row's exchange, the
    exchanges, and the places of the exchange before and after each."""
    beside = np.zeros(len(groups), np.bool_)
    for links in (view.before, view.after):
        others = _linked(links, _rows_of(groups, chosen), groups)
        beside[others[others != NONE]] = True
    pool = np.flatnonzero(chosen | beside)
    rows = _rows_of(groups, chosen | beside)
    place = np.searchsorted(pool, groups.number[rows])
    sides = []
    for links in (view.before, view.after):
        others = _linked(links, rows, groups)
        outside = (others != NONE) & (others != groups.number[rows])
        side = np.full(len(pool), NONE, np.int64)
        at = np.minimum(np.searchsorted(pool, others[outside]), max(0, len(pool) - 1))
        known = pool[at] == others[outside] if len(pool) else np.zeros(0, np.bool_)
        side[place[outside][known]] = at[known]
        sides.append(side)
    return rows, place, pool, sides[0], sides[1]


def _rows_of(groups: Groups, chosen: Mask) -> Rows:
    inside = np.append(chosen, np.False_)  # NONE is the last
    return np.flatnonzero(inside[groups.number])


def _linked(links: Numbers, rows: Rows, groups: Groups) -> Numbers:
    """The exchange of the turn before or after each row; NONE where there is none in view."""
    linked = links[rows]
    known = (linked != NOBODY) & (linked < len(groups.number))
    return np.where(known, groups.number[np.where(known, linked, 0)], NONE)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The keys of an exchange's turns in the order said, and of the person's next message."""

    keys: tuple[int, ...]
    next: int | None


def _exchange(view: View, groups: Groups, head: int, user: int) -> Exchange:
    number, row = _number_of(groups, head), head
    keys: list[int] = []
    # What was stored after the view was taken is left out.
    while row != NOBODY and row < len(groups.number) and len(keys) < _MOST_TURNS:
        if groups.number[row] != number and view.head[row] != view.head[head]:
            break
        if groups.number[row] == number:
            keys.append(int(view.keys[row]))
        row = int(view.after[row]) if len(groups.heads) and _goes_on(view, groups, row) else NOBODY
    return Exchange(tuple(keys), _next_by(view, groups, head, user))


def _number_of(groups: Groups, head: int) -> int:
    """The number of the exchange that this row begins, be it in the scope itself or not."""
    place = int(np.searchsorted(groups.heads, head))
    known = place < len(groups.heads) and int(groups.heads[place]) == head
    return place if known else NONE


def _goes_on(view: View, groups: Groups, row: int) -> bool:
    """Whether the turn after this one may belong to the same exchange."""
    after = int(view.after[row])
    return after != NOBODY and after < len(groups.number) and view.head[after] == view.head[row]


def _next_by(view: View, groups: Groups, head: int, user: int) -> int | None:
    """The person's next message: the first turn of theirs behind the exchange, or behind a turn alone."""
    number, row = _number_of(groups, head), head
    for _ in range(_MOST_TURNS):
        row = int(view.after[row])
        if row == NOBODY or row >= len(groups.number):
            return None
        if groups.number[row] not in (number, NONE) and view.role[row] == user:
            return int(view.keys[row])
    return None


def _topics(wishes: dict[int, float], keys: NDArray[np.int64]) -> Floats:
    if not wishes:
        return np.full(len(keys), np.nan, np.float32)
    return np.array([wishes.get(key, np.nan) for key in keys.tolist()], np.float32)


def _exact(parts: Sequence[Rows], groups: Groups, pool: Rows) -> Floats:
    """The share of the cue's exact parts that each exchange of the pool holds, by their rarity."""
    held = np.zeros(len(pool), np.float32)
    total = 0.0
    for rows in parts:
        numbers = np.unique(groups.number[rows])
        rarity = idf(len(groups), len(numbers)) + 1.0
        total += rarity
        held[np.searchsorted(pool, numbers)] += rarity  # the pool has all of them
    return held / (total or 1.0)


def _placed(numbers: Rows, values: Floats, pool: Rows) -> Floats:
    """The value of each member of the pool, 0 for one that has none; both ascend."""
    if not len(numbers):
        return np.zeros(len(pool), np.float32)
    places = np.minimum(np.searchsorted(numbers, pool), len(numbers) - 1)
    return np.where(numbers[places] == pool, values[places], 0).astype(np.float32)


def _most(columns: Floats, place: Rows, size: int) -> Floats:
    """The largest of each exchange, per wording; NaN where there is none."""
    most = np.full((len(columns), size), np.nan, np.float32)
    for own, column in zip(most, columns, strict=True):
        np.fmax.at(own, place, column)
    return most


def _any(flags: Mask, place: Rows, size: int) -> Mask:
    found: Mask = np.bincount(place[flags], minlength=size) > 0
    return found


def _nothing(wordings: int) -> Candidates:
    flat, table = np.zeros(0, np.float32), np.zeros((wordings, 0), np.float32)
    keys, mask, numbers = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0, np.int32)
    return Candidates(
        heads=keys, best=keys, words=table, coverage=table, turn=table, passage=table, exact=flat,
        at=np.zeros(0), length=flat, spoken=mask, asks=mask, topic=flat, named=mask, session=numbers,
        project=numbers, before=keys, after=keys, assistants=False, rarity=[{}] * wordings, rows=0,
    )  # fmt: skip
