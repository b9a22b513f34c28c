"""`Finder` over the encrypted file: a pool from every leg, then a closer look at the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np
from numpy.typing import NDArray

from iai_mcp.adapters.sqlite import words
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats, few_of_equal
from iai_mcp.domain.ranking.lexical import WordScores, word_scores
from iai_mcp.engine.columns import NOBODY, Mask, Sheet, View
from iai_mcp.engine.crowds import Crowds
from iai_mcp.ports.finding import People, Sought
from iai_mcp.ports.memories import Scope

Rows = NDArray[np.int64]

_POOL = 80  # of each leg: more changes nothing measurable
_ALIKE = 20  # of them, so many at most that score the same
_WISHES = 24
_EXACT_AT_MOST = 200  # memories that hold what the cue quotes, newest first
# A name that many memories hold tells them apart no longer: its worth falls from here on.
_RARE_NAME = 3
# How many candidates are compared passage by passage: the rest could not reach the top.
_LOOKED_AT_CLOSELY = 96
_WISHES_WITHIN = 500
# Words and cosine on one scale, only to choose whom to look at closely.
_WORDS_AT_FIRST, _COSINE_AT_FIRST = 4.0, 10.0


@dataclass(frozen=True, slots=True)
class SqliteFinder:
    """Reads only."""

    database: Database
    sheet: Callable[[], Sheet]
    vectors: Callable[[], SqliteVectors | None]  # None while there is no model
    crowds: Crowds = field(default_factory=Crowds)

    def find(self, sought: Sought) -> Candidates:
        sheet = self.sheet()
        view = sheet.view()
        within = sheet.within(view, sought.scope)
        with self.database.reading() as db:
            terms = words.postings(db, sought.terms, view)
            exact = _exact(db, sought.exact, view, within)
        lexical = word_scores(terms, self.crowds.of(view, within).population)
        near, topics = self._meaning(sought, view, within)
        strongest = _strongest(lexical.words, _POOL)
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
        )

    def number(self, column: str, name: str) -> int:
        return self.sheet().number(column, name)

    def _meaning(self, sought: Sought, view: View, within: Mask) -> tuple[Rows, dict[int, float]]:
        """The rows nearest in meaning, and the memories whose wishes are about the cue."""
        vectors = self.vectors()
        if vectors is None or sought.vector is None:
            return np.zeros(0, np.int64), {}
        keys = None if sought.scope.everything else view.keys[within]
        near = [key for key, _ in vectors.nearest(sought.vector, _POOL, keys, alike=_ALIKE)]
        standing = np.flatnonzero(within & view.standing)
        if not standing.size:
            return view.rows_of(np.array(near, np.int64)), {}
        few = view.keys[standing] if standing.size <= _WISHES_WITHIN else None
        wishes = vectors.passages.wishes_about(sought.vector, _WISHES, few)
        return view.rows_of(np.array(near, np.int64)), wishes

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
        rows = rows[few_of_equal(column[rows], _ALIKE)][:limit]
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
