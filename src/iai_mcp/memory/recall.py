"""Find what this machine already knows about a cue."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

import numpy as np

from iai_mcp.domain.closeness import (
    NOTE,
    Evidence,
    about_the_talk,
    about_the_work,
    nearly_said,
)
from iai_mcp.domain.cue.analysis import CueReading, read
from iai_mcp.domain.cue_matching import CueMatcher, by_length
from iai_mcp.domain.errors import InvalidInput, PlaceSilent
from iai_mcp.domain.filling import asks_for_a_stance
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.memories import as_in
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.scoring import Scored
from iai_mcp.domain.ranking.weights import ranker_for, usual
from iai_mcp.domain.ruling_cues import asks_for_a_rule, weighed
from iai_mcp.engine.finder import Finder, Sought
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.answering import READ_OF_EACH, Answering, Found
from iai_mcp.memory.payload import BYTES_PER_TOKEN
from iai_mcp.memory.question import Answer, Question
from iai_mcp.memory.rules import Rules
from iai_mcp.memory.same_questions import SameQuestions
from iai_mcp.memory.scoping import Access
from iai_mcp.memory.weighing import Ranking, Weighing
from iai_mcp.memory.worked import Worked, WorkShown, read_work
from iai_mcp.ports.embedder import Embedder, Matrix
from iai_mcp.ports.learned import Repeats
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock

# More are looked at than asked for: some are folded into others or superseded.
_SPARE_SHARE, _SPARE_AT_LEAST = 4, 4
_MANY = 1000  # all candidates: looked at when repeats took the places of everything else
_FIRST = 3  # hits that tell whether anything is about the cue
_RULINGS = 2  # that come where the cue asks for a rule
_RULINGS_LOOKED_AT = 96  # the nearest of many
_AS_NEAR = 1.0  # points between two rulings that are about the same
_SILENT = "project: your directory does not answer; no project was preferred"


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
    rules: Rules
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)  # waited for
    same: SameQuestions[Answer] | None = None  # who asks the same at once shares the answer

    def __call__(self, asked: Question) -> Answer:
        """
        Raises:
            InvalidInput: the question brings a vector of another model.
        """
        if self.same is None or asked.vector is not None:
            return self._answer(asked)
        return self.same.answer(asked, lambda: self._answer(asked))

    def _answer(self, asked: Question) -> Answer:
        scope = self.access.scope(asked.about, asked.caller)
        here = self._here(asked)
        leg = self.meaning()
        # The model computes beside the interpreter, so nobody waits for a turn to embed a cue.
        sought, cue = self.sought(asked, scope, leg)
        with self.turn:
            knobs = self.knobs()
            weighing = Weighing(
                self.memories,
                self.finder,
                self.clock.now(),
                cue,
                ranker_for(_model(leg)),
                knobs,
                here or "",
            )
            behind = leg if isinstance(leg, str) else leg.behind
            degraded = tuple(why for why in (behind, "" if here is not None else _SILENT) if why)
            made = self._answered(asked, sought, weighing, leg, sum(map(len, degraded)))
        short = knobs.verbosity == "short"
        return replace(
            made,
            hits=tuple(
                replace(hit, reason=hit.reason.partition(",")[0]) if short else hit
                for hit in made.hits
            ),
            by_meaning=not isinstance(leg, str),
            degraded=degraded,
        )

    def _answered(
        self,
        asked: Question,
        sought: Sought,
        weighing: Weighing,
        leg: MeaningLeg | str,
        sentences: int,
    ) -> Answer:
        enough = asked.limit + max(asked.limit // _SPARE_SHARE, _SPARE_AT_LEAST)
        ranking = weighing.ranking(sought, enough)
        known = ranking.looked.cue if ranking.looked.cue.words else by_length(sought.terms)
        about = CueMatcher(known)
        answering = Answering(
            asked,
            sought.scope,
            self.memories,
            self.repeats,
            about=about,
            cosine=_cosine_of(ranking, "" if weighing.unread else _model(leg)),
            work=WorkShown(asked, about, asks_for_a_stance(asked.cue), self.memories),
            rules=cache(self.rules.of_project),  # many turns, and few projects
            here=weighing.here,
        )
        # Whole turns of work stand by themselves; of pieces several make up an exchange.
        apart = asked.full or not ranking.work
        order = ranking.order(enough) if apart else ranking.talk
        found = answering.holding(self._found(order, sought.scope, alone=apart))
        # Repeats that were folded into one left places empty.
        if len(order) == enough and found.folded and len(found.kept) < asked.limit:
            ranking = weighing.ranked(ranking.looked, _MANY, sought.scope)
            order = ranking.order(_MANY) if apart else ranking.talk
            found = answering.holding(self._found(order, sought.scope, alone=apart))
        room = asked.budget * BYTES_PER_TOKEN
        work = read_work(() if apart else ranking.work, self.memories, sought.scope, room)
        rulings = self._rulings(asked, sought, weighing, leg, answering, work, found.kept)
        found = found.ruled(rulings)
        close = _about(asked.cue, ranking, leg, weighing) or nearly_said(
            _first_texts(found.kept, work), asked.cue, known
        )
        more = sentences + (0 if close else len(NOTE))
        return replace(answering(found, work, more), close=close)

    def _rulings(
        self,
        asked: Question,
        sought: Sought,
        weighing: Weighing,
        leg: MeaningLeg | str,
        answering: Answering,
        work: Worked,
        talk: Sequence[Found],
    ) -> list[Found]:
        """What people rule about the cue, nearest first, where it asks for that.

        An aside of ten words in a long exchange says little beside all that was said there. Where
        rulings were found in talk, by themselves, nothing has to be brought.
        """
        about = asked.about
        if not asks_for_a_rule(asked.cue) or not about.whole or about.as_of is not None:
            return []
        projects = {one.provenance.project for one in work.turns.values()}
        rules = [rule for project in projects for rule in answering.rules(project).holding]
        turns = {rule.memory.key: rule.memory for rule in rules}
        if any(one.memory.key in turns for one in talk):
            return []
        cosines = {} if weighing.unread else _nearest_of(list(turns), sought.vector, leg)
        found: list[Found] = []
        # What was ruled a moment ago has no vector yet.
        for key in list(dict.fromkeys([*cosines, *turns]))[:_RULINGS_LOOKED_AT]:
            memory = turns[key]
            words = answering.about.overlap(answering.about.occurrences(memory.text))
            parts = weighed(words, cosines.get(key), weighing.favour(memory.provenance.project))
            if parts:
                found.append(Found(memory, sum(parts.values()), parts))
        nearest = sorted(found, key=lambda one: (-one.score, -one.memory.key))[:_RULINGS]
        return _latest_first(nearest)

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
        found = Sought(reading.terms, reading.exact, _vector(asked, reading, leg), scope)
        if isinstance(leg, str) or leg.vectors.words is None or not people.worked:
            return found, cue
        return replace(found, words=leg.vectors.words.meant(reading.terms, leg.embedder)), cue

    def _found(self, order: Sequence[Scored], scope: Scope, *, alone: bool) -> list[Found]:
        """The memories of what was ranked; the latest thing said where nothing was, nor else answers."""
        keys = [scored.key for scored in order]
        got = self.memories.get(keys, READ_OF_EACH)
        memories = {memory.key: as_in(memory, scope.session_id) for memory in got}
        found = [
            Found(memories[scored.key], scored.score, scored.parts)
            for scored in order
            if scored.key in memories
        ]
        if found or not alone:
            return found
        latest = self.memories.timeline(replace(scope, said=True), 1)
        return [Found(as_in(memory, scope.session_id), 0.0, {}) for memory in latest]


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


def _latest_first(rulings: Sequence[Found]) -> list[Found]:
    """Of rulings that are about as near, the later one counts more: it may have changed the other."""
    near = [one for one in rulings if rulings[0].score - one.score < _AS_NEAR]
    scores = [one.score for one in near]
    latest = sorted(near, key=lambda one: -one.memory.key)
    lifted = [replace(one, score=score) for one, score in zip(latest, scores, strict=True)]
    return [*lifted, *rulings[len(near) :]]


def _nearest_of(
    keys: Sequence[int], vector: Matrix | None, leg: MeaningLeg | str
) -> dict[int, float]:
    """The nearest rulings, with the cosine of the cue with each or the best of its passages, on the
    scale of the usual model."""
    if isinstance(leg, str) or vector is None or not keys:
        return {}
    among = np.array(keys, np.int64)
    turn = np.nan_to_num(leg.vectors.cosines(vector, among), nan=-1.0)
    closely = np.sort(among[np.argsort(-turn, kind="stable")[:_RULINGS_LOOKED_AT]])
    passage, _ = leg.vectors.best_passages(vector, closely)
    best = np.fmax(leg.vectors.cosines(vector, closely), passage).tolist()
    model = leg.embedder.model_id
    return {
        key: usual(model, one)
        for key, one in zip(closely.tolist(), best, strict=True)
        if not math.isnan(one)
    }


def _cosine_of(ranking: Ranking, model_id: str) -> Callable[[int], float | None]:
    """Of the cue with a candidate or the best of its passages, on the scale of the usual model.

    None for one without a vector, and where no model could read the cue.
    """
    if not model_id:
        return lambda _: None  # exchanges count as nought then
    talk = ranking.looked.talk
    best = np.fmax(talk.turn, talk.passage)
    work = {one.speaker: one.cosine for one in ranking.work}

    def cosine(key: int) -> float | None:
        place = int(talk.keys.searchsorted(key))
        known = place < len(talk) and talk.keys[place] == key
        found = float(best[place]) if known else math.nan
        return work.get(key) if math.isnan(found) else usual(model_id, found)

    return cosine


def _about(cue: str, ranking: Ranking, leg: MeaningLeg | str, weighing: Weighing) -> bool:
    """Whether the first hits are really about the cue."""
    work = ranking.work[:_FIRST]
    if work:
        nearest = None if isinstance(leg, str) else max(one.cosine for one in work)
        found = Evidence(nearest, max(one.words for one in work))
        if about_the_work(found, cue, ranking.looked.cue, unread=weighing.unread):
            return True
    talk, pool = ranking.talk[:_FIRST], ranking.looked.talk
    if not talk:
        return False
    places = [one.place for one in talk]
    near = np.fmax(pool.passage[places], pool.turn[places])
    known = near[~np.isnan(near)]
    found = Evidence(
        cosine=usual(_model(leg), float(known.max())) if known.size else None,
        words=float(pool.words[places].max()),
    )
    # Beside work, that a person spoke who might be "I" tells nothing of what was said.
    nothing = {"who"} if work and weighing.cue.speaker is None else set()
    parts = ((part, worth) for one in talk for part, worth in one.parts.items())
    return about_the_talk(found, (one for one in parts if one[0] not in nothing))


def _first_texts(talk: Sequence[Found], work: Worked) -> Iterator[str]:
    """What was said in the first hits."""
    for one in talk[:_FIRST]:
        yield one.memory.text
    for exchange in work.exchanges[:_FIRST]:
        yield from (work.turns[key].text for key in exchange.keys if key in work.turns)


def _model(leg: MeaningLeg | str) -> str:
    return "" if isinstance(leg, str) else leg.embedder.model_id
