"""Whether a text has a word or a phrase in it: as words, not as letters inside of other words."""

import re
import unicodedata
from collections.abc import Iterator

# Written without blanks between words: there the characters themselves are what can be told apart.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


class Phrase:
    """Words that follow each other, whatever blanks are between them, in any case and composition."""

    __slots__ = ("_pattern",)

    def __init__(self, words: str) -> None:
        self._pattern = re.compile(r"\s+".join(map(re.escape, _folded(words).split())) or r"\Z\A.")

    def is_in(self, text: str) -> bool:
        return next(self._places(_folded(text)), None) is not None

    def sample(self, text: str, length: int) -> str:
        """About `length` characters of the text around the first place where the words stand."""
        folded = _folded(text)
        # Letters that fold into several would shift the place: then the beginning has to do.
        place = next(self._places(folded), 0) if len(folded) == len(text) else 0
        start = max(0, min(place - length // 3, len(text) - length))
        end = min(len(text), start + length)
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"

    def _places(self, folded: str) -> Iterator[int]:
        at = 0
        while found := self._pattern.search(folded, at):
            if _is_edge(folded, found.start()) and _is_edge(folded, found.end()):
                yield found.start()
            at = found.start() + 1


def _is_edge(text: str, at: int) -> bool:
    """Whether a word may begin or end there: no two parts of one word meet."""
    if at in (0, len(text)):
        return True
    before, behind = text[at - 1], text[at]
    if _UNSPACED.match(before) or _UNSPACED.match(behind):
        return not unicodedata.combining(behind)
    return not (_in_word(before) and _in_word(behind))


def _in_word(character: str) -> bool:
    # Signs of vowels are parts of words in many scripts, and no letters.
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
