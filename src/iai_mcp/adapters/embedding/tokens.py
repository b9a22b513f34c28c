"""Text to token ids, cut to what the model can see."""

import re
from pathlib import Path

from tokenizers import Tokenizer

from iai_mcp.domain.errors import ModelDamaged

# Characters looked at for each token wanted. English has about four; the rest is for long
# words and blanks, and keeps a 16 MB text from being split into millions of tokens in vain.
_CHARACTERS_PER_TOKEN = 64
# The tokenizer keeps some hundred bytes for each token until it is done: count in pieces.
_PIECE = 16_384
# A tokenizer of BERT's kind looks at one word, or one sign, at a time.
_PLAIN = re.compile(r"[\n\t -~]*")
_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_COUNTS_KEPT = 16_384


class Tokens:
    """A model's own way to split text. Safe to call from several threads at once."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        """
        Raises:
            ModelDamaged: the file is absent or not a tokenizer.
        """
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises plain Exception for whatever is wrong with the file.
        except Exception as error:
            raise ModelDamaged(f"the tokenizer in {path} can not be read: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # "[SEP]" in what somebody said is text, not a mark.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._before, self._after = _marks(tokenizer)
        self._room = max_tokens - len(self._before) - len(self._after)
        self._by_word = _is_bert(tokenizer)
        self._counts: dict[str, int] = {}

    def ids(self, text: str) -> list[int]:
        """The ids of `text` as the model wants them: cut to its limit, with its marks around."""
        seen = text[: self._room * _CHARACTERS_PER_TOKEN]
        body = self._body(seen)
        # A model without marks still needs something to look at when the text is blank.
        return self._before + body[: self._room] + self._after or [0]

    def count(self, text: str) -> int:
        """How many tokens `text` has, uncut and without marks."""
        if self._by_word and _PLAIN.fullmatch(text):
            return self._counted_by_word(text)
        return sum(len(self._body(piece)) for piece in _pieces(text))

    def _counted_by_word(self, text: str) -> int:
        """The same number in a tenth of the time: words come again and again."""
        known, words = self._counts, _WORD.findall(text.lower())
        try:
            return sum(map(known.__getitem__, words))
        except KeyError:
            if len(known) >= _COUNTS_KEPT:
                known = self._counts = {}
            split = self._tokenizer.model.tokenize  # knows no more than words, but at once
            known.update((word, len(split(word))) for word in words if word not in known)
            return sum(known[word] for word in words)

    def _body(self, text: str) -> list[int]:
        # Half a surrogate pair is legal in JSON and in a str, but not in UTF-8.
        whole = text.encode("utf-8", "replace").decode("utf-8")
        # Of several texts, be it one, the library lets others have the interpreter meanwhile.
        (found,) = self._tokenizer.encode_batch([whole], add_special_tokens=False)
        return list(found.ids)


def _is_bert(tokenizer: Tokenizer) -> bool:
    """Whether it lowers letters, splits at blanks and signs, and words into known pieces."""
    parts = tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model
    kinds = tuple(type(part).__name__ for part in parts)
    bert = ("BertNormalizer", "BertPreTokenizer", "WordPiece")
    return kinds == bert and bool(tokenizer.normalizer.lowercase)


def _marks(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after a text, such as [CLS] and [SEP]."""
    body = list(tokenizer.encode("a", add_special_tokens=False).ids)
    whole = list(tokenizer.encode("a").ids)
    for start in range(len(whole) - len(body) + 1):
        if whole[start : start + len(body)] == body:
            return whole[:start], whole[start + len(body) :]
    return [], []


def _pieces(text: str) -> list[str]:
    """`text` in pieces that end at a blank where there is one."""
    pieces = []
    start = 0
    while len(text) - start > _PIECE:
        blank = text.rfind(" ", start, start + _PIECE)
        end = blank if blank > start else start + _PIECE
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces
