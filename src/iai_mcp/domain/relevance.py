"""Whether a memory is worth interrupting for: few are, and a wrong one costs trust."""

from dataclasses import dataclass
from typing import Literal

from iai_mcp.domain.cue.exact import quoted
from iai_mcp.domain.cue.stop_words import stop_words
from iai_mcp.domain.words import index_terms, words

Mode = Literal["off", "on", "auto"]
MODES: tuple[Mode, ...] = ("off", "on", "auto")

# Cosines of MiniLM between a prompt and a memory: unrelated talk in one project stays below .35,
# the same matter in other words begins at about .5.
_SURE = 0.55
_LIKELY = 0.42
# Shares of the prompt's telling words that the memory repeats.
_MANY = 0.6
_SOME = 0.34
_LOOKED_AT = 6000
_FEWEST_TERMS = 2
_FEWEST_WORDS = 4
_SMALL_TALK_TEXT = """
yes yep yeah no nope ok okay sure thanks thank great good perfect nice continue ahead please again
retry stop wait done next right correct fine cool lgtm run tests fix commit push try
"""
_SMALL_TALK = frozenset(_SMALL_TALK_TEXT.split())


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a prompt asks about: its telling words, and the names it quotes letter by letter."""

    terms: frozenset[str]
    names: tuple[str, ...]
    length: int = 0  # in words

    @property
    def worth_asking(self) -> bool:
        """Whether it says enough to look something up: "yes, go on" does not."""
        if self.names or len(self.terms) >= _FEWEST_TERMS:
            return True
        return bool(self.terms) and self.length >= _FEWEST_WORDS


@dataclass(frozen=True, slots=True)
class Match:
    """How a memory relates to a prompt. `cosine` is None where there are no vectors."""

    cosine: float | None
    coverage: float
    named: bool


def read_prompt(text: str) -> Prompt:
    said = words(text[:_LOOKED_AT])
    silent = stop_words(said) | _SMALL_TALK
    telling = [word for word in said if word not in silent]
    return Prompt(
        frozenset(term for word in telling for term in index_terms(word)),
        quoted(text[:_LOOKED_AT])[:20],
        len(said),
    )


def match(prompt: Prompt, text: str, cosine: float | None) -> Match:
    """Compare a memory's text with a prompt."""
    sample = text[:_LOOKED_AT]
    held = {term for word in words(sample) for term in index_terms(word)}
    shared = len(prompt.terms & held)
    return Match(
        cosine,
        shared / len(prompt.terms) if prompt.terms else 0.0,
        any(name in sample for name in prompt.names),
    )


def confident(found: Match, mode: Mode) -> str | None:
    """Why the memory clears the bar, or None. `on` asks for less than `auto`."""
    if mode == "off":
        return None
    near = found.cosine if found.cosine is not None else 0.0
    if found.named and (near >= _LIKELY or found.coverage >= _SOME):
        return "it names the same thing"
    if near >= _SURE:
        return "it means the same"
    if found.coverage >= _MANY and (near >= _LIKELY or found.cosine is None):
        return "it has the same words"
    if mode == "on" and (near >= _LIKELY or found.coverage >= _MANY):
        return "it is close"
    return None
