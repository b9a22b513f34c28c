"""When two memories say the same thing in (nearly) the same words.

Only what can not change the meaning may differ: case, spaces, punctuation, words such as "the".
A number, a name, a "not" or a question mark that differs makes two different memories; a port
that moved from 5432 to 5433 is news, not a repeat.
"""

import hashlib
import re
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.cue.stop_words import stop_words
from iai_mcp.domain.words import index_terms, words

# Where many words stay the same, a few may be added ("as I said, …") and one may be misspelt; a
# word in place of another one is news however long the text: Thursday is not Tuesday.
_LONG = 12
_SAME_SHARE = 0.85
_SPELT_ALIKE = 4
# Above this only the very same letters are a repeat: comparing words would take too long.
_COMPARED_UP_TO = 20_000
_NEGATION = re.compile(
    r"^(?:no|not|never|none|nor|without|cannot|nicht|kein\w*|nie|ne|pas|не|нет|لا|不|没|ない)$|n't$"
)
_TELLING_MARK = re.compile(r"[^\w\s.,;:'\"()`’“”‘…!。，、；：！「」『』（）-]|!=|(?<!\S)--?\w")
_DIGIT = re.compile(r"\d")
# Only from a word's beginning: else a long word without any is read once from each of its letters.
_NAME = re.compile(r"\b\w*(?:_\w|[a-z][A-Z])\w*")
_BANDS = 4
_ROWS = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says, without what may differ between repeats."""

    terms: tuple[str, ...]
    fixed: tuple[str, ...]  # what must be the same letter by letter: numbers, names, negations
    exact: str = ""  # the text itself, where it is too long to be compared by words

    @property
    def digest(self) -> int:
        """The same for texts that are repeats of each other whatever their length."""
        parts = "\x1f".join((*self.terms, "\x1e", *self.fixed, "\x1e", self.exact))
        return _hash64(parts)

    @property
    def long(self) -> bool:
        return len(self.terms) >= _LONG and not self.exact


def wording(text: str) -> Wording:
    """Read a text for comparing."""
    if len(text) > _COMPARED_UP_TO:
        return Wording((), (), text)
    said = words(text)
    silent = stop_words(said)
    telling = [word for word in said if word not in silent or _NEGATION.search(word)]
    terms = [term for word in telling or said for term in index_terms(word)]
    fixed = [mark.group().strip() for mark in _TELLING_MARK.finditer(text)]
    fixed += [word for word in telling if _DIGIT.search(word) or _NEGATION.search(word)]
    fixed += _NAME.findall(text)
    return Wording(tuple(terms), tuple(sorted(fixed)))


def repeats(one: Wording, other: Wording) -> bool:
    """Whether two texts say the same thing in nearly the same words."""
    if one == other:
        return True
    if not (one.long and other.long) or one.fixed != other.fixed:
        return False
    a, b = frozenset(one.terms), frozenset(other.terms)
    if len(a & b) < _SAME_SHARE * len(a | b):
        return False
    fewer, more = sorted((a - b, b - a), key=len)
    return all(any(_spelt_alike(word, of) for of in more) for word in fewer)


def fold_digest(project: str, role: str, said: Wording) -> int:
    """Where a memory looks for its repeats: the same words of the same role in the same project."""
    return _hash64(f"{project}\x1f{role}\x1f{said.digest}")


def bands(project: str, role: str, said: Wording) -> tuple[int, ...]:
    """Numbers of which two nearly equal long texts share at least one, others hardly ever any."""
    if not said.long:
        return ()
    # The smallest of each of sixteen hashes over all terms: two texts share such a smallest one as
    # often as they share words. What must be the same anyway is part of the number, so that
    # hardly any text has to be compared in vain.
    digests = b"".join(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=64).digest()
        for term in sorted(set(said.terms))
    )
    least = np.frombuffer(digests, dtype=">u4").reshape(-1, _BANDS * _ROWS).min(axis=0).tolist()
    place = "\x1f".join((project, role, *said.fixed))
    return tuple(
        _hash64(f"{place}\x1f{n}\x1f{least[n * _ROWS : (n + 1) * _ROWS]}") for n in range(_BANDS)
    )


def _spelt_alike(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= 2 and one[:_SPELT_ALIKE] == other[:_SPELT_ALIKE]


def _hash64(text: str) -> int:
    """A signed 64-bit number: what SQLite keeps in an integer column."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
