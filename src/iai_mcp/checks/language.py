"""Whether the model speaks the language that most of the history is in."""

from collections.abc import Iterable

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.catalogue import by_name
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.history_language import mostly_foreign

FIX = "iai-mcp model install --model use-multilingual-v3"
# What the other model is worth, as measured: docs/retrieval.md, "Models".
PROBLEM = (
    "most of what people said is not in English, and the model finds by meaning in English only "
    "(coding sessions in Chinese: 0.72 of the questions are answered with the default model, "
    "0.81 with the multilingual one)"
)


def is_mismatch(texts: Iterable[str]) -> bool:
    """Whether the texts want a multilingual model, and the one in use is none."""
    return _is_english_only() and mostly_foreign(texts)


def _is_english_only() -> bool:
    try:
        place = location.find()
        if place.own:
            return False  # who brings a model of their own knows what it speaks
        return by_name(place.model_id()).languages == "English"
    except IaiError:  # none is installed, or it can not be used
        return location.chosen().languages == "English"
