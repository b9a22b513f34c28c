"""The worth of each measure, learned; one set for every kind of conversation.

Fitted by `python -m bench fit` on the dev halves of three public sets and on the coding set of our
own, with cross-validation over conversations (docs/retrieval.md has method and numbers). Each model has its own: cosines of
different spaces are not alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.ranking.candidates import Floats
from iai_mcp.domain.ranking.features import CosineScale


@dataclass(frozen=True, slots=True)
class Ranker:
    """What measures are worth with one model."""

    scale: CosineScale
    weights: Mapping[str, float]
    english: bool = False  # whether its cosines say little of texts in other scripts


_HAND_SET: Mapping[str, float] = {
    "words": 4.0,
    "passage": 0.9,
    "turn": 0.4,
    "near": 1.0,
    "session_words": 3.0,
    "date": 3.0,
    "named": 3.0,
    "person": 1.0,
    "person_not_asked": -1.0,
    "asks": -0.4,
}

_MINILM: Mapping[str, float] = {
    "words": 3.547,
    "coverage": 0.067,
    "coverage_squared": 1.939,
    "words_advice": -2.402,
    "words_covered": -3.316,
    "turn": 0.201,
    "passage": 0.218,
    "context": 0.152,
    "meaning_advice": 0.385,
    "passage_nearest": -0.027,
    "near": 0.362,
    "before": -0.041,
    "after": 0.011,
    "answer": 0.040,
    "session_words": 0.476,
    "session_best": 0.364,
    "session_best_words": 0.370,
    "session_advice": 0.340,
    "date": 3.292,
    "named": 0.373,
    "not_named": -0.372,
    "named_asks": -0.759,
    "named_passage": 0.129,
    "named_after": -0.273,
    "person": 0.456,
    "person_of_self": 1.245,
    "person_not_asked": -0.436,
    "instruction": 0.240,
    "instruction_topic": 0.891,
    "instruction_advice": 1.614,
    "preference": -1.454,
    "preference_topic": 0.812,
    "preference_advice": 1.911,
    "asks": -0.031,
    "length": -0.235,
    "time": 0.219,
    "time_asked": 0.671,
    "name": 0.152,
    "name_asked": 0.705,
    "change_asked": 1.163,
    "change_present": 0.551,
}

_GTE: Mapping[str, float] = {
    "words": 3.059,
    "coverage": 0.279,
    "coverage_squared": 1.753,
    "words_advice": -2.340,
    "words_covered": -3.244,
    "turn": 0.160,
    "passage": 0.201,
    "context": 0.111,
    "meaning_advice": 0.478,
    "passage_nearest": 0.033,
    "near": 0.432,
    "before": -0.048,
    "after": 0.041,
    "answer": 0.026,
    "session_words": 0.429,
    "session_best": 0.524,
    "session_best_words": 0.168,
    "session_advice": 0.601,
    "date": 3.028,
    "named": 0.446,
    "not_named": -0.446,
    "named_asks": -0.760,
    "named_passage": 0.088,
    "named_after": -0.406,
    "person": 0.565,
    "person_of_self": 0.936,
    "person_not_asked": -1.577,
    "instruction": 0.436,
    "instruction_topic": 0.480,
    "instruction_advice": 2.089,
    "preference": -1.681,
    "preference_topic": 0.981,
    "preference_advice": 2.242,
    "asks": -0.044,
    "length": -0.262,
    "time": 0.275,
    "time_asked": 0.874,
    "name": 0.176,
    "name_asked": 0.724,
    "change_asked": 1.214,
    "change_present": 1.098,
}

_USE: Mapping[str, float] = {
    "words": 3.260,
    "coverage": 0.890,
    "coverage_squared": 1.665,
    "words_advice": -1.749,
    "words_covered": -3.563,
    "turn": 0.281,
    "passage": 0.238,
    "context": 0.272,
    "meaning_advice": 0.186,
    "passage_nearest": -0.072,
    "near": 0.225,
    "before": 0.008,
    "after": 0.116,
    "answer": 0.063,
    "session_words": 0.485,
    "session_best": 0.191,
    "session_best_words": 0.675,
    "session_advice": -0.018,
    "date": 2.705,
    "named": 0.232,
    "not_named": -0.232,
    "named_asks": -0.745,
    "named_passage": 0.057,
    "named_after": -0.750,
    "person": 0.183,
    "person_of_self": 1.141,
    "person_not_asked": -0.942,
    "instruction": 0.188,
    "instruction_topic": 1.863,
    "instruction_advice": 1.361,
    "preference": -1.491,
    "preference_topic": 0.661,
    "preference_advice": 1.607,
    "asks": -0.327,
    "length": -0.323,
    "time": 0.230,
    "time_asked": 0.760,
    "name": 0.110,
    "name_asked": 0.820,
    "change_asked": 1.206,
    "change_present": 0.660,
}

_BY_MODEL: Mapping[str, Ranker] = {
    "all-minilm-l6-v2": Ranker(CosineScale(0.1634, 0.1335), _MINILM, english=True),
    "gte-small": Ranker(CosineScale(0.7770, 0.0383), _GTE, english=True),
    "use-multilingual-v3": Ranker(CosineScale(0.1620, 0.1249), _USE),
}
_USUAL = _BY_MODEL["all-minilm-l6-v2"].scale
_OTHERWISE = Ranker(CosineScale(0.1, 0.12), _HAND_SET)


def ranker_for(model_id: str) -> Ranker:
    """The weights of a model; those set by hand for a model that none were learned for."""
    return _BY_MODEL.get(model_id.partition(".")[0], _OTHERWISE)


def usual(model_id: str, cosine: float) -> float:
    """A cosine of a model as the default model would have it: bars are set in its space.

    Unchanged for a model of which nothing is known.
    """
    known = _BY_MODEL.get(model_id.partition(".")[0])
    return cosine if known is None else known.scale.moved(cosine, _USUAL)


def as_usual(ranker: Ranker, cosines: Floats) -> Floats:
    """Cosines of a model as the default model would have them; see `usual`."""
    if ranker is _OTHERWISE:
        return cosines
    moved: Floats = _USUAL.mean + ranker.scale.of(cosines) * np.float32(_USUAL.spread)
    return moved


def bar_of(model_id: str, bar: float) -> float:
    """Where a bar that was set for the default model's cosines lies among another's."""
    known = _BY_MODEL.get(model_id.partition(".")[0])
    return bar if known is None else _USUAL.moved(bar, known.scale)
