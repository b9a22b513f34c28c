"""Find what this machine already knows about a cue."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from iai_mcp.domain.briefing_text import estimated_tokens
from iai_mcp.domain.cue.analysis import CueReading, read
from iai_mcp.domain.errors import InvalidInput, PlaceSilent
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.leaning import leaned
from iai_mcp.domain.memories import as_in
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats, supported
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.scoring import Leaning, Scored, ranked
from iai_mcp.domain.ranking.use import support
from iai_mcp.domain.ranking.weights import Ranker, ranker_for, usual
from iai_mcp.engine.finder import Finder, Sought
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.answering import READ_OF_EACH, Answering, Found
from iai_mcp.memory.question import Answer, Question
from iai_mcp.memory.scoping import Access
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.learned import Repeats, Strengths, Topics
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock

# More are looked at than asked for: some are folded into others or superseded.
_SPARE_SHARE, _SPARE_AT_LEAST = 4, 4
_MANY = 1000  # all candidates: looked at when repeats took the places of everything else
_SUPPORTING = 5  # so many of the best support what answered together with them
_SILENT = "project: your directory does not answer; no project was preferred"
_AGES_AGO = 1 << 62  # microseconds: older than any preference for the recent reaches


@dataclass(frozen=True, slots=True)
class MeaningLeg:
    """The vectors and the model that made them."""

    embedder: Embedder
    vectors: Vectors
    behind: str = ""  # what to tell while most memories have no vector of this model yet


@dataclass(frozen=True, slots=True)
class Recall:
    """Words, meaning, time and people weighed together; text verbatim, within the budget."""

    memories: Memories
    access: Access
    finder: Finder
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none
    clock: Clock
    knobs: Callable[[], Knobs]
    repeats: Repeats
    topics: Topics
    strengths: Strengths
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)  # waited for

    def __call__(self, asked: Question) -> Answer:
        """
        Raises:
            InvalidInput: the question brings a vector of another model.
        """
        scope = self.access.scope(asked.about, asked.caller)
        here = self._here(asked)
        leg = self.meaning()
        # The model computes beside the interpreter, so nobody waits for a turn to embed a cue.
        sought, cue = self.sought(asked, scope, leg)
        with self.turn:
            knobs = self.knobs()
            weighing = _Weighing(self, cue, ranker_for(_model(leg)), knobs, here or "")
            made = self._answered(asked, sought, weighing, leg)
        degraded = (leg if isinstance(leg, str) else leg.behind, _SILENT if here is None else "")
        short = knobs.verbosity == "short"
        return replace(
            made,
            hits=tuple(
                replace(hit, reason=hit.reason.partition(",")[0]) if short else hit
                for hit in made.hits
            ),
            by_meaning=not isinstance(leg, str),
            degraded=tuple(why for why in degraded if why),
        )

    def _answered(
        self, asked: Question, sought: Sought, weighing: "_Weighing", leg: MeaningLeg | str
    ) -> Answer:
        enough = asked.limit + max(asked.limit // _SPARE_SHARE, _SPARE_AT_LEAST)
        pool, order = weighing.candidates(sought, enough)
        answering = Answering(
            asked,
            sought.scope,
            self.memories,
            self.repeats,
            self.topics,
            count=estimated_tokens if isinstance(leg, str) else leg.embedder.count_tokens,
            cosine=_cosine_of(pool, _model(leg)),
            digests=weighing.knobs.consolidated_hits,
        )
        found = self._found(order, sought.scope)
        made = answering(found)
        if len(found) < enough or not _crowded_out(made, asked.limit):
            return made
        return answering(self._found(weighing.order(pool, _MANY), sought.scope))

    def _here(self, asked: Question) -> str | None:
        """The project one works in, which is preferred unless all are to be alike.

        None where it can not be known.
        """
        if asked.about.project:
            return ""
        try:
            return self.access.projects.key_of("", asked.caller.cwd)
        except PlaceSilent:
            return None

    def sought(self, asked: Question, scope: Scope, leg: MeaningLeg | str) -> tuple[Sought, Asked]:
        """What the cue asks for, as the finder and the ranking need it."""
        now = asked.now or datetime.fromtimestamp(self.clock.now() / 1e6).astimezone()
        people = self.finder.people(scope)
        reading = read(asked.cue, now, people.speakers, asked.language)
        # One speaker is meant; who names two asks about both.
        named = reading.speakers[0] if len(reading.speakers) == 1 else None
        number = None if named is None else self.finder.number("speaker", named)
        cue = Asked(reading, number, people.assistants)
        return Sought(reading.terms, reading.exact, _vector(asked, reading, leg), scope), cue

    def _found(self, order: Sequence[Scored], scope: Scope) -> list[Found]:
        """The memories of what was ranked; the latest thing said where nothing was."""
        keys = [scored.key for scored in order]
        got = self.memories.get(keys, READ_OF_EACH)
        memories = {memory.key: as_in(memory, scope.session_id) for memory in got}
        return [
            Found(memories[scored.key], scored.score, scored.parts)
            for scored in order
            if scored.key in memories
        ] or [
            Found(as_in(memory, scope.session_id), 0.0, {})
            for memory in self.memories.timeline(replace(scope, said=True), 1)
        ]


@dataclass(frozen=True, slots=True)
class _Weighing:
    """How the candidates of one recall are put in order."""

    recall: Recall
    cue: Asked
    ranker: Ranker
    knobs: Knobs
    here: str  # the key of the project one works in; "" favours none

    def candidates(self, sought: Sought, limit: int) -> tuple[Candidates, list[Scored]]:
        """What might answer, and the best of it.

        Looked for once; and once more with what answered together with the best, if anything did.
        """
        pool = self.recall.finder.find(sought)
        order = self.order(pool, limit)
        gained = self._gained(order) if self.knobs.learning == "on" else {}
        if not gained:
            return pool, order
        pool = supported(self.recall.finder.find(replace(sought, also=tuple(gained))), gained)
        return pool, self.order(pool, limit)

    def order(self, pool: Candidates, limit: int) -> list[Scored]:
        return ranked(pool, self.cue, self.ranker, self._leaning(pool), limit)

    def _gained(self, order: Sequence[Scored]) -> dict[int, float]:
        """What memories gain from having answered together with the best of this answer."""
        best = order[:_SUPPORTING]
        links = self.recall.memories.links([one.key for one in best], "together")
        if not links:
            return {}
        top = best[0].score
        sure = {one.key: math.exp(min(0.0, one.score - top)) for one in best}
        return support(links, sure, self.recall.clock.now())

    def _leaning(self, pool: Candidates) -> Leaning:
        """How the surroundings favour each candidate, in the logarithm of a factor."""
        here = self.recall.finder.number("project", self.here) if self.here else NONE
        own = (pool.project == here) & (here != NONE)
        recency = np.zeros(len(pool), np.float32)
        if self.knobs.recency_weight:
            ages = (self.recall.clock.now() - pool.at * 1e6).astype(np.int64).tolist()
            recency = np.array([_lean(self.knobs, age=age) for age in ages], np.float32)
        return Leaning(
            project=own * np.float32(_lean(self.knobs, own=True)),
            recency=recency,
            fading=self._fading,
        )

    def _fading(self, keys: Sequence[int]) -> Floats:
        """What no sleep has looked at yet stands at full strength."""
        known = self.recall.strengths.of(keys)
        strengths = [known.get(key, 1.0) for key in keys]
        # Made once for those that are equal: most are.
        lean = {one: _lean(self.knobs, strength=one) for one in set(strengths)}
        return np.array([lean[one] for one in strengths], np.float32)


def _lean(knobs: Knobs, *, age: int = _AGES_AGO, own: bool = False, strength: float = 1.0) -> float:
    """The logarithm of the factor by which a memory is favoured."""
    return math.log(leaned(1.0, knobs, age_micros=age, own_project=own, strength=strength))


def _vector(asked: Question, reading: CueReading, leg: MeaningLeg | str) -> Matrix | None:
    if isinstance(leg, str):
        return None
    if asked.vector is None:
        made: Matrix = leg.embedder.embed([reading.meaning])[0]
        return made
    if len(asked.vector) != leg.embedder.dimensions:
        raise InvalidInput(
            f"cue_embedding must have {leg.embedder.dimensions} numbers, not {len(asked.vector)}"
        )
    return asked.vector


def _cosine_of(pool: Candidates, model_id: str) -> Callable[[int], float | None]:
    """Of the cue with a candidate, on the scale of the usual model; None for one without a vector."""
    known = dict(zip(pool.keys.tolist(), pool.turn.tolist(), strict=True))

    def cosine(key: int) -> float | None:
        found = known.get(key, math.nan)
        return None if math.isnan(found) else usual(model_id, found)

    return cosine


def _crowded_out(made: Answer, wanted: int) -> bool:
    """Whether repeats that were folded into one left places empty."""
    return len(made.hits) < wanted and any(hit.same for hit in made.hits)


def _model(leg: MeaningLeg | str) -> str:
    return "" if isinstance(leg, str) else leg.embedder.model_id
