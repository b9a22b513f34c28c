"""What kind of thing a cue asks for, and whether a turn holds one: a time, a name.

"When did she move?" is answered by a turn that says "last week", not by one that only talks about
moving. Told by words and signs, in no way understood: it decides between near equals.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kinds:
    """Of a cue: what it asks for. Of a turn: what it holds."""

    time: bool
    name: bool


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
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week(?:end)?|month|year|since|recently"
    r"|just|morning|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day|fri|sat|january|february"
    r"|march|april|may|june|july|august|september|october|november|december|\d{4}"
    r"|gestern|heute|morgen|letzte\w*|woche|monat|jahr|hier|demain|semaine|mois|ayer|mañana"
    r"|semana|mes|año|вчера|сегодня|завтра|недел\w|месяц\w*|год\w*)\b"
    r"|أمس|اليوم|غدا|昨|今日|明|周|週|月|年",
    re.IGNORECASE,
)
# A capital within a sentence, or something in quotes.
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+|\"[^\"\n]{3,}\"")
# A long text holds all of them soon, or is no prose.
_READ = 20_000  # characters


def asked_for(cue: str) -> Kinds:
    return Kinds(
        time=_ASKS_TIME.search(cue) is not None,
        name=_ASKS_NAME.search(cue) is not None,
    )


def held_by(text: str) -> Kinds:
    read = text[:_READ]
    return Kinds(
        time=_TIME.search(read) is not None,
        name=_NAME.search(read) is not None,
    )
