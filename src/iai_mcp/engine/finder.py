"""Which memories might answer a cue: a pool from every leg, then a closer look at the best."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.exchanges import CueWords, ExchangeTurns
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats, each_once, few_of_equal
from iai_mcp.domain.ranking.exchanges import (
    STAND_IN_FROM,
    STAND_IN_WORTH,
    STAND_INS,
    ExchangeCandidates,
    SoughtWord,
    Work,
    exchange_words,
    work,
)
from iai_mcp.domain.ranking.lexical import (
    Population,
    Postings,
    WordScores,
    population,
    word_scores,
)
from iai_mcp.domain.traits import Fact
from iai_mcp.engine import exchanges, words
from iai_mcp.engine.columns import NOBODY, Columns, Mask, View
from iai_mcp.engine.exchanges import ALIKE, POOL, nearest_rows
from iai_mcp.engine.vectors import Vectors
from iai_mcp.engine.words import CommonWords, Exactness, KnownPlaces, Lookup
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.words import WordIndex

Rows = NDArray[np.int64]

_WISHES = 24
# How many candidates are compared passage by passage: the rest could not reach the top.
_LOOKED_AT_CLOSELY = 96
_WISHES_WITHIN = 500
_FEW_TURNS, _FEW_SHARE = 50, 0.02
# What is asked of every candidate, in the order that `_measured` takes them apart.
_FACTS = np.array(
    [
        Fact.ASKS,
        Fact.INSTRUCTION,
        Fact.PREFERENCE,
        Fact.SPOKEN,
        Fact.TIME,
        Fact.NAME,
        Fact.CHANGE,
    ],
    np.uint16,
)
# Words and cosine on one scale, only to choose whom to look at closely.
_WORDS_AT_FIRST, _COSINE_AT_FIRST = 4.0, 10.0


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for. `vector` is None while there is no model: words alone count then."""

    terms: Sequence[str]
    exact: Sequence[str]
    vector: Matrix | None
    scope: Scope
    also: Sequence[int] = ()  # keys to measure whatever the legs find
    # What those of the cue's words mean that the store has no vector of, by their token.
    words: Mapping[str, Matrix] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Looked:
    """What might answer: turns of talk, and exchanges of worked sessions."""

    talk: Candidates
    work: ExchangeCandidates | None  # None where nobody worked
    cue: CueWords


@dataclass(frozen=True, slots=True)
class People:
    """Speakers by name, and whether assistants spoke at all."""

    speakers: Sequence[str]
    assistants: bool
    worked: bool  # whether there are exchanges of more than a question and its answer


@dataclass(frozen=True, slots=True)
class Crowd:
    """The rows as words are weighed among them, and who spoke there."""

    population: Population
    speakers: Sequence[int]
    assistants: bool
    work: Work
    talk: Mask  # rows of sessions in which nobody worked, and of none
    talking: int  # how many those are
    standing: Rows  # those of them that hold a standing wish


class Crowds:
    """Keeps the crowd asked for last: it changes only when something is stored or forgotten."""

    def __init__(self) -> None:
        self._last: tuple[Mask, Crowd] | None = None

    def of(self, view: View, within: Mask) -> Crowd:
        """`within` is the columns' own mask, which is another one after every change."""
        last = self._last
        if last is not None and last[0] is within:
            return last[1]
        made = _crowd(view, within)
        self._last = (within, made)
        return made


def _crowd(view: View, within: Mask) -> Crowd:
    done = work(within, view.in_session, view.head, view.session, view.length)
    talk = within & (done.number == NONE) if len(done) else within
    return Crowd(
        population=population(within, view.length, view.session, view.conversed),
        speakers=np.flatnonzero(np.bincount(view.speaker[within])).tolist(),
        assistants=bool((within & ~view.spoken).any()),
        work=done,
        talk=talk,
        talking=int(np.count_nonzero(talk)),
        standing=np.flatnonzero(talk & view.standing),
    )


@dataclass(frozen=True, slots=True)
class Finder:
    """Reads only. Every call is safe from any thread."""

    columns: Columns
    index: WordIndex
    vectors: Callable[[], Vectors | None]  # None while there is no model
    crowds: Crowds = field(default_factory=Crowds)
    common: CommonWords = field(default_factory=CommonWords)
    places: KnownPlaces = field(default_factory=KnownPlaces)

    def find(self, sought: Sought) -> Looked:
        """What might answer, talk with the turns around it; nothing if nothing is stored there.

        Raises:
            StoreError: the store can not be read.
        """
        view = self.columns.current()
        within = self.columns.within(view, sought.scope)
        crowd = self.crowds.of(view, within)
        vectors = self.vectors() if sought.vector is not None else None
        with self.index.looked_up() as index:
            worked = len(crowd.work) > 0
            lookup = Lookup(index, view, self.common, self.places.of(view))
            terms = words.postings(lookup, sought.terms, generous=worked)
            exact = words.exactness(index, sought.exact, view, within)
            soft = _softened(lookup, terms, sought, crowd.work, vectors)
        lexical = word_scores(terms, crowd.population)
        talk = self._talk(sought, view, crowd, lexical, exact)
        if not len(crowd.work):
            return Looked(talk, None, CueWords())
        said = exchange_words(soft, crowd.work)
        cue = exchanges.Cue(
            sought.vector, sought.scope, sought.also, said, lexical.words, exact, vectors
        )
        return Looked(talk, exchanges.candidates(cue, view, crowd.work), said.known)

    def turns(self, heads: Sequence[int], scope: Scope) -> list[ExchangeTurns]:
        """The turns of the exchanges that these keys begin, as far as the scope holds them: one each."""
        view = self.columns.view()
        return exchanges.turns(view, self.columns.within(view, scope), heads)

    def people(self, scope: Scope) -> People:
        """Who spoke there."""
        view = self.columns.current()
        crowd = self.crowds.of(view, self.columns.within(view, scope))
        names = self.columns.names("speaker")
        return People(
            speakers=[names[number] for number in crowd.speakers if names[number]],
            assistants=crowd.assistants,
            worked=len(crowd.work) > 0,
        )

    def number(self, column: str, name: str) -> int:
        """The number that stands for a speaker's, session's or project's name; -1 if unknown."""
        return self.columns.number(column, name)

    def holding(self, terms: Collection[str]) -> dict[str, int]:
        """How many memories hold each of the terms; of one that is several words, the rarest."""
        with self.index.looked_up() as index:
            return {
                term: min(map(index.holding, index.spelled([term])), default=0) for term in terms
            }

    def _talk(
        self, sought: Sought, view: View, crowd: Crowd, lexical: WordScores, exact: Exactness
    ) -> Candidates:
        within = crowd.talk
        near, topics = self._meaning(sought, view, crowd)
        strongest = _strongest(lexical, within, POOL)
        wished = view.rows_of(np.array(sorted(topics), dtype=np.int64))
        also = view.rows_of(np.array(sorted(sought.also), dtype=np.int64))
        pool = np.concatenate([strongest, near, wished, also, exact.rows])
        pool = each_once(pool[within[pool]])
        rows = _with_neighbours(pool, view)
        return self._measured(rows, view, within, lexical, exact, topics, sought)

    def _meaning(self, sought: Sought, view: View, crowd: Crowd) -> tuple[Rows, dict[int, float]]:
        """The rows nearest in meaning, and the memories whose wishes are about the cue."""
        vectors = self.vectors()
        if vectors is None or sought.vector is None:
            return np.zeros(0, np.int64), {}
        # Beside work there is often little talk: all of it is looked at, and nothing is searched.
        if not len(crowd.work) or crowd.talking > POOL:
            near = nearest_rows(
                vectors, sought.vector, sought.scope, view, crowd.talk, crowd.talking
            )
        else:
            near = np.flatnonzero(crowd.talk)
        standing = crowd.standing
        if not standing.size:
            return near, {}
        few = view.keys[standing] if standing.size <= _WISHES_WITHIN else None
        return near, vectors.wishes_about(sought.vector, _WISHES, few)

    def _measured(
        self,
        rows: Rows,
        view: View,
        within: Mask,
        lexical: WordScores,
        exact: Exactness,
        topics: dict[int, float],
        sought: Sought,
    ) -> Candidates:
        keys, eligible, shared = view.keys[rows], within[rows], lexical.words[rows]
        turn, passage, context = self._cosines(keys, shared, eligible, sought)
        held = (view.facts[rows] & _FACTS[:, None]) != 0
        asks, instruction, preference, spoken, time, name, change = held
        return Candidates(
            keys=keys,
            eligible=eligible,
            words=shared,
            coverage=lexical.coverage[rows],
            session_words=lexical.session[view.session[rows]],
            turn=turn,
            passage=passage,
            context=context,
            topic=_column(topics, keys),
            exact=exact.worth[rows],
            at=view.at[rows] / 1e6,
            length=view.length[rows],
            asks=asks,
            instruction=instruction,
            preference=preference,
            spoken=spoken,
            time=time,
            name=name,
            change=change,
            speaker=view.speaker[rows],
            session=view.sessions(rows),
            project=view.project[rows],
            before=_places(view.before[rows], rows),
            after=_places(view.after[rows], rows),
            support=np.zeros(len(rows), np.float32),
        )

    def _cosines(
        self, keys: NDArray[np.int64], strength: Floats, eligible: Mask, sought: Sought
    ) -> tuple[Floats, Floats, Floats]:
        vectors = self.vectors()
        if vectors is None or sought.vector is None or not len(keys):
            unknown = np.full(len(keys), np.nan, np.float32)
            return unknown, unknown, unknown
        turn = vectors.cosines(sought.vector, keys)
        first = _WORDS_AT_FIRST * strength + _COSINE_AT_FIRST * np.nan_to_num(turn) + eligible
        closely = np.sort(np.argsort(-first, kind="stable")[:_LOOKED_AT_CLOSELY])
        passage, context = np.full((2, len(keys)), np.nan, np.float32)
        passage[closely], context[closely] = vectors.best_passages(sought.vector, keys[closely])
        return turn, passage, context


def _softened(
    lookup: Lookup,
    terms: Sequence[Postings],
    sought: Sought,
    among: Work,
    vectors: Vectors | None,
) -> list[SoughtWord]:
    """The cue's words with those of the exchanges that mean about the same."""
    if vectors is None or vectors.words is None or not len(among):
        return [SoughtWord(term) for term in terms]
    # A word that many turns hold needs none to stand in for it.
    few = max(_FEW_TURNS, int(_FEW_SHARE * len(lookup.view.keys)))
    wanted = [term.token for term in terms if len(term.rows) <= few]
    near = vectors.words.near(wanted, sought.words, STAND_IN_FROM)
    softened: list[SoughtWord] = []
    for term in terms:
        own: list[tuple[Postings, float]] = []
        for word, cosine in near.get(term.token, ()):
            found = words.rare(lookup, word)
            if found is not None and (among.number[found.rows] != NONE).any():
                own.append((found, STAND_IN_WORTH * cosine))
            if len(own) == STAND_INS:
                break
        softened.append(SoughtWord(term, own))
    return softened


def _strongest(lexical: WordScores, within: Mask, limit: int) -> Rows:
    rows = lexical.rows[within[lexical.rows]]
    column = lexical.words[rows]
    if rows.size > limit:
        order = np.argsort(-column, kind="stable")
        rows = rows[order][few_of_equal(column[order], ALIKE)][:limit]
    return rows


def _with_neighbours(pool: Rows, view: View) -> Rows:
    around = np.concatenate([pool, view.before[pool], view.after[pool]])
    # A turn said meanwhile is linked already and not yet in view.
    return each_once(around[(around != NOBODY) & (around < len(view.keys))].astype(np.int64))


def _column(found: dict[int, float], keys: NDArray[np.int64]) -> Floats:
    if not found:
        return np.full(len(keys), np.nan, np.float32)
    return np.array([found.get(key, np.nan) for key in keys.tolist()], dtype=np.float32)


def _places(neighbours: NDArray[np.int32], rows: Rows) -> Rows:
    """Where each neighbour stands in `rows` (ascending), or NONE."""
    if not rows.size:
        return rows
    places = np.minimum(np.searchsorted(rows, neighbours), rows.size - 1)
    return np.where(rows[places] == neighbours, places, NONE)
