"""The worth of each measure, learned; one set for every kind of conversation.

Fitted by `python -m bench fit` on the dev halves of three public sets and on the coding set of our
own, with cross-validation over conversations (docs/retrieval.md has method and numbers). Each model has its own: cosines of
different spaces are not alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from iai_mcp.domain.ranking.features import CosineScale


@dataclass(frozen=True, slots=True)
class Ranker:
    scale: CosineScale
    weights: Mapping[str, float]


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
    "words": 3.699,
    "coverage": -0.158,
    "coverage_squared": 1.938,
    "words_advice": -2.343,
    "words_covered": -3.454,
    "turn": 0.209,
    "passage": 0.198,
    "context": 0.115,
    "meaning_advice": 0.380,
    "passage_nearest": -0.021,
    "near": 0.364,
    "before": -0.027,
    "after": 0.018,
    "answer": -0.010,
    "session_words": 0.549,
    "session_best": 0.336,
    "session_best_words": 0.267,
    "session_advice": 0.219,
    "date": 2.636,
    "named": 0.611,
    "not_named": -0.607,
    "named_asks": -0.844,
    "named_passage": 0.147,
    "named_after": -0.483,
    "person": 0.148,
    "person_of_self": 1.292,
    "person_not_asked": -0.587,
    "instruction": 0.263,
    "instruction_topic": 0.992,
    "instruction_advice": 1.409,
    "preference": -1.586,
    "preference_topic": 0.833,
    "preference_advice": 1.967,
    "asks": 0.003,
    "length": -0.236,
    "time": 0.293,
    "time_asked": 0.816,
    "name": 0.135,
    "name_asked": 0.664,
}

_GTE: Mapping[str, float] = {
    "words": 3.23,
    "coverage": -0.408,
    "coverage_squared": 1.977,
    "words_advice": -2.375,
    "words_covered": -3.078,
    "turn": 0.121,
    "passage": 0.196,
    "context": 0.128,
    "meaning_advice": 0.427,
    "passage_nearest": 0.022,
    "near": 0.447,
    "before": -0.044,
    "after": 0.049,
    "answer": -0.014,
    "session_words": 0.446,
    "session_best": 0.463,
    "session_best_words": 0.066,
    "session_advice": 0.528,
    "date": 2.812,
    "named": 0.676,
    "not_named": -0.673,
    "named_asks": -0.617,
    "named_passage": 0.092,
    "named_after": -0.456,
    "person": 0.274,
    "person_of_self": 1.015,
    "person_not_asked": -1.005,
    "instruction": 0.314,
    "instruction_topic": 0.849,
    "instruction_advice": 1.251,
    "preference": -1.49,
    "preference_topic": 0.873,
    "preference_advice": 2.034,
    "asks": -0.073,
    "length": -0.24,
    "time": 0.281,
    "time_asked": 0.792,
    "name": 0.159,
    "name_asked": 0.722,
}

_USE: Mapping[str, float] = {
    "words": 3.741,
    "coverage": -0.111,
    "coverage_squared": 1.647,
    "words_advice": -1.707,
    "words_covered": -3.240,
    "turn": 0.301,
    "passage": 0.216,
    "context": 0.242,
    "meaning_advice": 0.253,
    "passage_nearest": -0.073,
    "near": 0.183,
    "before": 0.015,
    "after": 0.108,
    "answer": 0.021,
    "session_words": 0.462,
    "session_best": 0.239,
    "session_best_words": 0.664,
    "session_advice": 0.094,
    "date": 2.656,
    "named": 0.413,
    "not_named": -0.411,
    "named_asks": -0.769,
    "named_passage": 0.088,
    "named_after": -0.789,
    "person": -0.053,
    "person_of_self": 1.375,
    "person_not_asked": -1.095,
    "instruction": -0.022,
    "instruction_topic": 3.037,
    "instruction_advice": 1.182,
    "preference": -1.015,
    "preference_topic": 0.533,
    "preference_advice": 1.484,
    "asks": -0.281,
    "length": -0.253,
    "time": 0.249,
    "time_asked": 0.625,
    "name": 0.112,
    "name_asked": 0.844,
}

_BY_MODEL: Mapping[str, Ranker] = {
    "all-minilm-l6-v2": Ranker(CosineScale(0.1597, 0.1319), _MINILM),
    "gte-small": Ranker(CosineScale(0.7756, 0.0381), _GTE),
    "use-multilingual-v3": Ranker(CosineScale(0.1624, 0.1244), _USE),
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


def bar_of(model_id: str, bar: float) -> float:
    """Where a bar that was set for the default model's cosines lies among another's."""
    known = _BY_MODEL.get(model_id.partition(".")[0])
    return bar if known is None else _USUAL.moved(bar, known.scale)
