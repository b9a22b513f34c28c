"""Whether an answer holds what it should: quotes compared without markup, case and line breaks."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_MARKUP = re.compile(r"[\s`*_#>|]+")
_NEAR_SHARE, _NEAR_WORDS, _NEAR_BEGINNING = 0.8, 5, 4
_ID = re.compile(r"^\[([0-9a-f]{8,36})\]", re.MULTILINE)
_NO_MATCH = "No good match"

Gold = Mapping[str, Any]


def flat(text: str) -> str:
    return _MARKUP.sub(" ", text).strip().lower()


def holds(question: Mapping[str, Any], text: str) -> bool:
    """Whether one of the gold quotes, or all where all are needed, stands in the text."""
    plain = flat(text)
    enough: Callable[[Iterable[bool]], bool] = any if question.get("any", True) else all
    return enough(_has(gold, plain) for gold in question["gold"])


def _has(gold: Gold, plain: str) -> bool:
    quotes = (flat(one["quote"]) for one in (gold, *gold.get("alt", ()), *gold.get("alts", ())))
    return any(quote in plain for quote in quotes)


def near(gold: Gold, text: str) -> bool:
    """Whether `text`, which is flat already, says what the quote says, in nearly its words."""
    quote = flat(gold["quote"])
    words = re.findall(r"\w+", quote)
    if quote in text:
        return True
    have = set(re.findall(r"\w+", text))
    held = sum(word in have for word in words)
    if len(words) < _NEAR_WORDS or held / len(words) < _NEAR_SHARE:
        return False
    return " ".join(words[:_NEAR_BEGINNING]) in re.sub(r"\W+", " ", text)


def ids(answer: str) -> list[str]:
    """The ids at the start of lines, in order."""
    return list(dict.fromkeys(_ID.findall(answer)))


def first_result(answer: str) -> str:
    """The answer up to its second result."""
    starts = [match.start() for match in _ID.finditer(answer)]
    return answer[: starts[1]] if len(starts) > 1 else answer


def has_no_match(answer: str) -> bool:
    return answer.lstrip().startswith(_NO_MATCH)


def mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else float("nan")
