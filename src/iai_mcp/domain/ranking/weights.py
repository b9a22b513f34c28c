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
    "words": 3.753,
    "coverage": -0.387,
    "coverage_squared": 2.131,
    "words_advice": -2.293,
    "words_covered": -3.308,
    "turn": 0.218,
    "passage": 0.119,
    "context": 0.149,
    "meaning_advice": 0.328,
    "passage_nearest": -0.022,
    "near": 0.314,
    "before": -0.012,
    "after": 0.031,
    "answer": -0.009,
    "session_words": 0.578,
    "session_best": 0.302,
    "session_best_words": 0.329,
    "session_advice": 0.193,
    "date": 2.825,
    "named": 0.552,
    "not_named": -0.549,
    "named_asks": -0.832,
    "named_passage": 0.172,
    "named_after": -0.483,
    "person": 0.228,
    "person_of_self": 1.263,
    "person_not_asked": -0.671,
    "instruction": 0.332,
    "instruction_topic": 1.037,
    "instruction_advice": 1.242,
    "preference": -1.805,
    "preference_topic": 0.917,
    "preference_advice": 2.086,
    "asks": 0.057,
    "length": -0.214,
    "time": 0.236,
    "time_asked": 0.583,
    "name": 0.132,
    "name_asked": 0.862,
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

_BY_MODEL: Mapping[str, Ranker] = {
    "all-minilm-l6-v2": Ranker(CosineScale(0.1597, 0.1319), _MINILM),
    "gte-small": Ranker(CosineScale(0.7756, 0.0381), _GTE),
}
_OTHERWISE = Ranker(CosineScale(0.1, 0.12), _HAND_SET)


def ranker_for(model_id: str) -> Ranker:
    """The weights of a model; those set by hand for a model that none were learned for."""
    return _BY_MODEL.get(model_id.partition(".")[0], _OTHERWISE)
