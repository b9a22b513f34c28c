"""Verbatim pieces of a text that is too long to be shown whole."""

import re

BETWEEN = " … "
_PLACES = 4  # at most so many pieces from where the wanted words stand
_WORD = re.compile(r"\w{3,}")
_WORDS_LOOKED_FOR = 12


def excerpt(text: str, about: str, length: int) -> str:
    """The beginning of `text`, then where words of `about` stand, or else its end: as it was said.

    It has about `length` characters, and not more but for what stands between the pieces.
    """
    if len(text) <= length:
        return text
    half = length // 2
    spans = [(0, half)]
    each = (length - half) // _PLACES
    for place in _places(text, about, half):
        if len(spans) <= _PLACES and place >= spans[-1][1]:
            start = max(spans[-1][1], place - each // 4)
            spans.append((start, min(len(text), start + each)))
    if len(spans) == 1:
        spans.append((len(text) - (length - half), len(text)))
    return BETWEEN.join(text[start:end] for start, end in spans)


def _places(text: str, about: str, start: int) -> list[int]:
    """Where words of `about` stand behind `start`, those of its rarest word first."""
    words = list(dict.fromkeys(_WORD.findall(about)))[:_WORDS_LOOKED_FOR]
    found = [_occurrences(text, word, start) for word in words]
    best = min((places for places in found if places), key=len, default=[])
    return sorted(best)


def _occurrences(text: str, word: str, start: int) -> list[int]:
    wanted = re.compile(re.escape(word), re.IGNORECASE)
    places: list[int] = []
    for match in wanted.finditer(text, start):
        places.append(match.start())
        if len(places) > 1000:  # so common that it tells nothing
            break
    return places
