"""Look for statements that a later one leaves in doubt. They are suggested, never acted upon."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.claims import Claim, Conflict, claims, conflict
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ranking.weights import bar_of
from iai_mcp.memory.recall import MeaningLeg
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.sleep import Enough, Page, Suggested, never
from iai_mcp.ports.surroundings import Clock

_MEMORIES = 32  # read in a page
_SEARCHES = 8  # made in a page: each compares with the whole store
_NEAR = 16
# Two sentences that differ in one value are nearer than this to each other.
_ABOUT_THE_SAME = 0.5
_LOOKED_AT = 2000
_LETTERS = 8000  # read in a page: whichever comes first
_TERMS = 8


@dataclass(frozen=True, slots=True)
class SuggestCorrections:
    """Every memory that states something is held against what was said before in its project."""

    memories: Memories
    meaning: Callable[[], MeaningLeg | str]
    clock: Clock
    learning: Callable[[], bool]
    name: str = "suggestions"

    def start(self, cursor: str) -> str:
        return cursor or "0"

    def page(self, cursor: str, enough: Enough = never) -> Page:
        if not self.learning():
            return Page(cursor, done=True)
        read = self.memories.after(int(cursor), _MEMORIES)
        changes: list[Suggested] = []
        searches = letters = 0
        for number, memory in enumerate(read):
            stated = _stated(memory)
            letters += min(len(memory.text), _LOOKED_AT)
            if stated:
                searches += 1
                changes += self._doubted(memory, stated)
            if searches == _SEARCHES or letters >= _LETTERS or enough():
                read = read[: number + 1]
                break
        return Page(
            str(read[-1].key) if read else cursor,
            done=not read,
            changes=tuple(changes),
            counts={"changed": len(changes), "compared": searches, "suggested": len(changes)},
        )

    def _doubted(self, memory: Memory, stated: Sequence[Claim]) -> list[Suggested]:
        found: list[Suggested] = []
        for earlier in self._before(memory, stated):
            best = _best(claims(earlier.text[:_LOOKED_AT]), stated)
            if best is not None:
                found.append(
                    Suggested(
                        earlier.key,
                        memory.key,
                        best.kind,
                        best.reason,
                        round(best.score, 3),
                        self.clock.now(),
                    )
                )
        return found

    def _before(self, memory: Memory, stated: Sequence[Claim]) -> list[Memory]:
        """What was said earlier, in the same project, about the same thing."""
        leg = self.meaning()
        project = memory.provenance.project
        if isinstance(leg, str):
            terms = sorted(term for claim in stated for term in claim.subject)[:_TERMS]
            hits = self.memories.by_words(terms, Scope(projects=(project,)), _NEAR)
            keys = [hit.key for hit in hits]
        else:
            near = leg.vectors.like(memory.key, _NEAR)
            bar = bar_of(leg.embedder.model_id, _ABOUT_THE_SAME)
            keys = [key for key, cosine in near if cosine >= bar]
        return [
            other
            for other in self.memories.get(keys)
            if other.provenance.project == project
            and (other.at.micros, other.key) < (memory.at.micros, memory.key)
            and other.valid_to is None
            and not other.derived
        ]


def _stated(memory: Memory) -> list[Claim]:
    if memory.valid_to is not None or len(memory.text) > _LOOKED_AT:
        return []
    return [claim for claim in claims(memory.text) if claim.telling]


def _best(older: Sequence[Claim], newer: Sequence[Claim]) -> Conflict | None:
    found = [one for a in older for b in newer if (one := conflict(a, b)) is not None]
    return max(found, key=lambda one: one.score, default=None)
