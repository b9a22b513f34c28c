"""Turns cut into passages of about 400 characters, and what each says about a query.

A passage is a stretch of the text itself, so whatever is shown of it is verbatim.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.derived import Derived
from iai_mcp.ports.embedder import Matrix

Span = tuple[int, int]
Tokens = Callable[[str], Sequence[str]]  # a text's words as the index spells them

SIZE = 400  # characters
_HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?\s*$")
_SENTENCE_END = re.compile(r"[.!?。！？][\"')\]]*\s")
_KEPT = 2_048  # texts whose passages stay cut and counted
_USUAL_LENGTH = 60.0  # words
_SATURATION, _LENGTH_PENALTY = 1.2, 0.75  # BM25's k1 and b
# Of a longer text only its beginning, its end and what holds a word of the query are looked at.
_LOOKED_AT_WHOLE = 30  # passages
_STEM = 4  # letters of a token that have to stand in a passage for it to be looked at

_known = Derived[tuple["Piece", ...]](_KEPT)


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage by its place in the text, with its words counted."""

    start: int
    end: int
    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn whose passages compete: its text and the vectors of its parts, in order (or of the turn)."""

    entry: int  # which result it belongs to
    text: str
    vectors: Matrix | None


@dataclass(frozen=True, slots=True)
class Valued:
    """A passage and what it is worth beside the others of one answer."""

    turn: int
    start: int
    end: int
    value: float


def spans(text: str) -> list[Span]:
    """`text` cut at line ends, long lines at the ends of sentences. A heading begins a passage."""
    cuts: list[Span] = []
    start: int | None = None
    end = 0
    for line_start, line_end in _lines(text):
        if start is None:
            start = line_start
        elif line_end - start > SIZE or (
            end - start > SIZE // 3 and _HEADING.match(text, line_start, line_end)
        ):
            cuts.append((start, end))
            start = line_start
        end = line_end
    if start is not None:
        cuts.append((start, end))
    return [span for span in (_trimmed(text, *cut) for cut in cuts) if span[0] < span[1]]


def _trimmed(text: str, start: int, end: int) -> Span:
    """Without line breaks at its beginning and blanks at its end; its indent stays."""
    piece = text[start:end]
    inside = len(piece) - len(piece.lstrip("\r\n"))
    return (start + inside, start + len(piece.rstrip())) if piece.strip() else (start, start)


def _lines(text: str) -> list[Span]:
    lines: list[Span] = []
    at = 0
    for line in text.splitlines(keepends=True):
        end = at + len(line)
        while end - at > SIZE * 3 // 2:
            stop = _cut_at(text, at, at + SIZE)
            lines.append((at, stop))
            at = stop
        lines.append((at, end))
        at = end
    return lines


def _cut_at(text: str, start: int, end: int) -> int:
    """The last sentence end in the second half of a stretch, else its last blank, else its end."""
    stops = [match.end() for match in _SENTENCE_END.finditer(text, start + SIZE // 2, end)]
    if stops:
        return stops[-1]
    blank = text.rfind(" ", start + SIZE // 2, end)
    return blank + 1 if blank > 0 else end


def pieces(text: str, tokens: Tokens, wanted: Sequence[str]) -> Sequence[Piece]:
    """The passages of `text`; of a very long one those that may hold one of the tokens `wanted`."""
    found = _known.known(text)
    if found is not None:
        return found
    cuts = spans(text)
    if len(cuts) > _LOOKED_AT_WHOLE:
        kept = _near(text, cuts, wanted)
        return tuple(_piece(text, span, tokens) for span in kept)
    made = tuple(_piece(text, span, tokens) for span in cuts)
    _known.keep(text, made)
    return made


def _near(text: str, cuts: Sequence[Span], wanted: Sequence[str]) -> list[Span]:
    stems = list(dict.fromkeys(token[:_STEM] for token in wanted if token))
    lowered = text.lower() if len(text.lower()) == len(text) else text
    last = len(cuts) - 1
    return [
        (start, end)
        for place, (start, end) in enumerate(cuts)
        if place in (0, last) or any(lowered.find(stem, start, end) >= 0 for stem in stems)
    ]


def _piece(text: str, span: Span, tokens: Tokens) -> Piece:
    counts = Counter(tokens(text[span[0] : span[1]]))
    return Piece(*span, counts, counts.total())


def valued(
    turns: Sequence[Turn],
    weights: Sequence[float],
    rarity: Sequence[Mapping[str, float]],
    embedded: Matrix | None,
    exact: Sequence[str],
    tokens: Tokens,
) -> list[Valued]:
    """All passages of these turns, best first.

    A passage is worth the largest standard score of BM25 plus cosine over the wordings, plus the weight of
    its result. One that holds an exact part of the cue comes before those that do not.
    """
    wanted = [token for known in rarity for token in known]
    places: list[tuple[int, Piece]] = []
    cosines: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
    for number, turn in enumerate(turns):
        own = pieces(turn.text, tokens, wanted)
        places += [(number, piece) for piece in own]
        cosines += [_cosine(turn, piece, embedded, len(rarity)) for piece in own]
    if not places:
        return []
    words = np.array([[_bm25(piece, known) for known in rarity] for _, piece in places])
    table = _standard(words) + _standard(np.array(cosines))
    value = table.max(axis=1) + np.array([weights[turns[number].entry] for number, _ in places])
    texts = [turns[number].text[piece.start : piece.end].lower() for number, piece in places]
    for part in exact:
        held = np.array([part.lower() in text for text in texts])
        # What many of them hold tells little about which to show.
        value += held * (_EXACT / max(1, int(held.sum())))
    order = np.argsort(-value, kind="stable").tolist()
    # Of a long turn, a passage without a word of the query that is no nearer than others says nothing of it.
    short = np.array([len(turns[number].text) <= SIZE for number, _ in places])
    about = short | (words.max(axis=1) > 0) | (table.max(axis=1) > _NEAR)
    order = [at for at in order if about[at]] or order[:1]
    return [
        Valued(places[at][0], places[at][1].start, places[at][1].end, float(value[at]))
        for at in order
    ]


_EXACT = 10.0  # more than any standard score
_NEAR = 0.5  # standard score


def _cosine(
    turn: Turn, piece: Piece, embedded: Matrix | None, wordings: int
) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """The best cosine of the vectors that lie where the passage lies; 0 where there is none."""
    if embedded is None or turn.vectors is None or not len(turn.vectors):
        return np.zeros(wordings, np.float32)
    count, size = len(turn.vectors), max(1, len(turn.text))
    first = min(count - 1, piece.start * count // size)
    last = min(count - 1, (piece.end - 1) * count // size)
    best: np.ndarray[tuple[int], np.dtype[np.float32]] = (
        turn.vectors[first : last + 1] @ embedded.T
    ).max(axis=0)
    return best


def _bm25(piece: Piece, rarity: Mapping[str, float]) -> float:
    total = sum(rarity.values()) or 1.0
    penalty = 1 - _LENGTH_PENALTY + _LENGTH_PENALTY * piece.length / _USUAL_LENGTH
    return (
        sum(
            value * count * (_SATURATION + 1) / (count + _SATURATION * penalty)
            for token, value in rarity.items()
            if (count := piece.counts.get(token, 0))
        )
        / total
    )


def _standard(
    columns: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    spread = columns.std(axis=0) + 1e-6
    scored: np.ndarray[tuple[int, int], np.dtype[np.float64]] = (
        columns - columns.mean(axis=0)
    ) / spread
    return scored
