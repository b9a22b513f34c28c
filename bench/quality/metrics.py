"""`any@k` and `all@k` of the evidence, with bootstrap intervals over conversations' questions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system found for one question: where each piece of evidence stood, from 1 on."""

    question: str
    category: str
    column: str
    ranks: tuple[int | None, ...]
    seconds: float = 0.0
    shares_words: bool = True  # whether any of the cue's words stands in the evidence

    def any_at(self, k: int) -> bool:
        return any(rank is not None and rank <= k for rank in self.ranks)

    def all_at(self, k: int) -> bool:
        return all(rank is not None and rank <= k for rank in self.ranks)


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}–{self.high:.3f}]"


def ranks(order: Sequence[str], evidence: frozenset[str]) -> tuple[int | None, ...]:
    """Where each piece of evidence stands in `order`, each name counted once."""
    places = {name: place for place, name in enumerate(dict.fromkeys(order), 1)}
    return tuple(places.get(name) for name in sorted(evidence))


def share(outcomes: Sequence[Outcome], measure: str, k: int) -> Share:
    """The share of outcomes whose `any` or `all` of the evidence is among the first k."""
    hits = np.array(
        [one.any_at(k) if measure == "any" else one.all_at(k) for one in outcomes], dtype=float
    )
    random = np.random.default_rng(7)
    means = random.choice(hits, (_RESAMPLES, len(hits))).mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Share(float(hits.mean()), float(low), float(high), len(hits))
