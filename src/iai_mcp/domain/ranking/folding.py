"""Near-identical texts folded into one: the same answer twice helps nobody."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_WORD = re.compile(r"\w+")
# Two texts with this share of their words in common say the same.
_SAME = 0.9
# Shorter ones are compared letter by letter: one other word makes them another statement.
_FEW_WORDS = 8
# The rest of a very long text decides nothing.
_READ = 4000


@dataclass(frozen=True, slots=True)
class Fold:
    """Where the one to show stands, and those that say the same."""

    shown: int
    others: tuple[int, ...]


def folded(texts: Iterable[str]) -> list[Fold]:
    """The texts by place, in order, each near-identical one with the first of its kind."""
    kept: list[_Kept] = []
    equal: dict[tuple[str, ...], _Kept] = {}
    by_mark: dict[str, list[_Kept]] = {}
    for place, text in enumerate(texts):
        said = tuple(_WORD.findall(text[:_READ].lower()))
        known = equal.get(said)
        if known is None:
            words = frozenset(said)
            marks = _marks(words) if len(said) >= _FEW_WORDS else ()
            alike = (one for mark in marks for one in by_mark.get(mark, ()))
            known = next((one for one in alike if _near(one.words, words)), None)
            if known is None:
                new = _Kept(place, words)
                kept.append(new)
                equal[said] = new
                for mark in marks:
                    by_mark.setdefault(mark, []).append(new)
                continue
        known.others.append(place)
    return [Fold(one.place, tuple(one.others)) for one in kept]


@dataclass(slots=True)
class _Kept:
    place: int
    words: frozenset[str]
    others: list[int] = field(default_factory=list)


def _marks(words: frozenset[str]) -> tuple[str, str, str]:
    """Words that near-identical texts nearly always share: only texts with one are compared."""
    return "<" + min(words), ">" + max(words), max(sorted(words), key=len)


def _near(words: frozenset[str], others: frozenset[str]) -> bool:
    fewer, more = min(len(words), len(others)), max(len(words), len(others))
    if fewer < _FEW_WORDS or fewer < _SAME * more:
        return False
    common = len(words & others)
    if common < _SAME * (fewer + more - common):
        return False
    # "the port is 5432" and "the port is 5433" are not the same: numbers must agree.
    return all(word.isalpha() for word in words ^ others)
