"""Candidates in order, best first, each with what spoke for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.ranking.candidates import Candidates, Floats
from iai_mcp.domain.ranking.features import Asked, features
from iai_mcp.domain.ranking.weights import Ranker

# What a memory is worth that holds, letter by letter, all that the cue quotes. Larger than any
# sum of the other measures, so that an exact match is never buried.
EXACT = 20.0
# Leanings come as the logarithm of a factor; a tenth more is worth about one point.
LEANING = 10.0
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
    fading: Floats


def scored(
    found: Candidates, asked: Asked, ranker: Ranker, leaning: Leaning
) -> tuple[Floats, dict[str, Floats]]:
    """The score of each candidate and the parts it is made of, by the reason people read."""
    parts: dict[str, Floats] = {}
    for name, column in features(found, asked, ranker.scale).items():
        weight = ranker.weights.get(name, 0.0)
        if weight:
            reason = REASONS[name]
            parts[reason] = parts.get(reason, np.zeros(len(found), np.float32)) + weight * column
    parts["exact"] = EXACT * found.exact
    parts["project"] = LEANING * leaning.project
    parts["recency"] = LEANING * leaning.recency
    parts["fading"] = LEANING * leaning.fading
    parts["use"] = SUPPORT * np.clip(found.support, 0.0, 1.0)
    total = np.sum([part.astype(np.float64) for part in parts.values()], axis=0)
    return total.astype(np.float32), parts


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
    total, parts = scored(found, asked, ranker, leaning)
    places = np.flatnonzero(found.eligible)
    order = places[np.lexsort((-found.keys[places], -total[places]))][:limit]
    return [
        Scored(
            key=int(found.keys[place]),
            place=int(place),
            score=float(total[place]),
            parts={reason: float(part[place]) for reason, part in parts.items()},
        )
        for place in order
    ]


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
    "person": "who",
    "person_not_asked": "who",
    "instruction": "standing",
    "instruction_topic": "standing",
    "instruction_advice": "standing",
    "preference": "standing",
    "preference_topic": "standing",
    "preference_advice": "standing",
    "asks": "form",
    "length": "form",
}
FEATURES: Sequence[str] = tuple(REASONS)
