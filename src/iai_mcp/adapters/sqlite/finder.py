"""`Finder` over the encrypted file: a pool from every leg, then a closer look at the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np
from numpy.typing import NDArray

from iai_mcp.adapters.sqlite import exchanges, words
from iai_mcp.adapters.sqlite.crowd import Crowd, Crowds
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.exchanges import ALIKE, POOL, nearest_rows
from iai_mcp.adapters.sqlite.sheet import NOBODY, Mask, Sheet, View
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.domain.exchanges import CueWords, ExchangeTurns
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats, few_of_equal
from iai_mcp.domain.ranking.exchanges import (
    STAND_IN_FROM,
    STAND_IN_WORTH,
    STAND_INS,
    SoughtWord,
    Work,
    exchange_words,
)
from iai_mcp.domain.ranking.lexical import Postings, WordScores, word_scores
from iai_mcp.domain.ranking.weights import bar_of, usual
from iai_mcp.ports.finding import Looked, People, Sought
from iai_mcp.ports.memories import Scope

Rows = NDArray[np.int64]

_WISHES = 24
_EXACT_AT_MOST = 200  # memories that hold what the cue quotes, newest first
# A name that many memories hold tells them apart no longer: its worth falls from here on.
_RARE_NAME = 3
# How many candidates are compared passage by passage: the rest could not reach the top.
_LOOKED_AT_CLOSELY = 96
_WISHES_WITHIN = 500
_FEW_TURNS, _FEW_SHARE = 50, 0.02
# Words and cosine on one scale, only to choose whom to look at closely.
_WORDS_AT_FIRST, _COSINE_AT_FIRST = 4.0, 10.0


@dataclass(frozen=True, slots=True)
class SqliteFinder:
    """Reads only."""

    database: Database
    sheet: Callable[[], Sheet]
    vectors: Callable[[], SqliteVectors | None]  # None while there is no model
    crowds: Crowds = field(default_factory=Crowds)

    def find(self, sought: Sought) -> Looked:
        sheet = self.sheet()
        view = sheet.view()
        within = sheet.within(view, sought.scope)
        crowd = self.crowds.of(view, within)
        with self.database.reading() as db:
            terms = words.postings(db, sought.terms, view, generous=len(crowd.work) > 0)
            exact = _exact(db, sought.exact, view, within)
        lexical = word_scores(terms, crowd.population)
        talk = self._talk(sought, view, crowd, lexical, exact)
        if not len(crowd.work):
            return Looked(talk, None, CueWords())
        vectors = self.vectors()
        said = exchange_words(self._softened(terms, sought, view, crowd.work, vectors), crowd.work)
        found = exchanges.candidates(sought, view, crowd, said, lexical.words, exact, vectors)
        return Looked(talk, found, said.known)

    def turns(self, heads: Sequence[int], scope: Scope) -> list[ExchangeTurns]:
        sheet = self.sheet()
        view = sheet.view()
        return exchanges.turns(view, sheet.within(view, scope), heads)

    def _softened(
        self,
        terms: Sequence[Postings],
        sought: Sought,
        view: View,
        work: Work,
        vectors: SqliteVectors | None,
    ) -> list[SoughtWord]:
        """The cue's words with those of the exchanges that mean about the same."""
        if vectors is None or sought.vector is None:
            return [SoughtWord(term) for term in terms]
        bar = bar_of(vectors.model, STAND_IN_FROM)
        # A word that many turns hold needs none to stand in for it.
        few = max(_FEW_TURNS, int(_FEW_SHARE * len(view.keys)))
        wanted = [term.token for term in terms if len(term.rows) <= few]
        near = vectors.words.near(wanted, sought.words, bar)
        softened: list[SoughtWord] = []
        with self.database.reading() as db, db:  # one view of the index for all of them
            for term in terms:
                own: list[tuple[Postings, float]] = []
                for word, cosine in near.get(term.token, ()):
                    found = words.rare(db, word, view)
                    if found is not None and (work.number[found.rows] != NONE).any():
                        own.append((found, STAND_IN_WORTH * usual(vectors.model, cosine)))
                    if len(own) == STAND_INS:
                        break
                softened.append(SoughtWord(term, own))
        return softened

    def _talk(
        self, sought: Sought, view: View, crowd: Crowd, lexical: WordScores, exact: Floats
    ) -> Candidates:
        within = crowd.talk
        near, topics = self._meaning(sought, view, crowd)
        strongest = _strongest(np.where(within, lexical.words, 0.0), POOL)
        wished = view.rows_of(np.array(sorted(topics), dtype=np.int64))
        also = view.rows_of(np.array(sorted(sought.also), dtype=np.int64))
        pool = np.concatenate([strongest, near, wished, also, np.flatnonzero(exact)])
        pool = np.unique(pool[within[pool]])
        rows = _with_neighbours(pool, view)
        return self._measured(rows, view, within, lexical, exact, topics, sought)

    def people(self, scope: Scope) -> People:
        sheet = self.sheet()
        view = sheet.view()
        crowd = self.crowds.of(view, sheet.within(view, scope))
        names = sheet.names("speaker")
        return People(
            speakers=[names[number] for number in crowd.speakers if names[number]],
            assistants=crowd.assistants,
            worked=len(crowd.work) > 0,
        )

    def number(self, column: str, name: str) -> int:
        return self.sheet().number(column, name)

    def _meaning(self, sought: Sought, view: View, crowd: Crowd) -> tuple[Rows, dict[int, float]]:
        """The rows nearest in meaning, and the memories whose wishes are about the cue."""
        vectors = self.vectors()
        if vectors is None or sought.vector is None:
            return np.zeros(0, np.int64), {}
        near = np.flatnonzero(crowd.talk)
        # Beside work there is often little talk: all of it is looked at, and nothing is searched.
        if not len(crowd.work) or len(near) > POOL:
            near = nearest_rows(vectors, sought.vector, sought.scope, view, near)
        standing = np.flatnonzero(crowd.talk & view.standing)
        if not standing.size:
            return near, {}
        few = view.keys[standing] if standing.size <= _WISHES_WITHIN else None
        wishes = vectors.passages.wishes_about(sought.vector, _WISHES, few)
        return near, wishes

    def _measured(
        self,
        rows: Rows,
        view: View,
        within: Mask,
        lexical: WordScores,
        exact: Floats,
        topics: dict[int, float],
        sought: Sought,
    ) -> Candidates:
        keys, facts = view.keys[rows], view.facts(rows)
        turn, passage, context = self._cosines(keys, lexical.words[rows], within[rows], sought)
        return Candidates(
            keys=keys,
            eligible=within[rows],
            words=lexical.words[rows],
            coverage=lexical.coverage[rows],
            session_words=lexical.session[view.session[rows]],
            turn=turn,
            passage=passage,
            context=context,
            topic=_column(topics, keys),
            exact=exact[rows],
            at=view.at[rows] / 1e6,
            length=view.length[rows],
            asks=facts.asks,
            instruction=facts.instruction,
            preference=facts.preference,
            spoken=facts.spoken,
            time=facts.time,
            name=facts.name,
            change=facts.change,
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
        passage[closely], context[closely] = vectors.passages.best(sought.vector, keys[closely])
        return turn, passage, context


def _strongest(column: Floats, limit: int) -> Rows:
    rows = np.flatnonzero(column > 0)
    if rows.size > limit:
        rows = rows[np.argsort(-column[rows], kind="stable")]
        rows = rows[few_of_equal(column[rows], ALIKE)][:limit]
    return rows


def _exact(db: apsw.Connection, names: Sequence[str], view: View, within: Mask) -> Floats:
    """Per row: the share of what the cue quotes that it holds, less where many hold it."""
    worth = np.zeros(len(view.keys), np.float32)
    for name in names:
        keys = words.holding_phrase(db, name, _EXACT_AT_MOST)
        rows = view.rows_of(np.array(keys, np.int64))
        rows = rows[within[rows]]
        if rows.size:
            worth[rows] += min(1.0, _RARE_NAME / rows.size) * len(name)
    total = max(1, sum(map(len, names)))
    return (worth / total).astype(np.float32)


def _with_neighbours(pool: Rows, view: View) -> Rows:
    around = np.concatenate([pool, view.before[pool], view.after[pool]])
    # A turn said meanwhile is linked already and not yet in view.
    return np.unique(around[(around != NOBODY) & (around < len(view.keys))]).astype(np.int64)


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
