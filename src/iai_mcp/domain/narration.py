"""What an assistant says on the way: what it is about to do, and nothing that anybody asks for later."""

import re

from iai_mcp.domain.derived import Derived
from iai_mcp.domain.units import units

_ON_THE_WAY = re.compile(
    r"(?:ok(?:ay)?[.,!]?\s|now |let me|let['’]s|i['’]ll|i will|i need to|need to|next,"
    r"|(?:good|great|perfect)[.,!]|done[.,!]?$|现在|让我|好的)",
    re.IGNORECASE,
)
_INTENDS = re.compile(
    r"(?:(?:ok(?:ay)?|now|next|so|then|and)[,.]? )*"
    r"(?:let me|let['’]s|i['’]ll|i will|i need to|i['’]m going to|现在|让我)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?:。！？])\s+")
_SHORT = 300  # characters: whoever says more has said something
_KEPT = 4_096  # short turns of which is known whether they broke off
_NOD = 60  # characters of "All tests pass." beside what is intended

_known = Derived[bool](_KEPT)


def on_the_way(said: str) -> bool:
    """Whether a sentence only leads to the next step."""
    return _ON_THE_WAY.match(said) is not None


def broken_off(text: str) -> bool:
    """Whether a turn ends with what was to be done next, and says little else: nothing came of it."""
    return len(text) < _SHORT and _known.of(text, _breaks_off)


def _breaks_off(text: str) -> bool:
    said = [
        sentence
        for unit in units(text)
        for sentence in _SENTENCE.split(text[unit.start : unit.end])
        if sentence
    ]
    told = [sentence for sentence in said if not _INTENDS.match(sentence)]
    return len(told) < len(said) and len(" ".join(told)) < _NOD
