"""Near-identical texts folded into one: the same answer twice helps nobody."""

import string
from collections.abc import Iterable
from dataclasses import dataclass, field

# Signs between words say nothing; an underscore holds an identifier together.
_SIGNS = str.maketrans(dict.fromkeys(string.punctuation.replace("_", ""), " "))
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
        said = tuple(text[:_READ].lower().translate(_SIGNS).split())
        known = equal.get(said)
        if known is None:
            words = frozenset(said)
            marks = _marks(words) if len(said) >= _FEW_WORDS else ()
            known = _alike(words, [one for mark in marks for one in by_mark.get(mark, ())])
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


def _marks(words: frozenset[str]) -> tuple[str, str]:
    """Words that near-identical texts nearly always share: only texts with one are compared."""
    return "<" + min(words), ">" + max(words)


def _alike(words: frozenset[str], kept: Iterable[_Kept]) -> _Kept | None:
    """The first that shares nearly all its words. Most are told apart by their number alone."""
    size = len(words)
    if size < _FEW_WORDS:
        return None  # few words, said again and again
    least, most = size * _SAME, size / _SAME
    for one in kept:
        if least <= len(one.words) <= most and _near(one.words, words):
            return one
    return None


def _near(words: frozenset[str], others: frozenset[str]) -> bool:
    common = len(words & others)
    if common < _SAME * (len(words) + len(others) - common):
        return False
    # "the port is 5432" and "the port is 5433" are not the same: numbers must agree.
    return all(word.isalpha() for word in words ^ others)
