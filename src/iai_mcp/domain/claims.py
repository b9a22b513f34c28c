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
_ABOUT_THE_SAME = 0.3
_ALIKE = 0.75  # of the words of both, values apart: one sentence with another value
_OPPOSITE = 0.75
# Of the older sentence's words: what changed is what it was about; what is given up is all of it.
_REPLACED, _GIVEN_UP = 0.5, 0.75
_NO_LONGER = re.compile(
    r"\b(?:no longer|not any ?more|nicht mehr|ne plus|ya no|больше не)\b|不再", re.IGNORECASE
)
_VALUE = re.compile(r"\b(?:v?\d[\w.:/-]*|\d+)\b|`[^`\n]{1,60}`|\"[^\"\n]{1,40}\"")
_NUMBER = re.compile(r"v?\d")
_CHANGED = re.compile(
    r"\b(?:no longer|not any ?more|(?:switch|migrat|mov|chang|renam|upgrad|replac)ed\b"
    r"|deprecated|obsolete|now (?:listens?|runs?|lives?|is|lies)|(?:is|are) now|from now on)\b"
    r"|\b(?:nicht mehr|jetzt|désormais|ne plus|ya no|ahora|больше не|теперь)\b|不再|现在改|今は",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|never|no|don't|doesn't|isn't|aren't|can't|cannot|won't|must not|nicht|kein\w*|nie|pas|jamais|не|никогда)\b",
    re.IGNORECASE,
)
# What somebody did or saw on the way: two reports never contradict each other.
_REPORTS = re.compile(
    r"\b(?:fail\w*|pass(?:es|ed|ing)?|errors?|exceptions?|retry|attempts?|took|tests? \d|lines? \d|step \d"
    r"|added|removed|created|updated|fixed|deleted|written|wrote|found|checked|verified|committed|returned"
    r"|issue #?\d|pull request|PR #?\d|option \d|bug #?\d|example|e\.g)\b|[✅❌✓→]|\w+\.\w+:\d",
    re.IGNORECASE,
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
    shared, either = older.subject & newer.subject, older.subject | newer.subject
    if len(shared) < _FEWEST_SHARED:
        return None
    alike = len(shared) / len(either)
    if newer.change and alike >= _ABOUT_THE_SAME and _says_it_changed(older, newer, len(shared)):
        return Conflict("stale", "a later statement says that it changed", alike)
    if older.negative != newer.negative and older.values == newer.values and alike >= _OPPOSITE:
        return Conflict("contradiction", "one says the opposite of the other", alike)
    if alike >= _ALIKE and _other_value(older, newer):
        return Conflict("contradiction", "they give different values for the same thing", alike)
    return None


def _says_it_changed(older: Claim, newer: Claim, shared: int) -> bool:
    if _other_value(older, newer):
        return shared >= _REPLACED * len(older.subject)
    given_up = _NO_LONGER.search(newer.sentence) is not None
    return given_up and shared > _FEWEST_SHARED and shared >= _GIVEN_UP * len(older.subject)


def _other_value(older: Claim, newer: Claim) -> bool:
    """One value in the place of another of its kind: a number for a number, a name for a name."""
    if not len(older.values) == len(newer.values) == 1 or older.values == newer.values:
        return False
    (one,), (other,) = older.values, newer.values
    return bool(_NUMBER.match(one)) == bool(_NUMBER.match(other))


def _claim(sentence: str) -> Claim | None:
    if len(sentence) > _LONGEST or sentence.endswith(("?", "？", ":")):
        return None
    change = bool(_CHANGED.search(sentence))
    if _REPORTS.search(sentence):
        return None
    values = frozenset(
        match.group().strip('`"').lower().rstrip(".") for match in _VALUE.finditer(sentence)
    )
    in_values = {part for value in values for part in words(value)}
    subject = frozenset(term for term in terms(_VALUE.sub(" ", sentence)) if term not in in_values)
    if len(subject) < _FEWEST_SHARED:
        return None
    return Claim(sentence, subject, values, bool(_NEGATIVE.search(sentence)), change)
