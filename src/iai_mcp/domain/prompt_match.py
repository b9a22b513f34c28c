"""Whether stored work is worth telling unasked with a prompt: few is, and a wrong line costs trust.

An exact part of the prompt that few others hold (an identifier, a path, a ticket, an error's text) is
enough; else several rare words must agree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Literal

from iai_mcp.domain.cue.exact import quoted
from iai_mcp.domain.cue.stop_words import stop_words, tells_nothing
from iai_mcp.domain.words import index_terms, is_cjk, words

Mode = Literal["off", "on", "auto"]
MODES: tuple[Mode, ...] = ("off", "on", "auto")

# A store that has heard little can not know which words are rare: it counts as many turns more.
_UNHEARD = 300
_READ = 6_000  # characters
_MOST_TERMS, _MOST_PARTS = 60, 20
_FEWEST_TERMS = 5  # "fix the failing tests" asks about nothing in particular
_BESIDE_A_NAME = 3  # rare words, the name itself included
_SHORTEST_PART = 4  # characters: "v2" and "#1" stand everywhere


@dataclass(frozen=True, slots=True)
class Bar:
    """What the words that a prompt and an exchange share must reach."""

    rare: float  # in nats: from here on a word is rare
    words: int  # so many rare ones
    share: float  # of the worth of all words of the prompt


_BARS: Mapping[Mode, Bar] = {"auto": Bar(4.0, 3, 0.4), "on": Bar(3.5, 3, 0.3)}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a prompt asks about: its telling words as the index has them, and its exact parts."""

    terms: frozenset[str]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What an exchange shares with a prompt. Larger sorts first."""

    parts: int
    worth: float
    why: str


def read_prompt(text: str) -> Prompt:
    sample = text[:_READ]
    said = words(sample)
    silent = stop_words(said)
    terms = dict.fromkeys(term for word in said if word not in silent for term in index_terms(word))
    telling = [term for term in terms if not (is_cjk(term) and tells_nothing(term))]
    parts = [part for part in quoted(sample) if len(part) >= _SHORTEST_PART]
    return Prompt(frozenset(telling[:_MOST_TERMS]), tuple(parts[:_MOST_PARTS]))


def rarity(turns: int, holding: int) -> float:
    """How much it tells that a turn holds a word which so many of all turns hold."""
    return max(0.0, log((turns + _UNHEARD - holding + 0.5) / (holding + 0.5)))


def agreement(
    prompt: Prompt, said: str, rarities: Mapping[str, float], mode: Mode
) -> Agreement | None:
    """Why an exchange is worth telling, or None. `said` is what was said in it."""
    bar = _BARS.get(mode)
    if bar is None:
        return None
    sample = said[:_READ]
    parts = [part for part in prompt.parts if _is_rare(part, rarities, bar) and part in sample]
    held = _terms(sample) & prompt.terms
    worth = sum(rarities.get(term, 0.0) for term in held)
    rare = [term for term in held if rarities.get(term, 0.0) >= bar.rare]
    # "GitHub" is written like a class: a part of letters alone needs rare words beside it.
    if parts and (len(rare) >= _BESIDE_A_NAME or not all(map(str.isalpha, parts))):
        return Agreement(len(parts), worth, f"it names {_shown(parts[0])}")
    total = sum(rarities.get(term, 0.0) for term in prompt.terms)
    if len(prompt.terms) < _FEWEST_TERMS:
        return None
    if len(rare) >= bar.words and worth >= bar.share * total:
        return Agreement(0, worth, "rare words agree")
    return None


def _is_rare(part: str, rarities: Mapping[str, float], bar: Bar) -> bool:
    """Whether few turns hold the rarest word of an exact part."""
    terms = (term for word in words(part) for term in index_terms(word))
    return max((rarities.get(term, 0.0) for term in terms), default=0.0) >= bar.rare


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for word in words(text) for term in index_terms(word))


def _shown(part: str) -> str:
    return part if len(part) <= 40 else f"{part[:39]}…"
