"""Candidates in order, best first, each with what spoke for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.ranking.candidates import Candidates, Floats, Places
from iai_mcp.domain.ranking.features import Asked, features
from iai_mcp.domain.ranking.weights import Ranker

# What a memory is worth that holds, letter by letter, all that the cue quotes. Larger than any
# sum of the other measures, so that an exact match is never buried.
EXACT = 20.0
# Boosts come as the logarithm of a factor; a tenth more is worth about one point.
BOOST = 10.0
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
class Boosts:
    """What the surroundings favour, per candidate, as the logarithm of a factor."""

    project: Floats
    recency: Floats


def ranked(
    found: Candidates,
    asked: Asked,
    ranker: Ranker,
    boosts: Boosts,
    limit: int,
) -> list[Scored]:
    """The best `limit` eligible candidates; equal scores in order of arrival, newest first."""
    if not len(found):
        return []
    layout = _layout(tuple(ranker.weights.items()))
    table = _weighed(found, asked, ranker, boosts, layout)
    total = table.sum(axis=0, dtype=np.float64).astype(np.float32)
    order = _in_order(np.flatnonzero(found.eligible), total, found)[:limit]
    parts = (layout.by_reason @ table[:, order]).T.tolist()
    return [
        Scored(key, place, score, dict(zip(layout.reasons, own, strict=True)))
        for key, place, score, own in zip(
            found.keys[order].tolist(), order.tolist(), total[order].tolist(), parts, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The rows of the table: learned measures, then what is added to them."""

    measures: Sequence[str]
    weights: Floats  # of the measures
    reasons: Sequence[str]  # each once
    by_reason: Floats  # a row for each reason, with 1 where a row of the table counts towards it


_ADDED = ("exact", "project", "recency", "use")


@lru_cache(maxsize=4)
def _layout(weights: tuple[tuple[str, float], ...]) -> _Layout:
    """The same for every cue that one set of weights judges."""
    measures = {name: weight for name, weight in weights if weight}
    each = [*(REASONS[name] for name in measures), *_ADDED]
    reasons = list(dict.fromkeys(each))
    by_reason = np.array([[one == reason for one in each] for reason in reasons], np.float32)
    return _Layout([*measures], np.array([*measures.values()], np.float32), reasons, by_reason)


def _in_order(places: Places, total: Floats, found: Candidates) -> Places:
    return places[np.lexsort((-found.keys[places], -total[places]))]


def _weighed(
    found: Candidates, asked: Asked, ranker: Ranker, boosts: Boosts, layout: _Layout
) -> NDArray[np.float32]:
    """What speaks for each candidate, a row for each measure."""
    measures = features(found, asked, ranker.scale)
    count = len(layout.measures)
    table = np.zeros((count + len(_ADDED), len(found)), np.float32)
    if count:
        table[:count] = np.array([measures[name] for name in layout.measures])
        table[:count] *= layout.weights[:, None]
    table[count] = EXACT * found.exact
    table[count + 1] = BOOST * boosts.project
    table[count + 2] = BOOST * boosts.recency
    table[count + 3] = SUPPORT * np.clip(found.support, 0.0, 1.0)
    return table


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
    "change_asked": "kind",
    "change_present": "kind",
}
FEATURES: Sequence[str] = tuple(REASONS)
