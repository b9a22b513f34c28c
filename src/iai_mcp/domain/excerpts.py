"""Verbatim pieces of a text that is too long to be shown whole."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring
from math import log

from iai_mcp.domain.cue_matching import CueMatcher, Occurrence
from iai_mcp.domain.derived import Derived
from iai_mcp.domain.units import Kind, Unit, units

BETWEEN = " … "
_MARK = 5  # bytes of it
_BLANKS = (
    14  # characters between neighbours that are shown as they are: a line's end and its indent
)

# A text up to here is looked at whole; of a longer one its beginning, its end, and what stands around
# the cue's words.
_LOOKED_AT_WHOLE = 12_000
_BEGINNING, _END = 1_500, 800
_BEFORE, _AFTER = 400, 600
_PLACES = 10
_TOGETHER = 80  # characters: words of the cue that stand so near tell more than each elsewhere
_SAID_EVERYWHERE = 0.01  # what a word is worth that every exchange holds: more than none
_AROUND = (
    4  # units before and after one that holds a word of the cue; what is farther is not about it
)
_KEPT = 1_024  # texts that stay cut: what answers one cue answers the next, and it is two kilobytes each
_WORD_LOOKED_FOR = 40  # characters: a stretch does not begin or end within a word that is no longer

Span = tuple[int, int]
Pieces = tuple[Sequence[Unit], Sequence[int]]  # units, and the bytes that each takes of an excerpt

_all_pieces = Derived[Pieces](_KEPT)


def excerpt(text: str, cue: CueMatcher, room: int) -> str:
    """What `text` says about the cue, or else its beginning and its end, in at most `room` bytes of JSON."""
    if len(text) <= room and json_bytes(text) <= room:
        return text
    found = cue.occurrences(text, most=_PLACES * 5)
    own, taken = pieces_near(text, found, cue)
    return quoted(text, _chosen(text, own, taken, overlaps(own, found, cue), room))


def quoted(text: str, spans: Sequence[Span]) -> str:
    """The stretches of `text`; what stood between neighbours stays, else a mark."""
    shown = [text[start:end] for start, end in spans]
    pieces = shown[:1]
    for (_, end), (start, _), said in zip(spans, spans[1:], shown[1:], strict=False):
        pieces += [text[end:start] if _beside(text, end, start) else BETWEEN, said]
    return "".join(pieces)


def json_bytes(text: str) -> int:
    """How many bytes `text` takes within JSON, without the quotes around it."""
    written = encode_basestring(text)
    return (
        len(written) if written.isascii() else len(written.encode("utf-8", "surrogatepass"))
    ) - 2


def _costs(text: str, own: Sequence[Unit]) -> list[int]:
    """The bytes that each unit takes of an excerpt, with what stands before it at most."""
    ends = [0, *(unit.end for unit in own)]
    return [
        json_bytes(text[unit.start : unit.end])
        + max(_MARK, json_bytes(text[end : unit.start]) if _beside(text, end, unit.start) else 0)
        for unit, end in zip(own, ends, strict=False)
    ]


def _beside(text: str, end: int, start: int) -> bool:
    """Whether only few blanks stand between."""
    return start - end <= _BLANKS and not text[end:start].strip()


def pieces_near(text: str, found: Sequence[Occurrence], cue: CueMatcher) -> Pieces:
    """The units of `text` where it is worth looking."""
    if len(text) <= _LOOKED_AT_WHOLE:
        return _all_pieces.of(text, _cut)
    own = _units_around(text, _most_telling(found, cue)[:_PLACES])
    return own, _costs(text, own)


def _cut(text: str) -> Pieces:
    own = units(text)
    return own, _costs(text, own)


def _most_telling(found: Sequence[Occurrence], cue: CueMatcher) -> list[Occurrence]:
    """Those beside which most of the cue's rarity stands first; what a text says all over is little of it."""
    times = Counter(one.word for one in found)
    worth = [
        one.worth * (cue.shares[one.word] + _SAID_EVERYWHERE) / times[one.word] for one in found
    ]

    def together(place: int) -> float:
        best: dict[int, float] = {}
        for at in range(place, len(found)):
            if found[at].start > found[place].end + _TOGETHER:
                break
            best[found[at].word] = max(best.get(found[at].word, 0.0), worth[at])
        return sum(best.values())

    order = sorted(range(len(found)), key=lambda place: -together(place))
    return [found[place] for place in order]


def _units_around(text: str, found: Sequence[Occurrence]) -> list[Unit]:
    """The units at the beginning, at the end, and around what was found."""
    wanted = [(0, _BEGINNING), (len(text) - _END, len(text))]
    wanted += [(one.start - _BEFORE, one.end + _AFTER) for one in found]
    merged: list[Unit] = []
    for start, end in _joined(wanted, len(text)):
        base = len(merged)
        for unit in units(text, _at_a_blank(text, start), _at_a_blank(text, end)):
            heading = unit.heading + base if unit.heading >= 0 else -1
            merged.append(Unit(unit.start, unit.end, unit.kind, heading, unit.bare))
    return merged


def overlaps(own: Sequence[Unit], found: Sequence[Occurrence], cue: CueMatcher) -> list[float]:
    """The share of the cue's rarity that each unit holds; both are in order of place."""
    shares = [0.0] * len(own)
    starts = [unit.start for unit in own] if found else []
    held: dict[int, list[Occurrence]] = {}  # most units hold none
    for one in found:
        place = bisect_right(starts, one.start) - 1
        if place >= 0 and one.start < own[place].end:
            held.setdefault(place, []).append(one)
    for place, those in held.items():
        shares[place] = cue.overlap(those)
    return shares


def _chosen(
    text: str, own: Sequence[Unit], taken: Sequence[int], overlap: Sequence[float], room: int
) -> list[Span]:
    chosen: set[int] = set()
    left = room
    for place in _in_order(own, overlap):
        unit = own[place]
        wanted = {place} | ({unit.heading} if unit.heading >= 0 else set()) - chosen
        cost = sum(taken[one] for one in wanted)
        if cost <= left:
            chosen |= wanted
            left -= cost
        if left < 2 * _MARK:
            break
    if chosen:
        return [(own[place].start, own[place].end) for place in sorted(chosen)]
    first = own[next(iter(_in_order(own, overlap)))] if own else Unit(0, len(text), Kind.PROSE)
    return [(first.start, first.start + _fitting(text[first.start : first.end], room))]


def _in_order(own: Sequence[Unit], overlap: Sequence[float]) -> Iterable[int]:
    """Those about the cue, the best first; where no word of the cue stands, from both ends inward."""
    if not any(overlap):
        half = (len(own) + 1) // 2
        ends = [
            place
            for pair in zip(range(half), range(len(own) - 1, -1, -1), strict=False)
            for place in pair
        ]
        return dict.fromkeys(ends)
    beside = [
        max(
            overlap[place - 1] if place else 0.0,
            overlap[place + 1] if place + 1 < len(own) else 0.0,
        )
        for place in range(len(own))
    ]
    worth = [
        4.5 * overlap[place] + 2.0 * beside[place] + 0.9 * (log(10 + unit.end - unit.start) - 4)
        - 6.0 * unit.bare
        for place, unit in enumerate(own)
    ]  # fmt: skip
    near = {
        place + step
        for place, share in enumerate(overlap)
        if share
        for step in range(-_AROUND, _AROUND + 1)
    }
    lines = [
        place
        for place, unit in enumerate(own)
        if unit.kind is not Kind.HEADING and (place in near or not place)
    ]
    return sorted(lines, key=lambda place: -worth[place])


def _fitting(text: str, room: int) -> int:
    """How many characters of `text` fit; at least one."""
    size = min(len(text), max(1, room))
    while size > 1 and json_bytes(text[:size]) > room:
        size = size * 2 // 3
    return size


def _joined(wanted: Iterable[Span], length: int) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in wanted):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _at_a_blank(text: str, place: int) -> int:
    """The next blank from there, so that no word is cut."""
    if not 0 < place < len(text):
        return place
    for at in range(place, min(place + _WORD_LOOKED_FOR, len(text))):
        if text[at].isspace():
            return at
    return place
