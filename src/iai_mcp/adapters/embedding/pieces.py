"""Text to token ids by the likeliest split into known pieces (a unigram vocabulary).

The package `tokenizers` can do this too, but holds 120 MB for a vocabulary of 128,000 pieces and takes
most of a second to build it; a plain dictionary holds 25 MB.
"""

import base64
import json
import re
import unicodedata
from array import array
from pathlib import Path

from iai_mcp.adapters.embedding.character_map import CharacterMap
from iai_mcp.domain.errors import ModelDamaged

NAMES = "pieces.txt"
SCORES = "scores.bin"

_BLANK = "▁"
# As much as the model could see of the longest pieces; keeps a 16 MB text from being read in vain.
_CHARACTERS_PER_TOKEN = 64
# What an unknown character costs beyond the rarest piece: SentencePiece's own number.
_UNKNOWN_COSTS = 10.0
# Words come again and again; long runs (Chinese, Japanese, base64) do not.
_WORDS_KEPT = 16_384
_LONGEST_KEPT = 32
_WORST = float("-inf")
_VOICED = re.compile("[\uff9e\uff9f]")


class Pieces:
    """A unigram vocabulary at work. Safe to call from several threads at once."""

    def __init__(self, settings: Path, max_tokens: int) -> None:
        """
        Raises:
            ModelDamaged: a file of it is absent or makes no sense.
        """
        directory = settings.parent
        try:
            document = json.loads(settings.read_bytes())
            names = (directory / NAMES).read_text(encoding="utf-8").split("\n")
            self._scores = array("f", (directory / SCORES).read_bytes())
            self._unknown, self._begin, self._end = (
                int(document[key]) for key in ("unknown", "begin", "end")
            )
            charsmap = base64.b64decode(document["charsmap"])
            self._characters = CharacterMap(charsmap) if charsmap else None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelDamaged(f"the tokenizer in {settings} can not be read: {error}") from error
        if len(names) != len(self._scores):
            raise ModelDamaged(f"the tokenizer in {directory} has lost pieces")
        self._ids = {name: place for place, name in enumerate(names) if name}
        self._longest = max(map(len, self._ids), default=1)
        # Few pieces begin with a Chinese sign, and they are short: no need to try sixteen lengths.
        self._reach: dict[str, int] = {}
        for name in self._ids:
            self._reach[name[0]] = max(len(name), self._reach.get(name[0], 0))
        self._unknown_score = min(self._scores[i] for i in self._ids.values()) - _UNKNOWN_COSTS
        self._room = max_tokens - 2
        self._kept: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """The ids of `text` as the model wants them: cut to its limit, with its marks around."""
        body: list[int] = []
        for word in self._words(text[: self._room * _CHARACTERS_PER_TOKEN]):
            body += self._split(word[: self._room * self._longest])
            if len(body) >= self._room:
                break
        return [self._begin, *body[: self._room], self._end]

    def count(self, text: str) -> int:
        """How many tokens `text` has, uncut and without marks."""
        return sum(len(self._split(word)) for word in self._words(text))

    def _words(self, text: str) -> list[str]:
        """`text` normalised and cut before each blank: no piece goes on beyond one."""
        # Half a surrogate pair is legal in JSON and in a str, but not in UTF-8.
        text = text.encode("utf-8", "replace").decode("utf-8")
        if _VOICED.search(text):
            # The normaliser looks at one sign at a time and would leave ｶﾞ in two.
            text = unicodedata.normalize("NFKC", text)
        if self._characters is not None:
            text = self._characters.normalize(text)
        words = text.replace(_BLANK, " ").split(" ")
        return [_BLANK + word for word in words if word]

    def _split(self, word: str) -> list[int]:
        found = self._kept.get(word)
        if found is None:
            found = self._likeliest(word)
            if len(word) <= _LONGEST_KEPT:
                if len(self._kept) >= _WORDS_KEPT:
                    self._kept = {}
                self._kept[word] = found
        return found

    def _likeliest(self, word: str) -> list[int]:
        """The split with the highest sum of scores, by Viterbi's way: best up to each place."""
        size, ids, scores = len(word), self._ids, self._scores
        best, came = [_WORST] * (size + 1), [(0, 0)] * (size + 1)
        best[0] = 0.0
        for begin in range(size):
            base = best[begin]
            if word[begin] not in ids and base + self._unknown_score > best[begin + 1]:
                best[begin + 1] = base + self._unknown_score
                came[begin + 1] = begin, self._unknown
            reach = self._reach.get(word[begin], 0)
            for end in range(begin + 1, min(begin + reach, size) + 1):
                found = ids.get(word[begin:end])
                if found is not None and base + scores[found] > best[end]:
                    best[end] = base + scores[found]
                    came[end] = begin, found
        return self._way_back(came, size)

    def _way_back(self, came: list[tuple[int, int]], place: int) -> list[int]:
        path: list[int] = []
        while place:
            place, found = came[place]
            # Unknown characters in a row are one unknown piece.
            if found != self._unknown or not path or path[-1] != found:
                path.append(found)
        path.reverse()
        return path
