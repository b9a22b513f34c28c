"""What sleep found out about the memories that answer a cue: their strength, repeats and digests."""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.memories import Memory
from iai_mcp.ports.learned import Repeats, Strengths, Topics
from iai_mcp.ports.memories import Memories, Scope

# Digests are looked for among those of the best hits, and only a few come along.
_ASKED = 10
_DIGESTS = 2
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Settle:
    """Reads only. It never changes the order of what was said."""

    memories: Memories
    repeats: Repeats
    topics: Topics
    strengths: Strengths

    def strengths_of(self, keys: Sequence[int]) -> list[float]:
        """From 0 to 1 for each key; one that no sleep has looked at yet stands at 1."""
        known = self.strengths.of(keys)
        return [known.get(key, 1.0) for key in keys]


@dataclass(frozen=True, slots=True)
class Slept:
    """The same for one answer."""

    settle: Settle
    scope: Scope
    wanted: str  # where digests may stand: the knob `consolidated_hits`

    def folds(self, memories: Sequence[Memory]) -> dict[int, tuple[int, bool]]:
        """The group of each memory that has repeats; what holds is never folded with what does not."""
        known = self.settle.repeats.folds_of([memory.key for memory in memories])
        return {m.key: (known[m.key], m.valid_to is None) for m in memories if m.key in known}

    def repeated(self, fold: int) -> tuple[int, Sequence[str]]:
        """How often it was said in all, and the ids of the latest."""
        return self.settle.repeats.members(fold, _LISTED)

    def digests(self, best: Sequence[Memory], limit: int) -> list[tuple[Memory, str]]:
        """Digests made of the best hits, those of the very best first, with why they come along."""
        if self.wanted == "off" or not best or not _whole(self.scope):
            return []
        if self.wanted == "auto" and len(best) >= limit:
            return []
        keys = [memory.key for memory in best[:_ASKED]]
        place = {key: number for number, key in enumerate(keys, 1)}
        quoted = self.settle.topics.derived_of(keys)
        order = sorted(quoted, key=lambda one: (-sum(1 / place[key] for key in quoted[one]), one))
        return [
            (memory, f"digest, made of {len(quoted[memory.key])} of these hits")
            for memory in self.settle.memories.get(order)
            if memory.valid_to is None and _within(memory, self.scope)
        ][:_DIGESTS]

    def places_kept(self, digests: Sequence[object], limit: int) -> int:
        """How many of the places are kept for digests: none, unless somebody turned the knob."""
        return int(self.wanted == "on" and bool(digests) and limit > 1)


def _whole(scope: Scope) -> bool:
    """Whether a digest, which belongs to no session, agent or role, can be in the scope at all."""
    return not (scope.session_id or scope.host or scope.agent or scope.role or scope.known_at)


def _within(memory: Memory, scope: Scope) -> bool:
    began = memory.valid_from if memory.valid_from is not None else memory.at.micros
    after = scope.since is None or began >= scope.since
    return after and (scope.until is None or memory.at.micros < scope.until)
