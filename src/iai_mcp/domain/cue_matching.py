"""Which words of a cue a text holds, whatever their endings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iai_mcp.domain.exchanges import CueWord, CueWords
from iai_mcp.domain.words import is_cjk

_SHORTEST_STEM = 4
# Characters: a longer word is none, and every place of a text would be compared with all of it.
_LONGEST_WORD = 200
_ENGLISH = """
s es ed d e er ers ing ings ion ions ation ations al ally ly able ably ment ments ness ity ities ive
ives ies ied y ized ize izes ising ise ised ance ances ancy ancies ence ences ency encies ant ent ate ates ated ating or ors en ens in ern em
"""
_ENDINGS = frozenset(["", *_ENGLISH.split()])
_LONGEST_ENDING = 6
# Of a word that stands in more places than are looked at, those beside rarer words of the cue are found
# all the same: "section 217" means one of three hundred sections.
_BESIDE = 80  # characters
_RARER = 20  # places
_OTHER_SCRIPT_ENDING = (
    4  # letters: cases and persons of languages that are not stemmed as English is
)


class Occurrence(NamedTuple):
    """A word of the cue in a text, or what stands in for it at its worth."""

    start: int
    end: int
    word: int  # which word of the cue
    worth: float


@dataclass(frozen=True, slots=True)
class _Sought:
    word: int
    stem: str
    worth: float
    inside: bool  # found wherever its letters stand: scripts without blanks, `utf8`
    rest: str = (
        ""  # of the token behind the stem: "carp" may stand for "carpent", whose forms are others
    )


class CueMatcher:
    """Finds the words of one cue, and what stands in for them."""

    def __init__(self, cue: CueWords) -> None:
        total = sum(word.idf for word in cue.words) or 1.0
        self.shares: Sequence[float] = [word.idf / total for word in cue.words]
        self._sought = [
            _Sought(place, stem, worth, inside, token[len(stem) :])
            for place, word in enumerate(cue.words)
            for token, worth in _forms(word)
            if len(token) <= _LONGEST_WORD
            for inside in (is_cjk(token) or not (token.isalpha() or token.isdigit()),)
            for stem in (token if inside else _stem(token),)
        ]

    @classmethod
    def of_terms(cls, terms: Iterable[str]) -> "CueMatcher":
        """Where nothing is known of how rare each word is: the longer tells more."""
        return cls(by_length(terms))

    def occurrences(self, text: str, most: int = 1000) -> list[Occurrence]:
        """Where words of the cue stand, in order of place; at most so many of each, and those beside
        what is rarer."""
        lowered = _lowered(text)
        found: list[Occurrence] = []
        rarer: list[Occurrence] = []
        cut_off: list[tuple[_Sought, int]] = []  # and how far was looked
        for sought in self._sought:
            if sought.stem in lowered:
                own = list(_each(sought, lowered, text, most))
                found += own
                if len(own) < most:
                    rarer += own
                elif own:
                    cut_off.append((sought, own[-1].end))
        if cut_off and rarer:
            found += _beside(rarer[:_RARER], cut_off, lowered, text)
        found.sort(key=lambda one: one.start)
        return found

    def overlap(self, found: Iterable[Occurrence]) -> float:
        """The share of the cue's rarity that these hold together."""
        best: dict[int, float] = {}
        for one in found:
            if one.worth > best.get(one.word, 0.0):
                best[one.word] = one.worth
        return sum(self.shares[word] * worth for word, worth in best.items())


def by_length(terms: Iterable[str]) -> CueWords:
    """Words of a cue of which nothing is known but themselves."""
    return CueWords([CueWord(term, float(min(len(term), 8)), 0) for term in terms])


ANYTHING = CueMatcher(CueWords())  # what is to be shown of a text about which nothing was asked


def _beside(
    rarer: Iterable[Occurrence], cut_off: Sequence[tuple[_Sought, int]], lowered: str, text: str
) -> set[Occurrence]:
    return {
        occurrence
        for one in rarer
        for sought, looked in cut_off
        for occurrence in _each(
            sought, lowered, text, _RARER, max(looked, one.start - _BESIDE), one.end + _BESIDE
        )
    }


def _each(
    sought: _Sought, lowered: str, text: str, most: int, at: int = 0, before: int | None = None
) -> Iterator[Occurrence]:
    """The letters are looked for first: that is fast, and most texts have none of them."""
    stem = sought.stem
    while most and (at := lowered.find(stem, at, before)) >= 0:
        end = at + len(stem) if sought.inside else _end_of_word(sought, at, lowered, text)
        if end:
            yield Occurrence(at, end, sought.word, sought.worth)
            most -= 1
        at = end or at + 1


def _end_of_word(sought: _Sought, at: int, lowered: str, text: str) -> int:
    """Where the word ends that begins there, if it is a form of this one; else 0.

    The parts of identifiers are words: `getUserName`, `user_name`.
    """
    stem, rest = sought.stem, sought.rest
    letter = str.isdigit if stem[0].isdigit() else str.isalpha
    if at and letter(lowered[at - 1]) and not (text[at].isupper() and text[at - 1].islower()):
        return 0
    end = at + len(stem)
    while (
        end < len(text)
        and letter(text[end])
        and not (text[end].isupper() and text[end - 1].islower())
    ):
        end += 1
        if end - at - len(stem) > _LONGEST_ENDING + len(rest):
            return 0
    ending = lowered[at + len(stem) : end]
    if _same(ending, stem) or (
        rest and ending.startswith(rest) and _same(ending[len(rest) :], rest)
    ):
        return end
    return 0


def _lowered(text: str) -> str:
    """Lower case, letter by letter at the same places."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(_lower_letter(one) for one in text)


def _lower_letter(letter: str) -> str:
    lowered = letter.lower()
    return lowered if len(lowered) == 1 else letter


def _forms(word: CueWord) -> list[tuple[str, float]]:
    return [(word.token, 1.0), *((other.token, other.worth) for other in word.stand_ins)]


def _stem(token: str) -> str:
    """The beginning that the forms of a word share."""
    if token.isascii():
        for size in (5, 4, 3, 2, 1):
            if len(token) - size >= _SHORTEST_STEM and token[-size:] in _ENDINGS:
                token = token[:-size]
                break
        if len(token) > _SHORTEST_STEM and token[-1] == token[-2] and token[-1] not in "aeiouls":
            token = token[:-1]
    return token[:-1] if len(token) > _SHORTEST_STEM and token[-1] in "iy" else token


def _same(rest: str, stem: str) -> bool:
    """Whether a word of this stem may end so."""
    if rest in _ENDINGS:
        return True
    if not rest.isascii():
        return len(rest) <= _OTHER_SCRIPT_ENDING
    # "stopped": the last letter is said twice before some endings; "policies": `i` for `y`.
    return rest[0] in (stem[-1], "i") and rest[1:] in _ENDINGS
