"""Why a memory was found, in words for people."""

from collections.abc import Mapping

_TOLD: Mapping[str, str] = {
    "exact": "quotes it exactly",
    "words": "words",
    "meaning": "meaning",
    "time": "time",
    "who": "who said it",
    "kind": "the kind of answer",
    "neighbours": "neighbours",
    "session": "its session",
    "standing": "a standing wish about this",
    "project": "this project",
    "recency": "recent",
    "use": "answered together before",
}
# A part smaller than this share of all that spoke for the memory is not worth naming.
_WORTH_NAMING = 0.12
_MOST = 2


def told(parts: Mapping[str, float]) -> str:
    """The parts that spoke most for it, strongest first; the rest and what spoke against it is left to the numbers."""
    spoke = {part: value for part, value in parts.items() if value > 0 and part in _TOLD}
    least = _WORTH_NAMING * sum(spoke.values())
    named = sorted((p for p in spoke if spoke[p] >= least), key=lambda p: (-spoke[p], p))
    return ", ".join(_TOLD[part] for part in named[:_MOST]) or "most recent"
