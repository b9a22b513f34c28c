"""Reads a SentencePiece model, its pieces with their scores and how it normalises text; writes ours."""

import base64
import json
import struct
from array import array
from dataclasses import dataclass
from pathlib import Path

from iai_mcp.adapters.embedding.pieces import NAMES, SCORES
from iai_mcp.domain.errors import ModelDamaged
from iai_mcp.model_builder.protobuf import content, fields, integer, text

_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _KIND = 1, 2, 3
_CHARSMAP = 2
_UNIGRAM = 1
_ORDINARY, _UNKNOWN = 1, 2
_BEGIN, _END = "<s>", "</s>"
_ZERO = memoryview(bytes(4))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A unigram vocabulary. A piece's place is its id; "" stands for marks, which no text holds."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    unknown: int
    begin: int
    end: int
    charsmap: bytes


def read_vocabulary(model: bytes) -> Vocabulary:
    """
    Raises:
        ModelDamaged: this is no SentencePiece model, or none of the unigram kind.
    """
    pieces: list[str] = []
    scores: list[float] = []
    marks: dict[str, int] = {}
    unknown = kind = -1
    charsmap = b""
    try:
        for field, value in fields(model):
            if field == _PIECES:
                entry = dict(fields(content(value)))
                piece = text(entry[_TEXT])
                ordinary = entry.get(_KIND, _ORDINARY) == _ORDINARY
                if entry.get(_KIND) == _UNKNOWN:
                    unknown = len(pieces)
                if not ordinary:
                    marks[piece] = len(pieces)
                pieces.append(piece if ordinary else "")
                scores.append(struct.unpack("<f", content(entry.get(_SCORE, _ZERO)))[0])
            elif field == _TRAINER:
                kind = integer(dict(fields(content(value))).get(3, _UNIGRAM))
            elif field == _NORMALIZER:
                charsmap = bytes(content(dict(fields(content(value))).get(_CHARSMAP, _ZERO[:0])))
        if kind != _UNIGRAM or unknown < 0:
            raise ModelDamaged("the model's tokenizer is not a unigram of SentencePiece")
        begin, end = marks[_BEGIN], marks[_END]
    except (KeyError, IndexError, ValueError, TypeError, struct.error) as error:
        raise ModelDamaged(f"the model's tokenizer can not be read ({error})") from error
    return Vocabulary(tuple(pieces), tuple(scores), unknown, begin, end, charsmap)


def write_pieces(vocabulary: Vocabulary, directory: Path, settings: str) -> None:
    """Put `vocabulary` into `directory`; the file `settings` says how to use it."""
    charsmap = base64.b64encode(vocabulary.charsmap).decode()
    document = {
        "unknown": vocabulary.unknown,
        "begin": vocabulary.begin,
        "end": vocabulary.end,
        "charsmap": charsmap,
    }
    (directory / settings).write_text(json.dumps(document), encoding="utf-8")
    (directory / NAMES).write_text("\n".join(vocabulary.pieces), encoding="utf-8")
    (directory / SCORES).write_bytes(array("f", vocabulary.scores).tobytes())
