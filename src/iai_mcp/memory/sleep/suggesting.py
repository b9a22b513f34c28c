"""Look for statements that a later one leaves in doubt. They are suggested, never acted upon."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.claims import Claim, Conflict, claims, conflict
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.ranking.weights import bar_of
from iai_mcp.domain.recap import exchange_of
from iai_mcp.domain.rule_register import may_rule
from iai_mcp.domain.rulings import spoken
from iai_mcp.memory.recall import MeaningLeg
from iai_mcp.ports.memories import Memories, Scope
from iai_mcp.ports.sleep import Change, Enough, Page, Suggested, Withdrawn, never
from iai_mcp.ports.surroundings import Clock

# Raised when statements are read differently: what an earlier reading suggested is withdrawn then.
_READING = 2
_A_NIGHT = 5  # whoever is shown more looks at none
_MEMORIES = 32  # read in a page
_SEARCHES = 8  # made in a page: each compares with the whole store
# Made in a night: with a million memories one takes ten milliseconds, and an import states hundreds of
# thousands of things. The next night goes on behind them.
_SEARCHES_A_NIGHT = 20_000
_NEAR = 16
# Two sentences that differ in one value are nearer than this to each other.
_ABOUT_THE_SAME = 0.5
_LOOKED_AT = 2000
_LETTERS = 8000  # read in a page: whichever comes first
_TERMS = 8


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a night stands: behind which memory, how much it has suggested and how often searched."""

    key: int
    suggested: int = 0
    searched: int = 0

    def __str__(self) -> str:
        return f"{_READING}:{self.key}:{self.suggested}:{self.searched}"

    @classmethod
    def of(cls, cursor: str) -> "_Place | None":
        """None where no night, or one that read differently, left off."""
        reading, _, rest = cursor.partition(":")
        if reading != str(_READING):
            return None
        return cls(*map(int, rest.split(":")))  # an earlier version did not count searches


@dataclass(frozen=True, slots=True)
class SuggestCorrections:
    """What people state is held against what they stated, or agents concluded, before in its project.

    Two agents' texts never contradict each other so that anybody would have to know.
    """

    memories: Memories
    meaning: Callable[[], MeaningLeg | str]
    clock: Clock
    learning: Callable[[], bool]
    name: str = "suggestions"

    def start(self, cursor: str) -> str:
        last = _Place.of(cursor)
        return "" if last is None else str(_Place(last.key))

    def page(self, cursor: str, enough: Enough = never) -> Page:
        if not self.learning():
            return Page(cursor, done=True)
        place = _Place.of(cursor)
        if place is None:
            return Page(str(_Place(0)), changes=(Withdrawn(self.clock.now()),))
        read = self.memories.after(place.key, _MEMORIES)
        changes: list[Change] = []
        searches = letters = 0
        for number, memory in enumerate(read):
            stated = _stated(memory)
            letters += min(len(memory.text), _LOOKED_AT)
            if stated:
                searches += 1
                changes += self._doubted(memory, stated)
            full = place.suggested + len(changes) >= _A_NIGHT
            if full or searches == _SEARCHES or letters >= _LETTERS or enough():
                read = read[: number + 1]
                break
        # The surest of the last memory, not more than fit into the night.
        changes = changes[: _A_NIGHT - place.suggested]
        now = _Place(
            read[-1].key if read else place.key,
            place.suggested + len(changes),
            place.searched + searches,
        )
        enough_for_now = now.suggested == _A_NIGHT or now.searched >= _SEARCHES_A_NIGHT
        return Page(
            str(now),
            done=not read or enough_for_now,
            changes=tuple(changes),
            counts={"changed": len(changes), "compared": searches, "suggested": len(changes)},
        )

    def _doubted(self, memory: Memory, stated: Sequence[Claim]) -> list[Suggested]:
        found: list[Suggested] = []
        for earlier in self._before(memory, stated):
            best = _best(claims(_said(earlier)[:_LOOKED_AT]), stated)
            if best is not None and self._counts(earlier):
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

    def _counts(self, earlier: Memory) -> bool:
        """Whether a person said it, or it is what an agent concluded; not what it said on the way."""
        if earlier.role == "user" or not earlier.provenance.session_id:
            return True
        _, after = self.memories.neighbours(earlier, 1, _LOOKED_AT)
        return exchange_of(earlier, (), after).conclusion is earlier

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
            and other.text.strip() != memory.text.strip()
            and other.provenance.session_id != (memory.provenance.session_id or None)
        ]


def _stated(memory: Memory) -> list[Claim]:
    if memory.valid_to is not None or not may_rule(memory):
        return []
    return [claim for claim in claims(_said(memory)) if claim.telling]


def _said(memory: Memory) -> str:
    return spoken(memory.text) if memory.role == "user" else memory.text


def _best(older: Sequence[Claim], newer: Sequence[Claim]) -> Conflict | None:
    found = [one for a in older for b in newer if (one := conflict(a, b)) is not None]
    return max(found, key=lambda one: one.score, default=None)
