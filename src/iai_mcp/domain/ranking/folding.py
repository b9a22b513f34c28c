"""Near-identical texts folded into one: the same answer twice helps nobody."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"\w+")
# Two texts with this share of their words in common say the same.
_SAME = 0.9
# Shorter ones are compared letter by letter: one other word makes them another statement.
_FEW_WORDS = 8


@dataclass(frozen=True, slots=True)
class Fold:
    """Where the one to show stands, and those that say the same."""

    shown: int
    others: tuple[int, ...]


def folded(texts: Sequence[str]) -> list[Fold]:
    """The texts by place, in order, each near-identical one with the first of its kind."""
    kept: list[tuple[int, list[str], frozenset[str], list[int]]] = []
    for place, text in enumerate(texts):
        said = _WORD.findall(text.lower())
        words = frozenset(said)
        for _, other_said, other_words, others in kept:
            if said == other_said or _alike(said, words, other_said, other_words):
                others.append(place)
                break
        else:
            kept.append((place, said, words, []))
    return [Fold(place, tuple(others)) for place, _, _, others in kept]


def _alike(
    said: list[str], words: frozenset[str], other_said: list[str], other_words: frozenset[str]
) -> bool:
    if min(len(said), len(other_said)) < _FEW_WORDS:
        return False
    if _digits(words) != _digits(other_words):
        return False  # "the port is 5432" and "the port is 5433" are not the same
    if min(len(words), len(other_words)) < _SAME * max(len(words), len(other_words)):
        return False
    return len(words & other_words) >= _SAME * len(words | other_words)


def _digits(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if any(char.isdigit() for char in word))
