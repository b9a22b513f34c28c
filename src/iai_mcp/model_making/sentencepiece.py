"""Reads a SentencePiece model, its pieces with their scores and how it normalises text; writes ours.

The file is a protocol buffer with a handful of fields; the library that wrote it is not needed.
"""

import base64
import json
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from iai_mcp.adapters.embedding.pieces import NAMES, SCORES
from iai_mcp.domain.errors import ModelDamaged

_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _KIND = 1, 2, 3
_CHARSMAP = 2
_UNIGRAM = 1
_ORDINARY, _UNKNOWN = 1, 2
_BEGIN, _END = "<s>", "</s>"


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
        for field, value in _fields(model):
            if field == _PIECES:
                entry = dict(_fields(_message(value)))
                text = _message(entry[_TEXT]).decode("utf-8")
                ordinary = entry.get(_KIND, _ORDINARY) == _ORDINARY
                if entry.get(_KIND) == _UNKNOWN:
                    unknown = len(pieces)
                if not ordinary:
                    marks[text] = len(pieces)
                pieces.append(text if ordinary else "")
                scores.append(struct.unpack("<f", _message(entry.get(_SCORE, bytes(4))))[0])
            elif field == _TRAINER:
                kind = int(dict(_fields(_message(value))).get(3, _UNIGRAM))
            elif field == _NORMALIZER:
                charsmap = _message(dict(_fields(_message(value))).get(_CHARSMAP, b""))
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


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of one message: whole numbers as such, the rest as bytes."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        wire = tag & 7
        if wire == 0:
            number, place = _number(message, place)
            yield tag >> 3, number
            continue
        if wire == 2:
            size, place = _number(message, place)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if place + size > len(message):
            raise ValueError("it is cut short")
        yield tag >> 3, message[place : place + size]
        place += size


def _number(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise TypeError("a number stands where bytes belong")
    return value
