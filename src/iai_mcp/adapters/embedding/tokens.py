"""Text to token ids, cut to what the model can see."""

import json
from pathlib import Path
from typing import Any, Protocol

from iai_mcp.adapters.embedding.word_piece import WordPiece
from iai_mcp.domain.errors import ModelDamaged, NotInstalled

# Characters looked at for each token wanted. English has about four; the rest is for long
# words and blanks, and keeps a 16 MB text from being split into millions of tokens in vain.
_CHARACTERS_PER_TOKEN = 64
# A tokenizer keeps some hundred bytes for each token until it is done: count in pieces.
_PIECE = 16_384


class _Encoder(Protocol):
    def encode(self, text: str) -> list[int]:
        """The ids of `text`, uncut and without marks."""
        ...


class Tokens:
    """A model's own way to split text. Safe to call from several threads at once."""

    def __init__(self, path: Path, max_tokens: int) -> None:
        """
        Raises:
            ModelDamaged: the file is absent or not a tokenizer.
            NotInstalled: it is a tokenizer that only the package `tokenizers` reads.
        """
        try:
            document = json.loads(path.read_bytes())
            self._encoder, (self._before, self._after) = _opened(path, document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelDamaged(f"the tokenizer in {path} can not be read: {error}") from error
        self._room = max_tokens - len(self._before) - len(self._after)

    def ids(self, text: str) -> list[int]:
        """The ids of `text` as the model wants them: cut to its limit, with its marks around."""
        body = self._body(text[: self._room * _CHARACTERS_PER_TOKEN])
        # A model without marks still needs something to look at when the text is blank.
        return self._before + body[: self._room] + self._after or [0]

    def count(self, text: str) -> int:
        """How many tokens `text` has, uncut and without marks."""
        return sum(len(self._body(piece)) for piece in _pieces(text))

    def _body(self, text: str) -> list[int]:
        # Half a surrogate pair is legal in JSON and in a str, but not in UTF-8.
        return self._encoder.encode(text.encode("utf-8", "replace").decode("utf-8"))


class _Packaged:
    """Any other tokenizer, by the package `tokenizers`."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            NotInstalled: the package is not there.
            ValueError: it can not read the file.
        """
        try:
            from tokenizers import Tokenizer
        except ImportError as absent:
            raise NotInstalled(
                f"the tokenizer in {path} is none of BERT's kind: install the package that reads it "
                "into the environment of iai-mcp (pip install tokenizers), or use another model"
            ) from absent
        try:
            tokenizer = Tokenizer.from_file(str(path))
        # The library raises plain Exception for whatever is wrong with the file.
        except Exception as error:
            raise ValueError(str(error)) from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # "[SEP]" in what somebody said is text, not a mark.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        # Of several texts, be it one, the library lets others have the interpreter meanwhile.
        (encoding,) = self._tokenizer.encode_batch([text], add_special_tokens=False)
        return list(encoding.ids)

    def marks(self) -> tuple[list[int], list[int]]:
        """The ids that are put before and after a text, such as [CLS] and [SEP]."""
        body = self.encode("a")
        whole = list(self._tokenizer.encode("a").ids)
        for start in range(len(whole) - len(body) + 1):
            if whole[start : start + len(body)] == body:
                return whole[:start], whole[start + len(body) :]
        return [], []


def _opened(path: Path, document: Any) -> tuple[_Encoder, tuple[list[int], list[int]]]:
    model = document["model"]
    marks = _bert_marks(document)
    if marks is not None and _is_bert(document):
        return WordPiece(model, document["normalizer"]), marks
    packaged = _Packaged(path)
    return packaged, packaged.marks()


def _is_bert(document: dict[str, Any]) -> bool:
    parts = ("normalizer", "pre_tokenizer", "model")
    kinds = tuple((document.get(part) or {}).get("type") for part in parts)
    if kinds != ("BertNormalizer", "BertPreTokenizer", "WordPiece"):
        return False
    return all(token["special"] for token in document.get("added_tokens") or ())


def _bert_marks(document: dict[str, Any]) -> tuple[list[int], list[int]] | None:
    """The ids before and after a text; None if they are given in a way that BERT's models do not use."""
    processor = document.get("post_processor")
    if processor is None:
        return [], []
    if processor["type"] == "BertProcessing":
        return [int(processor["cls"][1])], [int(processor["sep"][1])]
    if processor["type"] != "TemplateProcessing":
        return None
    before: list[int] = []
    after: list[int] = []
    side = before
    for part in processor["single"]:
        if "SpecialToken" in part:
            side += processor["special_tokens"][part["SpecialToken"]["id"]]["ids"]
        else:
            side = after
    return before, after


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
