"""What fades: how well memories stand, and those that stand worst."""

from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.memories import Memory
from iai_mcp.memory.scoping import Access, Caller
from iai_mcp.ports.learned import Strengths
from iai_mcp.ports.memories import Memories

_OPENING = 600  # characters


@dataclass(frozen=True, slots=True)
class Faded:
    """`levels`: how many memories stand in each tenth of strength, the weakest first."""

    levels: Sequence[int]
    weakest: Sequence[tuple[Memory, float]]


@dataclass(frozen=True, slots=True)
class Fading:
    strengths: Strengths
    memories: Memories
    access: Access

    def __call__(self, caller: Caller, limit: int) -> Faded:
        closed = self.access.closed_to(caller)
        weakest = dict(self.strengths.weakest(limit, closed))
        found = {memory.key: memory for memory in self.memories.get(list(weakest), _OPENING)}
        return Faded(
            self.strengths.levels(closed),
            [(found[key], strength) for key, strength in weakest.items() if key in found],
        )
