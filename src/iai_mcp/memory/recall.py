"""Find what this machine knows about a cue: reads the store between the stages of the recall pipeline."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from iai_mcp.domain.errors import InvalidInput, PlaceSilent
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.use_links import support
from iai_mcp.engine.vectors import MeaningLeg
from iai_mcp.memory.question import Answer, Question
from iai_mcp.memory.recall_hits import HitSearch
from iai_mcp.memory.recall_search import READ_OF_EACH, Sources
from iai_mcp.memory.recall_text import TextSearch
from iai_mcp.memory.same_questions import SameQuestions
from iai_mcp.memory.scoping import Access
from iai_mcp.memory.work_recall import WorkHit
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.learned import Repeats
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock
from iai_mcp.recall.candidates import NONE, Candidates, Finder
from iai_mcp.recall.query import Query, holds_exactly, parse_query
from iai_mcp.recall.render import BYTES_PER_TOKEN
from iai_mcp.recall.score import Ranked, Surroundings, rank, with_use

_SUPPORTING = 5  # so many of the best support what was reinforced together with them
_VERIFIED = 60  # memories whose text is read for one exact part
_SILENT = "project: your directory does not answer; no project was preferred"


@dataclass(frozen=True, slots=True)
class Recall:
    """Search by words, meaning and exact parts. Text comes back verbatim, within the budget."""

    memories: Memories
    access: Access
    finder: Finder
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none
    clock: Clock
    knobs: Callable[[], Knobs]
    repeats: Repeats
    tokens: Callable[[str], Sequence[str]]  # a text's words as the index spells them
    given: Callable[[str], frozenset[str]] = lambda _: frozenset()  # ids that a session was given
    # The work to show beside results of a question, which spans name by session and time.
    work: Callable[[Question, Scope, Query, Sequence[Scope]], Sequence[WorkHit]] | None = None
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)  # waited for
    same: SameQuestions[Answer] | None = None  # callers that ask the same share one answer

    @property
    def sources(self) -> Sources:
        """What each search reads."""
        return Sources(self.memories, self.finder, self.repeats, self.tokens, self.given, self.work)

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
        now = asked.now or datetime.fromtimestamp(self.clock.now() / 1e6).astimezone()
        query = parse_query(
            asked.cue,
            asked.wordings,
            now=now,
            speakers=self.finder.people(scope),
            language=asked.language,
        )
        behind = leg if isinstance(leg, str) else leg.behind
        degraded = tuple(why for why in (behind, "" if here is not None else _SILENT) if why)
        note = f"\n\n({'; '.join(degraded)})" if asked.as_text and degraded else ""
        taken = -(-len(note.encode()) // BYTES_PER_TOKEN)
        # The model computes beside the interpreter: nobody waits for a turn to embed a cue.
        embedded = _embedded(asked, query, leg)
        with self.turn:
            knobs = self.knobs()
            around = Surroundings(
                self.clock.now() / 1e6,
                self.finder.number("project", here) if here else NONE,
                knobs.project_preference,
                knobs.recency_weight,
            )
            found = self.finder.find(query, embedded, scope, self._exact_keys(query.exact))
            ranked = rank(found, query, _model(leg), around)
            if knobs.learning == "on":
                ranked = self._with_use(found, ranked)
            vectors = None if isinstance(leg, str) else leg.vectors
            form = TextSearch if asked.as_text else HitSearch
            fitting = replace(asked, budget=max(1, asked.budget - taken))
            search = form(self.sources, fitting, scope, query, embedded, vectors, found, ranked)
            answer = search.answer()
        hits = answer.hits
        if knobs.verbosity == "short":
            hits = tuple(replace(hit, reason=hit.reason.partition(",")[0]) for hit in hits)
        return replace(
            answer,
            hits=hits,
            text=answer.text + note,
            by_meaning=not isinstance(leg, str),
            degraded=degraded,
        )

    def _with_use(self, found: Candidates, ranked: Ranked) -> Ranked:
        """The ranking with what `memory_reinforce` said of the best results and others."""
        best = ranked.places[:_SUPPORTING].tolist()
        links = self.memories.links([int(found.best[place]) for place in best], "together")
        if not links:
            return ranked
        top = max((float(ranked.scores[place]) for place in best), default=0.0)
        sure = {
            int(found.best[place]): math.exp(min(0.0, float(ranked.scores[place]) - top))
            for place in best
        }
        return with_use(ranked, found, support(links, sure, self.clock.now()))

    def _exact_keys(self, parts: Sequence[str]) -> list[list[int]]:
        """The memories that hold each exact part letter by letter; where none does, or very many may, those
        that hold its words side by side."""
        found = self.finder.holding_exactly(parts)
        verified = []
        for part, keys in zip(parts, found, strict=True):
            few = keys if len(keys) <= _VERIFIED else ()
            same = [
                one.key
                for one in self.memories.get(few, READ_OF_EACH)
                if holds_exactly(one.text, part)
            ]
            verified.append(same or keys)
        return verified

    def _here(self, asked: Question) -> str | None:
        """The caller's own project, which is preferred unless the question names one; None where it can
        not be known."""
        if asked.about.project:
            return ""
        try:
            return self.access.projects.key_of("", asked.caller.cwd)
        except PlaceSilent:
            return None


def _embedded(asked: Question, query: Query, leg: MeaningLeg | str) -> Matrix | None:
    """A row per wording; the caller may bring the cue's."""
    if isinstance(leg, str):
        return None
    texts = [one.meaning for one in query.wordings]
    if asked.vector is None:
        return np.asarray(leg.embedder.embed(texts), np.float32)
    if len(asked.vector) != leg.embedder.dimensions:
        raise InvalidInput(
            f"cue_embedding must have {leg.embedder.dimensions} numbers, not {len(asked.vector)}"
        )
    others = [leg.embedder.embed(texts[1:])] if texts[1:] else []
    return np.concatenate([np.asarray(asked.vector, np.float32)[None], *others])


def _model(leg: MeaningLeg | str) -> str:
    return "" if isinstance(leg, str) else leg.embedder.model_id
