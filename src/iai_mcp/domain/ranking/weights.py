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
    "words": 3.258,
    "coverage": -0.329,
    "coverage_squared": 1.854,
    "words_advice": -2.264,
    "words_covered": -3.17,
    "turn": 0.111,
    "passage": 0.214,
    "context": 0.136,
    "meaning_advice": 0.404,
    "passage_nearest": 0.022,
    "near": 0.364,
    "before": -0.022,
    "after": 0.053,
    "answer": -0.006,
    "session_words": 0.452,
    "session_best": 0.489,
    "session_best_words": 0.095,
    "session_advice": 0.486,
    "date": 2.839,
    "named": 0.662,
    "not_named": -0.659,
    "named_asks": -0.71,
    "named_passage": 0.085,
    "named_after": -0.437,
    "person": 0.254,
    "person_of_self": 1.004,
    "person_not_asked": -1.481,
    "instruction": 0.244,
    "instruction_topic": 0.716,
    "instruction_advice": 1.704,
    "preference": -1.29,
    "preference_topic": 0.791,
    "preference_advice": 1.825,
    "asks": -0.057,
    "length": -0.282,
    "time": 0.279,
    "time_asked": 0.831,
    "name": 0.149,
    "name_asked": 0.701,
}

_BY_MODEL: Mapping[str, Ranker] = {
    "all-minilm-l6-v2": Ranker(CosineScale(0.1597, 0.1319), _MINILM),
    "gte-small": Ranker(CosineScale(0.776, 0.038), _GTE),
}
_OTHERWISE = Ranker(CosineScale(0.1, 0.12), _HAND_SET)


def ranker_for(model_id: str) -> Ranker:
    """The weights of a model; those set by hand for a model that none were learned for."""
    return _BY_MODEL.get(model_id.partition(".")[0], _OTHERWISE)
