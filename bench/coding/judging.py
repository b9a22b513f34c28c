"""Whether an answer holds what it should: quotes compared without markup, case and line breaks."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_MARKUP = re.compile(r"[\s`*_#>|]+")
_NARRATION = re.compile(
    r"^(ok(ay)?[.,!]?\s|now |let me|let's|i'll|i will|i need to|need to|next,|good[.,!]|great[.,!]"
    r"|perfect[.,!]|done[.,!]?$|push it|commit$|yes$|continue$|现在|让我|好的)",
    re.IGNORECASE,
)
_DATED = re.compile(r"^[-\s]*(\[?\d{4}-\d\d-\d\d[^\]:]*[\]:])?\s*")
_NEAR_SHARE, _NEAR_WORDS, _NEAR_BEGINNING = 0.8, 5, 4
CUTS = (1, 3, 5, 10_000)  # the last: anywhere in the answer

Gold = Mapping[str, Any]
Found = tuple[bool, ...]  # within each of CUTS


def flat(text: str) -> str:
    return _MARKUP.sub(" ", text).strip().lower()


def found(question: Mapping[str, Any], texts: Sequence[str]) -> Found:
    """Whether one of the gold quotes, or all where all are needed, are within the first texts."""
    shown = [flat(text) for text in texts]
    enough: Callable[[Iterable[bool]], bool] = any if question.get("any", True) else all
    return tuple(enough(_holds(gold, shown[:cut]) for gold in question["gold"]) for cut in CUTS)


def _holds(gold: Gold, texts: Sequence[str]) -> bool:
    quotes = [flat(one["quote"]) for one in (gold, *gold.get("alt", ()), *gold.get("alts", ()))]
    return any(quote in text for quote in quotes for text in texts)


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


def is_narration(text: str) -> bool:
    return _NARRATION.match(text.lstrip("… \n\t")) is not None


def lines_told(briefing: str) -> list[str]:
    """The lines of a briefing that say anything, without their dates."""
    plain = (_DATED.sub("", line) for line in briefing.splitlines())
    return [line for line in plain if len(line) > len("- x")]


def mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else float("nan")
