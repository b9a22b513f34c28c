"""Whether people mostly speak another language than English: told from a sample, and cheaply."""

from collections.abc import Iterable

from iai_mcp.domain.cue.stop_words import stop_words
from iai_mcp.domain.words import words

SAMPLE = 400  # texts
LETTERS = 400  # of each
_FEWEST = 10  # foreign texts: fewer say nothing about a history
_OF_ALL = (
    0.25  # that are long enough to be told: terse English is often not told from other languages
)
_LETTERS_AT_LEAST = 12
_OTHER_SCRIPT = 0.3  # of the letters: names, commands and code stay Latin everywhere
# Beyond Latin with its accents.
_LATIN_ENDS = 0x250
_LATIN_MORE = range(0x1E00, 0x1F00)

_ENGLISH = stop_words((), "en")
_OTHERS = (
    *(stop_words((), language) for language in ("de", "fr", "es")),
    *(
        frozenset(text.split())
        for text in (
            "il lo gli che non per una della delle nel con sono come più anche questo perché è",
            "o os que não uma para com em como mais mas isso está são você por quando também",
            "de het een en van ik niet dat die voor met zijn maar ook als naar wat hoe wordt",
            "nie jest się że na do jak czy to ale dla po tak co od są być może przez tylko",
            "bir bu ve için ile değil ama nasıl gibi daha çok ne var yok olarak mi mı kadar",
            "och att det som är inte på en för med har jag den kan om men så till vi",
            "không là của và có cho được trong này với tôi một các những để như thì",
        )
    ),
)


def in_another_script(text: str) -> bool:
    """Whether it is written in other letters than Latin ones, of which an English model knows few."""
    if text.isascii():
        return False
    letters = [letter for letter in text[:LETTERS] if letter.isalpha()]
    other = sum(ord(letter) >= _LATIN_ENDS and ord(letter) not in _LATIN_MORE for letter in letters)
    return other > _OTHER_SCRIPT * len(letters)


def is_foreign(text: str) -> bool | None:
    """Whether it is in another language; None when that can not be told."""
    sample = text[:LETTERS]
    if not _has_enough_letters(text):
        return None
    if in_another_script(sample):
        return True
    said = words(sample)
    english = sum(word in _ENGLISH for word in said)
    foreign = max(sum(word in silent for word in said) for silent in _OTHERS)
    if max(english, foreign) < 2 or english == foreign:
        return None
    return foreign > english


def mostly_foreign(texts: Iterable[str]) -> bool:
    """Whether more than half of those that can be told are, and these are enough to say so."""
    long_enough = [text for text in texts if _has_enough_letters(text)]
    told = [verdict for text in long_enough if (verdict := is_foreign(text)) is not None]
    foreign = sum(told)
    return foreign >= max(_FEWEST, _OF_ALL * len(long_enough)) and 2 * foreign > len(told)


def _has_enough_letters(text: str) -> bool:
    return sum(map(str.isalpha, text[:LETTERS])) >= _LETTERS_AT_LEAST
