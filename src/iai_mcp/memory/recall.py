"""Find what this machine already knows about a cue."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from iai_mcp.domain.briefing_text import estimated_tokens
from iai_mcp.domain.cue.analysis import CueReading, read
from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.leaning import leaned
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats, supported
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.scoring import Leaning, Scored, ranked
from iai_mcp.domain.ranking.use import support
from iai_mcp.domain.ranking.weights import Ranker, ranker_for
from iai_mcp.engine.finder import Finder, Sought
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.answering import READ_OF_EACH, Answer, Found, answer
from iai_mcp.memory.asking import Asking, asking, fitting, speaker_named
from iai_mcp.memory.params import Params
from iai_mcp.memory.scoping import scope_of
from iai_mcp.memory.settling import Settle, Slept
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock, Projects

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
class Surroundings:
    """What the caller's place and the person's settings favour."""

    knobs: Knobs
    project: str  # the key of the project one works in; "" favours none


@dataclass(frozen=True, slots=True)
class Recall:
    """Words, meaning, time and people weighed together; text verbatim, within the budget."""

    memories: Memories
    projects: Projects
    finder: Finder
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none
    clock: Clock
    knobs: Callable[[], Knobs]
    settle: Settle
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)  # waited for

    def __call__(self, params: Params) -> dict[str, object]:
        asked = asking(params, self.clock.now())
        scope = scope_of(params, self.memories, self.projects)
        here = self._here(params)
        leg = self.meaning()
        # The model computes beside the interpreter, so nobody waits for a turn to embed a cue.
        sought, cue = self.sought(asked, scope, leg)
        with self.turn:
            knobs = self.knobs()
            ranker = ranker_for("" if isinstance(leg, str) else leg.embedder.model_id)
            around = Surroundings(knobs, here or "")
            slept = self._slept(scope, knobs)
            spare = max(asked.limit // _SPARE_SHARE, _SPARE_AT_LEAST)
            for limit in (asked.limit + spare, _MANY):
                found = self._found(sought, cue, ranker, around, limit)
                made = answer(found, asked, self.memories, _counter(leg), slept)
                if len(found) < limit or not _crowded_out(made, asked.limit):
                    break
        degraded = [leg if isinstance(leg, str) else leg.behind, _SILENT if here is None else ""]
        return {
            **_told(made, short=knobs.verbosity == "short"),
            "cue_mode": "words" if isinstance(leg, str) else "words+meaning",
            "degraded": [why for why in degraded if why],
        }

    def _slept(self, scope: Scope, knobs: Knobs) -> Slept:
        return Slept(self.settle, scope, knobs.consolidated_hits)

    def _here(self, params: Params) -> str | None:
        """The project one works in, which is preferred unless all are to be alike.

        None where it can not be known.
        """
        if params.text("project", ""):
            return ""
        try:
            return self.projects.key_of("", params.text("cwd", ""))
        except PlaceSilent:
            return None

    def sought(self, asked: Asking, scope: Scope, leg: MeaningLeg | str) -> tuple[Sought, Asked]:
        """What the cue asks for, as the finder and the ranking need it."""
        people = self.finder.people(scope)
        reading = read(asked.cue, asked.now, people.speakers, asked.language)
        vector = self._vector(asked, reading, leg)
        named = speaker_named(reading.speakers)
        number = None if named is None else self.finder.number("speaker", named)
        cue = Asked(reading, number, people.assistants)
        return Sought(reading.terms, reading.exact, vector, scope), cue

    def _found(
        self, sought: Sought, cue: Asked, ranker: Ranker, around: "Surroundings", limit: int
    ) -> list[Found]:
        pool = self.finder.find(sought)
        order = ranked(pool, cue, ranker, self._leaning(pool, around), limit)
        gained = self._gained(order) if around.knobs.learning == "on" else {}
        if gained:
            pool = supported(self.finder.find(replace(sought, also=tuple(gained))), gained)
            order = ranked(pool, cue, ranker, self._leaning(pool, around), limit)
        found = self._with_memories(order)
        if found:
            return found
        return [
            Found(memory, 0.0, {})
            for memory in self.memories.timeline(replace(sought.scope, said=True), 1)
        ]

    def _gained(self, order: Sequence[Scored]) -> dict[int, float]:
        """What memories gain from having answered together with the best of this answer."""
        best = order[:_SUPPORTING]
        links = self.memories.links([one.key for one in best], "together")
        if not links:
            return {}
        top = best[0].score
        sure = {one.key: math.exp(min(0.0, one.score - top)) for one in best}
        return support(links, sure, self.clock.now())

    def _leaning(self, pool: Candidates, around: "Surroundings") -> Leaning:
        """How the surroundings favour each candidate, in the logarithm of a factor."""
        knobs = around.knobs
        here = self.finder.number("project", around.project) if around.project else NONE
        own = (pool.project == here) & (here != NONE)
        recency = np.zeros(len(pool), np.float32)
        if knobs.recency_weight:
            ages = (self.clock.now() - pool.at * 1e6).astype(np.int64).tolist()
            recency = np.array([_lean(knobs, age=age) for age in ages], np.float32)
        return Leaning(
            project=own * np.float32(_lean(knobs, own=True)),
            recency=recency,
            fading=lambda keys: _each(
                self.settle.strengths_of(keys), lambda one: _lean(knobs, strength=one)
            ),
        )

    def _vector(self, asked: Asking, reading: CueReading, leg: MeaningLeg | str) -> Matrix | None:
        if isinstance(leg, str):
            return None
        if asked.vector is not None:
            return fitting(asked.vector, leg.embedder.dimensions)
        vector: Matrix = leg.embedder.embed([reading.meaning])[0]
        return vector

    def _with_memories(self, order: Sequence[Scored]) -> list[Found]:
        keys = [scored.key for scored in order]
        memories = {memory.key: memory for memory in self.memories.get(keys, READ_OF_EACH)}
        return [
            Found(memories[scored.key], scored.score, scored.parts)
            for scored in order
            if scored.key in memories
        ]


def _lean(knobs: Knobs, *, age: int = _AGES_AGO, own: bool = False, strength: float = 1.0) -> float:
    """The logarithm of the factor by which a memory is favoured."""
    return math.log(leaned(1.0, knobs, age_micros=age, own_project=own, strength=strength))


def _each(values: Sequence[float], measure: Callable[[float], float]) -> Floats:
    """The measure of each value, made once for those that are equal: most are."""
    known = {value: measure(value) for value in set(values)}
    return np.array([known[value] for value in values], np.float32)


def _crowded_out(made: Answer, wanted: int) -> bool:
    """Whether repeats that were folded into one left places empty."""
    return len(made.hits) < wanted and any("same" in hit for hit in made.hits)


def _counter(leg: MeaningLeg | str) -> Callable[[str], int]:
    return estimated_tokens if isinstance(leg, str) else leg.embedder.count_tokens


def _told(made: Answer, *, short: bool) -> dict[str, object]:
    if short:
        for hit in made.hits:
            hit["reason"] = str(hit["reason"]).partition(",")[0]
    told: dict[str, object] = {
        "hits": made.hits,
        "anti_hits": made.anti_hits,
        "budget_used": made.tokens,
        "budget_is_estimate": True,
    }
    if made.sessions is not None:
        told["sessions"] = made.sessions
    return told
