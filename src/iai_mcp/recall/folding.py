"""Near-identical texts folded into one: the same answer twice helps nobody."""

import string
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from iai_mcp.domain.derived import Derived

# Signs between words say nothing; an underscore holds an identifier together.
_SIGNS = str.maketrans(dict.fromkeys(string.punctuation.replace("_", ""), " "))
# Two texts with this share of their words in common say the same.
_SAME = 0.9
# Shorter ones are compared letter by letter: one other word makes them another statement.
_FEW_WORDS = 8
# The rest of a very long text decides nothing.
_READ = 4000
_KEPT = 1_024  # texts of which is known what tells them apart: half a kilobyte each, as a rule


@dataclass(frozen=True, slots=True)
class Fold:
    """Where the one to show stands, and those that say the same."""

    shown: int
    others: tuple[int, ...]


def folded(texts: Iterable[str]) -> list[Fold]:
    """The texts by place, in order, each near-identical one with the first of its kind."""
    kept: list[_Kept] = []
    equal: dict[tuple[int, int], _Kept] = {}
    by_mark: dict[int, list[_Kept]] = {}
    for place, text in enumerate(texts):
        said = _told_apart.of(text, _said)
        known = equal.get(said.whole)
        if known is None:
            known = _alike(said, [one for mark in said.marks for one in by_mark.get(mark, ())])
            if known is None:
                new = _Kept(place, said)
                kept.append(new)
                equal[said.whole] = new
                for mark in said.marks:
                    by_mark.setdefault(mark, []).append(new)
                continue
        known.others.append(place)
    return [Fold(one.place, tuple(one.others)) for one in kept]


@dataclass(frozen=True, slots=True)
class _Said:
    """What tells a text from others, in hashes of its words: none of them is held."""

    whole: tuple[int, int]  # how many words, and all of them in their order
    marks: tuple[int, ...]
    words: "array[int]"  # each once
    signs: frozenset[int]  # those of them that are not letters alone


@dataclass(slots=True)
class _Kept:
    place: int
    said: _Said
    others: list[int] = field(default_factory=list)


_told_apart = Derived[_Said](_KEPT)


def _said(text: str) -> _Said:
    said = tuple(text[:_READ].lower().translate(_SIGNS).split())
    words = frozenset(said)
    return _Said(
        whole=(len(said), hash(said)),
        marks=_marks(words) if len(said) >= _FEW_WORDS else (),
        words=array("q", map(hash, words)),
        signs=frozenset(hash(word) for word in words if not word.isalpha()),
    )


def _marks(words: frozenset[str]) -> tuple[int, int]:
    """Words that near-identical texts nearly always share: only texts with one are compared."""
    return hash("<" + min(words)), hash(">" + max(words))


def _alike(said: _Said, kept: Iterable[_Kept]) -> _Kept | None:
    """The first that shares nearly all its words. Most are told apart by their number alone."""
    size = len(said.words)
    if size < _FEW_WORDS:
        return None  # few words, said again and again
    least, most = size * _SAME, size / _SAME
    for one in kept:
        if least <= len(one.said.words) <= most and _near(one.said, said):
            return one
    return None


def _near(said: _Said, other: _Said) -> bool:
    common = len(frozenset(said.words).intersection(other.words))
    if common < _SAME * (len(said.words) + len(other.words) - common):
        return False
    # "the port is 5432" and "the port is 5433" are not the same: numbers must agree.
    return said.signs == other.signs
