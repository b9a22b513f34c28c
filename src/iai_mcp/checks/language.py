"""Whether the model speaks the language that most of the history is in."""

from collections.abc import Iterable

from iai_mcp.adapters.embedding import location
from iai_mcp.adapters.embedding.catalogue import by_name
from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.history_language import mostly_foreign

FIX = "iai-mcp model install --model use-multilingual-v3"
# By the cosine alone, on the set `languages: across`: docs/decisions/0055-a-multilingual-encoder.md.
PROBLEM = (
    "most of what people said is not in English, and the model finds by meaning in English only "
    "(asked in one language for what was said in another, the nearest memory is the right one in 1 of 24 "
    "cases with the default model, in 22 with the multilingual one)"
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
