"""Learning from use: memories that answered together support each other. Bounded, and it decays.

A link's weight grows a little each time and is never more than one; half of it is gone after a
month in which nobody used it. What a memory gains from all its links together is at most one: merit
decides, use breaks near ties.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

FULL = 1.0  # no link is stronger
_HALF_LIFE = 30 * 86_400_000_000  # microseconds
# Weaker than this it has faded away.
_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories that answered together; `weight` as it was at `at` (microseconds)."""

    a: int
    b: int
    weight: float
    at: int

    def strength(self, now: int) -> float:
        faded: float = min(self.weight, FULL) * 0.5 ** (max(0, now - self.at) / _HALF_LIFE)
        return faded if faded >= _LEAST else 0.0


def support(links: Iterable[Link], best: Mapping[int, float], now: int) -> dict[int, float]:
    """What each memory gains from being linked to the best ones, by their share of merit.

    `best` maps the keys of the best candidates to how sure they are, from 0 to 1. A memory does
    not support itself.
    """
    gained: dict[int, float] = {}
    for link in links:
        strength = link.strength(now)
        for here, there in ((link.a, link.b), (link.b, link.a)):
            if here in best and strength:
                gained[there] = gained.get(there, 0.0) + strength * best[here]
    return {key: min(FULL, value) for key, value in gained.items()}
