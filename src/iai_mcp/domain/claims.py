"""When two statements can hardly both be true: the same matter with another value, or a change.

Only a suggestion comes of it, so the rule may miss; it must rarely cry wolf.
"""

import re
from dataclasses import dataclass

from iai_mcp.domain.digest import sentences
from iai_mcp.domain.nearness import terms
from iai_mcp.domain.words import words

_LONGEST = 240  # letters of a sentence that states one thing
_FEWEST_SHARED = 2
_SHARED = 0.6  # of the shorter sentence's words, values apart
_SHARED_BY_OPPOSITES = 0.75
_VALUE = re.compile(r"\b(?:v?\d[\w.:/-]*|\d+)\b|`[^`\n]{1,60}`|\"[^\"\n]{1,40}\"")
_CHANGED = re.compile(
    r"\b(?:no longer|not any ?more|used to|instead of|(?:switch|migrat|mov|chang|renam|upgrad|replac)(?:ed|ing)\b"
    r"|deprecated|obsolete|now (?:uses?|listens?|runs?|lives?|is|lies)|(?:is|are) now|from now on|turned out)\b"
    r"|\b(?:nicht mehr|statt|jetzt|désormais|ne plus|ya no|ahora|больше не|теперь)\b|不再|现在改|今は",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|never|no|don't|doesn't|isn't|aren't|can't|cannot|won't|must not|nicht|kein\w*|nie|pas|jamais|не|никогда)\b",
    re.IGNORECASE,
)
_PAST_TALK = re.compile(
    r"\b(?:failed|error|exception|retry|attempt|took|test \d|line \d|step \d)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that states something that may change."""

    sentence: str
    subject: frozenset[str]
    values: frozenset[str]
    negative: bool
    change: bool

    @property
    def telling(self) -> bool:
        """Whether it is worth looking for what it leaves in doubt."""
        return bool(self.values) or self.negative or self.change


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why an older and a newer statement do not go together."""

    kind: str  # "contradiction" or "stale"
    reason: str
    score: float


def claims(text: str) -> list[Claim]:
    """The statements of a text: its short sentences that are no questions."""
    return [claim for sentence in sentences(text) if (claim := _claim(sentence)) is not None]


def conflict(older: Claim, newer: Claim) -> Conflict | None:
    """Whether the newer statement leaves the older one in doubt."""
    shared = older.subject & newer.subject
    fewest = min(len(older.subject), len(newer.subject))
    if len(shared) < _FEWEST_SHARED or not fewest:
        return None
    overlap = len(shared) / fewest
    if newer.change and overlap >= _SHARED / 1.5 and older.values != newer.values:
        return Conflict("stale", "a later statement says that it changed", overlap)
    if overlap < _SHARED:
        return None
    if (
        older.negative != newer.negative
        and older.values == newer.values
        and overlap >= _SHARED_BY_OPPOSITES
    ):
        return Conflict("contradiction", "one says the opposite of the other", overlap)
    if len(older.values) == len(newer.values) == 1 and older.values != newer.values:
        return Conflict("contradiction", "they give different values for the same thing", overlap)
    return None


def _claim(sentence: str) -> Claim | None:
    if len(sentence) > _LONGEST or sentence.endswith(("?", "？")) or _PAST_TALK.search(sentence):
        return None
    values = frozenset(
        match.group().strip('`"').lower().rstrip(".") for match in _VALUE.finditer(sentence)
    )
    negative, change = bool(_NEGATIVE.search(sentence)), bool(_CHANGED.search(sentence))
    in_values = {part for value in values for part in words(value)}
    subject = frozenset(term for term in terms(_VALUE.sub(" ", sentence)) if term not in in_values)
    if len(subject) < _FEWEST_SHARED:
        return None
    return Claim(sentence, subject, values, negative, change)
