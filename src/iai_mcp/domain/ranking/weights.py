"""The worth of each measure, learned; one set for every kind of conversation.

Fitted by `python -m bench fit` on the dev halves of three public sets with cross-validation over
conversations (docs/retrieval.md has method and numbers). Each model has its own: cosines of
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

_BY_MODEL: Mapping[str, Ranker] = {}
_OTHERWISE = Ranker(CosineScale(0.1, 0.12), _HAND_SET)


def ranker_for(model_id: str) -> Ranker:
    """The weights of a model; those set by hand for a model that none were learned for."""
    return _BY_MODEL.get(model_id.partition(".")[0], _OTHERWISE)
