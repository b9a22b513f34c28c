"""A turn cut into passages, so that one telling sentence of a long turn can be found."""

import re
from collections.abc import Iterator

from iai_mcp.domain.pieces import bounds

# Closing quotes stay with their sentence; Chinese and Japanese need no space after a full stop.
_BOUNDARY = re.compile(r"(?<=[.!?])([\"')\]]*)\s+|(?<=[。！？])|\n+")
# Before what can not be part of a boundary: a search that ends in the middle of one would miss it.
_OUTSIDE = re.compile(r"(?=[^\"')\]\s])")
_FEW_WORDS = 4
# A piece this long stands alone, whatever its count of spaces (Chinese has none).
_FEW_LETTERS = 24
_LONG = 400


def passages(text: str, limit: int = 12) -> list[str]:
    """At most `limit` passages that together hold all of `text`, in order; sentences if few.

    Pieces of fewer than four words join a neighbour. Where there are more sentences than
    `limit`, neighbours are joined into passages of about equal length.
    """
    sentences = _sentences(text)
    if len(sentences) <= limit:
        return sentences
    goal = sum(map(len, sentences)) / limit
    joined: list[str] = []
    current: list[str] = []
    length = 0
    for sentence in sentences:
        current.append(sentence)
        length += len(sentence) + 1
        if length > goal and len(joined) < limit - 1:
            joined.append(" ".join(current))
            current, length = [], 0
    return [*joined, " ".join(current)] if current else joined


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for piece in _between_boundaries(text):
        sentence = piece.strip()
        if not sentence:
            continue
        if found and len(found[-1]) < _LONG and (_short(sentence) or _short(found[-1])):
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found.append(sentence)
    return found


def _between_boundaries(text: str) -> Iterator[str]:
    """`text` split at each boundary; blank ones may come in between."""
    at = 0
    for start, end in bounds(text, _OUTSIDE):
        for boundary in _BOUNDARY.finditer(text, start, end):
            yield text[at : max(boundary.start(), boundary.end(1))]
            at = boundary.end()
    yield text[at:]


def _short(sentence: str) -> bool:
    return len(sentence) < _FEW_LETTERS and len(sentence.split()) < _FEW_WORDS
