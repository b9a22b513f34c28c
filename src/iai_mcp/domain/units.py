"""A text cut into what can be shown of it: lines, sentences of long lines, blocks that make sense only whole.

A unit is a stretch of the text itself, so whatever is shown of units is verbatim.
"""

import re
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import NamedTuple

# A block up to here is one unit: half a trace or half a table misleads. A longer one goes line by line.
WHOLE_BLOCK = 600
_LONGEST = 360  # characters of one unit of prose
_LONG_LINE = 160  # above it a line is cut at the ends of its sentences
_LONGEST_STEP = (
    120  # of a numbered trace; longer ones are a list of statements, each of its own worth
)

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+\S|\*\*[^*\n]+\*\*:?\s*$")
_STEP = re.compile(r"\s*\d{1,3}[.)]\s")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z`*\"'(])|(?<=[。！？])")
# Nothing is said by these: rules, lone brackets, the marks around code.
_BARE = re.compile(r"(?:```\w*|~~~\w*|-{3,}|\*{3,}|[|\-: ]+|[{}()\[\];,]+|\.\.\.)\Z")


class Kind(IntEnum):
    PROSE = 0
    HEADING = 1
    CODE = 2
    TABLE = 3
    STEPS = 4


class Unit(NamedTuple):
    """A stretch of a text. `heading` is the place of the unit that stands above it, -1 for none."""

    start: int
    end: int
    kind: Kind
    heading: int = -1
    bare: bool = False


def units(text: str, start: int = 0, end: int | None = None) -> list[Unit]:
    """The units of a stretch of `text`, in order. Only blanks stand between them."""
    found: list[Unit] = []
    heading = -1
    for first, last, kind in _stretches(text, start, len(text) if end is None else end):
        if kind is Kind.HEADING:
            _alone(found)
            heading = len(found)
            found.append(Unit(first, last, kind))
        else:
            bare = _BARE.match(text, first, last) is not None
            found.append(Unit(first, last, kind, heading, bare))
    _alone(found)
    return found


def _alone(found: list[Unit]) -> None:
    """A heading below which nothing stands is what it says, and no more."""
    if found and found[-1].kind is Kind.HEADING:
        found[-1] = found[-1]._replace(kind=Kind.PROSE)


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int, Kind]]:
    lines = _lines(text, start, end)
    at = 0
    while at < len(lines):
        block, kind = _block(text, lines, at)
        if kind is Kind.PROSE:
            yield from _prose(text, *lines[at])
        elif block - at == 1 or lines[block - 1][1] - lines[at][0] <= WHOLE_BLOCK:
            yield from _cut(text, lines[at][0], lines[block - 1][1], kind)
        else:
            for line in lines[at:block]:
                yield from _cut(text, *line, kind)
        at = block


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines that say something, without the blanks around them."""
    found = []
    for line in text[start:end].splitlines(keepends=True):
        said = line.strip()
        if said:
            first = start + line.index(said)
            found.append((first, first + len(said)))
        start += len(line)
    return found


def _block(text: str, lines: list[tuple[int, int]], at: int) -> tuple[int, Kind]:
    """Where the block ends that begins with line `at`, and what it is."""
    first = text[lines[at][0]]
    if first in "`~" and _FENCE.match(text, *lines[at]):
        after = at + 1
        while after < len(lines) and not _FENCE.match(text, *lines[after]):
            after += 1
        return min(after + 1, len(lines)), Kind.CODE
    if first == "|":
        return _run(lines, at, lambda line: text[line[0]] == "|"), Kind.TABLE
    if first in "#*" and _HEADING.match(text, *lines[at]):
        return at + 1, Kind.HEADING
    if first.isdigit() and _is_step(text, lines[at]):
        after = _run(lines, at, lambda line: _is_step(text, line))
        if after - at > 1 and lines[after - 1][1] - lines[at][0] <= WHOLE_BLOCK:
            return after, Kind.STEPS
    return at + 1, Kind.PROSE


def _run(lines: list[tuple[int, int]], at: int, belongs: Callable[[tuple[int, int]], bool]) -> int:
    after = at + 1
    while after < len(lines) and belongs(lines[after]):
        after += 1
    return after


def _is_step(text: str, line: tuple[int, int]) -> bool:
    return line[1] - line[0] <= _LONGEST_STEP and _STEP.match(text, *line) is not None


def _prose(text: str, start: int, end: int) -> Iterator[tuple[int, int, Kind]]:
    if end - start > _LONG_LINE:
        for mark in _SENTENCE_END.finditer(text, start, end):
            # "1." and "-" stay with what follows.
            if mark.start() - start > 3 and mark.end() < end:
                yield from _cut(text, start, mark.start(), Kind.PROSE)
                start = mark.end()
    yield from _cut(text, start, end, Kind.PROSE)


def _cut(text: str, start: int, end: int, kind: Kind) -> Iterator[tuple[int, int, Kind]]:
    """One unit, or several where it is longer than any excerpt: a log without line ends."""
    longest = WHOLE_BLOCK if kind is not Kind.PROSE else _LONGEST
    while end - start > longest:
        blank = text.rfind(" ", start + longest // 2, start + longest)
        stop = blank if blank > 0 else start + longest
        yield start, stop, kind
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end, kind
