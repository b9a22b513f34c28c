"""Candidates in order, best first, each with what spoke for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.ranking.candidates import Candidates, Floats, Places
from iai_mcp.domain.ranking.features import Asked, features
from iai_mcp.domain.ranking.weights import Ranker

# What a memory is worth that holds, letter by letter, all that the cue quotes. Larger than any
# sum of the other measures, so that an exact match is never buried.
EXACT = 20.0
# Leanings come as the logarithm of a factor; a tenth more is worth about one point.
LEANING = 10.0
# Fading only decides between near equals: it is looked up for so many times the wanted number.
_FADING_LOOKED_UP = 2
# Learning from use moves a memory by at most this much.
SUPPORT = 0.8


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory's place in the answer. `parts` sum up to `score`."""

    key: int
    place: int  # where it stands among the candidates
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Leaning:
    """What the surroundings favour, per candidate, as the logarithm of a factor."""

    project: Floats
    recency: Floats
    fading: Callable[[Sequence[int]], Floats]  # of some keys: it has to be looked up


def ranked(
    found: Candidates,
    asked: Asked,
    ranker: Ranker,
    leaning: Leaning,
    limit: int,
) -> list[Scored]:
    """The best `limit` eligible candidates; equal scores in order of arrival, newest first."""
    if not len(found):
        return []
    reasons, table = _weighed(found, asked, ranker, leaning)
    total = table.sum(axis=0, dtype=np.float64).astype(np.float32)
    first = _in_order(np.flatnonzero(found.eligible), total, found)[: _FADING_LOOKED_UP * limit]
    fading = np.zeros(len(found), np.float32)
    fading[first] = LEANING * leaning.fading(found.keys[first].tolist())
    total += fading
    order = _in_order(first, total, found)[:limit]
    reasons, parts = _by_reason([*reasons, "fading"], [*table[:, order], fading[order]])
    return [
        Scored(key, place, score, dict(zip(reasons, own, strict=True)))
        for key, place, score, own in zip(
            found.keys[order].tolist(), order.tolist(), total[order].tolist(), parts, strict=True
        )
    ]


def _in_order(places: Places, total: Floats, found: Candidates) -> Places:
    return places[np.lexsort((-found.keys[places], -total[places]))]


def _weighed(
    found: Candidates, asked: Asked, ranker: Ranker, leaning: Leaning
) -> tuple[list[str], NDArray[np.float32]]:
    """What each measure adds to each candidate's score, a row per measure, with its reason."""
    measures = features(found, asked, ranker.scale)
    names = [name for name in measures if ranker.weights.get(name)]
    weights = np.array([ranker.weights[name] for name in names], np.float32)
    more = {
        "exact": EXACT * found.exact,
        "project": LEANING * leaning.project,
        "recency": LEANING * leaning.recency,
        "use": SUPPORT * np.clip(found.support, 0.0, 1.0),
    }
    learned = np.array([measures[name] for name in names], np.float32).reshape(-1, len(found))
    table = np.concatenate([learned * weights[:, None], np.array([*more.values()], np.float32)])
    return [*(REASONS[name] for name in names), *more], table


def _by_reason(
    reasons: Sequence[str], rows: Sequence[Floats]
) -> tuple[list[str], list[list[float]]]:
    """The reasons, each once, and for each candidate what speaks for it by reason."""
    sums: dict[str, Floats] = {}
    for reason, row in zip(reasons, rows, strict=True):
        sums[reason] = sums[reason] + row if reason in sums else row
    return list(sums), np.stack([*sums.values()], axis=1).tolist()


# Which measure counts towards which reason.
REASONS: Mapping[str, str] = {
    "words": "words",
    "coverage": "words",
    "coverage_squared": "words",
    "words_advice": "words",
    "words_covered": "words",
    "turn": "meaning",
    "passage": "meaning",
    "context": "meaning",
    "meaning_advice": "meaning",
    "passage_nearest": "meaning",
    "near": "neighbours",
    "before": "neighbours",
    "after": "neighbours",
    "answer": "neighbours",
    "session_words": "session",
    "session_best": "session",
    "session_best_words": "session",
    "session_advice": "session",
    "date": "time",
    "named": "who",
    "not_named": "who",
    "named_asks": "who",
    "named_passage": "who",
    "named_after": "who",
    "person": "who",
    "person_of_self": "who",
    "person_not_asked": "who",
    "instruction": "standing",
    "instruction_topic": "standing",
    "instruction_advice": "standing",
    "preference": "standing",
    "preference_topic": "standing",
    "preference_advice": "standing",
    "asks": "form",
    "length": "form",
    "time": "form",
    "time_asked": "kind",
    "name": "form",
    "name_asked": "kind",
}
FEATURES: Sequence[str] = tuple(REASONS)
