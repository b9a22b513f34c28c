"""What kind of thing a cue asks for, and whether a turn holds one: a time, a name, a change.

"When did she move?" is answered by a turn that says "last week", not by one that only talks about
moving. Told by words and signs, in no way understood: it decides between near equals.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iai_mcp.domain.changes import asks_for_the_present, tells_a_change
from iai_mcp.domain.words import indexed


@dataclass(frozen=True, slots=True)
class Kinds:
    """Of a cue: what it asks for. Of a turn: what it holds."""

    time: bool
    name: bool
    change: bool = False  # what is so now and was otherwise before


_ASKS_TIME = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|how (?:long|many (?:days|weeks|months|years)))\b"
    r"|\b(?:wann|wie lange|quand|combien de temps|cuándo|cuánto tiempo|когда|как долго)\b"
    r"|متى|什么时候|何时|多久|いつ",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    r"\b(?:who|where|which|name|what (?:book|movie|city|country|state|game|band|artist|company"
    r"|brand|tool|library|package|file|version))\b"
    r"|\b(?:wer|wo|welche[rsmn]?|qui|où|quel(?:le)?s?|quién|dónde|cuál|кто|где|как(?:ой|ая|ое))\b"
    r"|أين|谁|哪|誰|どこ",
    re.IGNORECASE,
)
# Looked up word by word: a pattern of so many words takes half a millisecond on a long turn.
_TIMES = frozenset(indexed(word) for word in (
    "yesterday", "today", "tonight", "tomorrow", "last", "next", "ago", "week", "weekend",
    "month", "year", "since", "recently", "just", "morning", "night", "monday", "tuesday",
    "wednesday", "thursday", "friday", "saturday", "sunday", "fri", "sat", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "gestern", "heute", "morgen", "letzte", "letzten", "letzter", "letztes", "woche",
    "monat", "jahr", "hier", "demain", "semaine", "mois", "ayer", "mañana", "semana", "mes",
    "año", "вчера", "сегодня", "завтра", "неделя", "неделю", "неделе", "недели", "месяц",
    "месяца", "год", "года", "году",
))  # fmt: skip
_YEAR = 4  # digits
_TIME_SIGNS = ("أمس", "اليوم", "غدا", "昨", "今日", "明", "周", "週", "月", "年")
# A capital within a sentence, or something in quotes.
_NAME = re.compile(r"[a-z,;] [A-Z][a-z]|\"[^\"\n]{3,}\"")
# A long text holds all of them soon, or is no prose.
_READ, READ_WORDS = 4_000, 800  # characters, words


def asked_for(cue: str) -> Kinds:
    return Kinds(
        time=_ASKS_TIME.search(cue) is not None,
        name=_ASKS_NAME.search(cue) is not None,
        change=asks_for_the_present(cue),
    )


def held_by(text: str, said: Sequence[str]) -> Kinds:
    """What the turn `text` holds; `said` are its words as the index has them."""
    read, words = text[:_READ], said[:READ_WORDS]
    return Kinds(
        time=_says_when(read, words),
        name=_NAME.search(read) is not None,
        change=tells_a_change(read, words),
    )


def _says_when(text: str, said: Sequence[str]) -> bool:
    if not _TIMES.isdisjoint(said) or any(len(w) == _YEAR and w.isdigit() for w in said):
        return True
    return not text.isascii() and any(sign in text for sign in _TIME_SIGNS)
