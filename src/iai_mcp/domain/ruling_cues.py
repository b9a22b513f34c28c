"""Cues that ask how things are to be done: what people ruled answers them, in their own words."""

import re
from collections.abc import Mapping

_ASKS_FOR_A_RULE = re.compile(
    r"\b(?:should(?:n['’]t)?|must|ought|allowed|supposed|permitted|acceptable|prefer(?:red|s|ences?)?|stance|opinion"
    r"|conventions?|rules?|polic(?:y|ies)|guidelines?|standards?|house style|by default"
    r"|(?:do|did|would) (?:i|we) (?:want|like|dislike|prefer|insist|mind|object)\w*"
    r"|(?:ok|okay|fine) to|or not|sollen?|dürfen|darf|müssen|muss|doit|doivent|faut-il|debe\w*|debo"
    r"|следует|должн\w+|можно ли)\b|(?-i:\bmay\b)|^may\b"
    r"|应该|该不该|必须|可以[^。]{0,30}吗|能不能|可不可以|让不让|允许|要不要|约定|规定|规范|惯例|还是[^。？?]{1,30}[？?]\s*$"
    r"|べき|てもいい|ルール|規約",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
# On the scale of turns, as exchanges are told: their words, their meaning, and that somebody ruled it.
_WORDS, _MEANING, _RULED = 4.0, 5.0, 3.0
_NEAR = 0.3  # the cosine from which a ruling may be about the cue


def asks_for_a_rule(cue: str) -> bool:
    """Whether it asks what is wanted, allowed or usual here."""
    return _ASKS_FOR_A_RULE.search(cue) is not None or _lets_choose(cue)


def _lets_choose(cue: str) -> bool:
    """Whether it ends with a choice: "indentation: tabs or spaces?"."""
    body, asked, rest = cue.rstrip().rpartition("?")
    if not asked or rest:
        return False
    _, colon, choice = body.rpartition("?")[2].partition(":")
    return bool(colon) and _OR.search(choice) is not None


def asking_words(cue: str) -> frozenset[str]:
    """The words by which it asks for that, and which no ruling holds: "allowed", "convention"."""
    found = (one.group().lower() for one in _ASKS_FOR_A_RULE.finditer(cue))
    return frozenset(one for one in found if one.isalpha())


def weighed(words: float, cosine: float | None, project: float) -> Mapping[str, float]:
    """What speaks for a ruling; nothing where it is about something else."""
    if cosine is not None and cosine < _NEAR and not words:
        return {}
    parts = {"words": _WORDS * words, "meaning": _MEANING * (cosine or 0.0)}
    return {**parts, "project": project, "standing": _RULED}
