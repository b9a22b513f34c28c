"""Find what this machine already knows about a cue."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.errors import EmptyCue, InvalidInput
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.leaning import leaned
from iai_mcp.domain.memories import Memory
from iai_mcp.memory.params import Params
from iai_mcp.memory.scoping import scope_of
from iai_mcp.memory.showing import record
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.surroundings import Clock, Projects
from iai_mcp.ports.vectors import Matrix, Vectors

_POOL = 200  # candidates of each leg: more changes nothing measurable
_RANK_CONSTANT = 60
_DEFAULT_HITS = 10
_WORD = re.compile(r"\w+")
_STOP_WORDS = """
a an and are as at be but by did do does for from had has have how i in is it its me my of on or
our so that the their them there they this to was we were what when where which who why will with
you your
"""
_STOP = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class MeaningLeg:
    """The vectors and the model that made them."""

    embedder: Embedder
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Recall:
    """Words and meaning, fused by rank; text verbatim, within the budget."""

    memories: Memories
    projects: Projects
    meaning: Callable[[], MeaningLeg | str]  # a string says why there is none
    clock: Clock
    knobs: Callable[[], Knobs]

    def __call__(self, params: Params) -> dict[str, object]:
        cue = params.text("cue")
        if not cue.strip():
            raise EmptyCue("the cue is blank: say what you want to recall")
        budget = params.integer("budget_tokens", 1500, 1, 1_000_000)
        limit = params.integer("k", _DEFAULT_HITS, 1, 100)
        scope = scope_of(params, self.memories, self.projects)
        leg = self.meaning()
        degraded = [leg] if isinstance(leg, str) else []
        knobs = self.knobs()
        ranked = self._ranked(cue, _given_vector(params), scope, leg)
        ranked = self._leaned(ranked, knobs, self.projects.key_of("", params.text("cwd", "")))
        hits, used = self._within_budget(ranked[:limit], budget, leg)
        if knobs.verbosity == "short":
            hits = [{**hit, "reason": str(hit["reason"]).split(" ")[0]} for hit in hits]
        return {
            "hits": hits,
            "anti_hits": [],
            "budget_used": used,
            "cue_mode": "words" if degraded else "words+meaning",
            "degraded": degraded,
        }

    def _ranked(
        self, cue: str, vector: Matrix | None, scope: Scope, leg: MeaningLeg | str
    ) -> list[tuple[Memory, float, str]]:
        words = [hit.key for hit in self.memories.by_words(terms(cue), scope, _POOL)]
        near: list[int] = []
        if not isinstance(leg, str):
            embedded = leg.embedder.embed([cue])[0] if vector is None else vector
            within = self.memories.keys(scope)
            near = [key for key, _ in leg.vectors.nearest(embedded, _POOL, within)]
        scores: dict[int, float] = {}
        reasons: dict[int, list[str]] = {}
        for keys, reason in ((words, "words"), (near, "meaning")):
            for rank, key in enumerate(keys, 1):
                scores[key] = scores.get(key, 0.0) + 1 / (_RANK_CONSTANT + rank)
                reasons.setdefault(key, []).append(f"{reason} #{rank}")
        order = sorted(scores, key=lambda key: (-scores[key], key))[:100]
        found = self._newest_first(self.memories.get(order)) or self.memories.timeline(scope, 1)
        return [
            (m, scores.get(m.key, 0.0), ", ".join(reasons.get(m.key, ["most recent"])))
            for m in found
        ]

    def _leaned(
        self, ranked: Sequence[tuple[Memory, float, str]], knobs: Knobs, project: str
    ) -> list[tuple[Memory, float, str]]:
        """The same memories with scores that lean as the knobs say, successors still first."""
        now = self.clock.now()
        scored = {
            memory.key: (
                leaned(
                    score,
                    knobs,
                    age_micros=now - memory.at.micros,
                    own_project=bool(project) and memory.provenance.project == project,
                    strength=1.0,
                ),
                reason,
            )
            for memory, score, reason in ranked
        }
        order = sorted((one[0] for one in ranked), key=lambda m: -scored[m.key][0])
        return [(memory, *scored[memory.key]) for memory in self._newest_first(order)]

    def _newest_first(self, ranked: Sequence[Memory]) -> list[Memory]:
        """The same memories, each superseded one after its successor."""
        successors = [memory.successor for memory in ranked if memory.successor is not None]
        known = {memory.key: memory for memory in (*self.memories.get(successors), *ranked)}
        ordered: dict[int, Memory] = {}
        for memory in ranked:
            chain = [memory]
            while (after := chain[-1].successor) in known and known[after] not in chain:
                chain.append(known[after])
            ordered |= {one.key: one for one in reversed(chain) if one.key not in ordered}
        return list(ordered.values())

    def _within_budget(
        self, ranked: Sequence[tuple[Memory, float, str]], budget: int, leg: MeaningLeg | str
    ) -> tuple[list[dict[str, object]], int]:
        hits: list[dict[str, object]] = []
        used = 0
        for memory, score, reason in ranked:
            cost = tokens(memory.text, leg)
            if hits and used + cost > budget:
                continue
            hits.append({**record(memory), "score": round(score, 6), "reason": reason})
            used += cost
        return hits, used


def terms(cue: str) -> list[str]:
    """The words of a cue that can tell memories apart; all of them if none can."""
    found = list(dict.fromkeys(word.lower() for word in _WORD.findall(cue)))
    return [word for word in found if word not in _STOP] or found


def tokens(text: str, leg: MeaningLeg | str) -> int:
    """How many tokens a text costs a model: an estimate by the embedder's tokenizer."""
    if isinstance(leg, str):
        return max(1, len(text) // 4)
    return leg.embedder.count_tokens(text)


def _given_vector(params: Params) -> Matrix | None:
    raw = params.raw("cue_embedding")
    if raw is None:
        return None
    if not isinstance(raw, list) or not all(isinstance(x, int | float) for x in raw) or not raw:
        raise InvalidInput("cue_embedding must be a list of numbers")
    vector = np.array(raw, dtype=np.float32)
    return vector / max(float(np.linalg.norm(vector)), 1e-12)
