"""Why a memory was found, in words for people."""

from collections.abc import Mapping

# Which words tell of each part; several parts may be told alike.
_TOLD: Mapping[str, str] = {
    "exact": "quotes it exactly",
    "words": "words",
    "coverage": "words",
    "meaning": "meaning",
    "near": "the exchange beside it",
    "session": "its session",
    "time": "time",
    "named": "who said it",
    "person": "who said it",
    "wish": "a standing wish about this",
    "project": "this project",
    "recency": "recent",
    "use": "answered together before",
}
# A part smaller than this share of all that spoke for the memory is not worth naming.
_WORTH_NAMING = 0.12
_MOST = 2


def told(parts: Mapping[str, float]) -> str:
    """The parts that spoke most for it, strongest first; the rest and what spoke against it is left to the numbers."""
    spoke: dict[str, float] = {}
    for part, value in parts.items():
        if value > 0 and part in _TOLD:
            spoke[_TOLD[part]] = spoke.get(_TOLD[part], 0.0) + value
    least = _WORTH_NAMING * sum(spoke.values())
    named = sorted((name for name in spoke if spoke[name] >= least), key=lambda n: (-spoke[n], n))
    return ", ".join(named[:_MOST]) or "most recent"
