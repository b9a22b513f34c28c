"""What speaks for an exchange: its words, those that stand in for them, its nearest passage, its session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.cue.analysis import CueReading
from iai_mcp.domain.cue.windows import closeness
from iai_mcp.domain.exchanges import (
    TALK,
    CueWord,
    CueWords,
    ExchangeTurns,
    RankedExchange,
    StandIn,
)
from iai_mcp.domain.ranking.candidates import beginnings
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.lexical import Floats, Mask, Postings, Rows, idf
from iai_mcp.domain.ranking.scoring import BOOST, EXACT, SUPPORT, Boosts
from iai_mcp.domain.ranking.weights import Ranker, as_usual

Numbers = NDArray[np.int32]

NONE = -1  # a row that belongs to no worked session
_READ_OF_A_TURN = 4_000  # words: a pasted log is not the longer an exchange for it
_SATURATION, _LENGTH_PENALTY = 1.2, 0.6  # exchanges differ in length for good reasons
# A word of the store stands in for one of the cue from this cosine on, for so much of it; and so many.
STAND_IN_FROM, STAND_IN_WORTH, STAND_INS = 0.6, 0.6, 3
_WORDS, _MEANING, _SESSION = 8.0, 10.0, 0.15
_UNREAD = 0.4  # of the meaning, where the model does not know the script of the cue
# What is said later in a session corrects what was said before, in points between the first and the last
# of those that might answer.
_LATER, _COMPARED = 0.3, 10
# Words and meaning of the session's other exchanges: any fair pair of weights does.
_OTHER_WORDS, _OTHER_MEANING = 7.5, 11.0

# So much of an exchange's score is worth one point of a turn's, so that both can be in one answer.
# Fitted on talk and work in one store: docs/retrieval.md.
_POINT = 2.0


@dataclass(frozen=True, slots=True)
class Work:
    """The exchanges of a scope's worked sessions, numbered from 0."""

    number: Numbers  # per row: its exchange, or NONE
    said: Numbers  # per row: its words
    heads: Rows  # per exchange: the row of its first turn
    length: Floats  # in words
    session: Numbers
    mean_length: float

    def __len__(self) -> int:
        return len(self.heads)


def work(within: Mask, alive: Mask, head: Numbers, session: Numbers, length: Numbers) -> Work:
    """Worked is a session with an exchange of more turns than a question and its answer.

    Whether it is does not depend on the scope.
    """
    sizes = np.bincount(head[alive], minlength=len(head))
    long = np.flatnonzero(sizes > TALK)
    if not long.size:
        return _no_work(length)
    worked = np.zeros(int(session.max(initial=NONE)) + 1, np.bool_)
    worked[session[long]] = True  # a head is of the session that it is said in
    inside = within & worked[session]
    opened = np.zeros(len(head), np.bool_)
    opened[head[inside]] = True
    numbers = np.cumsum(opened, dtype=np.int32) - np.int32(1)
    heads = np.flatnonzero(opened)
    number = np.where(inside, numbers[head], NONE).astype(np.int32)
    counted = np.minimum(length[inside], _READ_OF_A_TURN)
    lengths = np.bincount(number[inside], weights=counted, minlength=len(heads))
    return Work(
        number=number,
        said=length,
        heads=heads,
        length=lengths.astype(np.float32),
        session=session[heads],
        mean_length=float(lengths.mean()) if len(lengths) else 1.0,
    )


def _no_work(length: Numbers) -> Work:
    nothing = np.zeros(0, np.int32)
    number = np.full(len(length), NONE, np.int32)
    return Work(number, length, nothing.astype(np.int64), nothing.astype(np.float32), nothing, 1.0)


@dataclass(frozen=True, slots=True)
class SoughtWord:
    """A word of the cue: where it occurs, and where those occur that stand in for it."""

    own: Postings
    stand_ins: Sequence[tuple[Postings, float]] = ()


@dataclass(frozen=True, slots=True)
class ExchangeWords:
    """Per exchange: the share of BM25 that the cue's words reach, with and without stand-ins."""

    soft: Floats
    plain: Floats
    known: CueWords


def exchange_words(sought: Sequence[SoughtWord], among: Work) -> ExchangeWords:
    soft, plain = np.zeros((2, len(among)), np.float32)
    total = 0.0
    known: list[CueWord] = []
    for word in sought:
        own, rarity, held = _reached(word.own, among)
        most = (_SATURATION + 1.0) * rarity
        best = own
        for other, worth in word.stand_ins:
            # It never adds to the word itself, nor is worth more than it.
            best = np.maximum(best, worth * np.minimum(_reached(other, among)[0], most))
        soft, plain, total = soft + best, plain + own, total + rarity
        stand_ins = tuple(StandIn(other.token, worth) for other, worth in word.stand_ins)
        known.append(CueWord(word.own.token, rarity, held, stand_ins))
    total = total or 1.0
    return ExchangeWords(soft / total, plain / total, CueWords(tuple(known)))


def _reached(postings: Postings, among: Work) -> tuple[Floats, float, int]:
    """The BM25 of one word per exchange, its idf, and how many hold it."""
    rows = postings.rows
    inside = among.number[rows] != NONE
    rows, counts = rows[inside], postings.counts[inside]
    # Of a pasted log as much is counted as is read of it.
    counts = counts * np.minimum(1.0, _READ_OF_A_TURN / np.maximum(among.said[rows], 1))
    numbers = among.number[rows]
    found = np.bincount(numbers, weights=counts, minlength=len(among)).astype(np.float32)
    held = int(np.count_nonzero(found))
    rarity = idf(len(among), held)
    penalty = 1.0 - _LENGTH_PENALTY + _LENGTH_PENALTY * among.length / max(among.mean_length, 1e-9)
    reached = rarity * found * (_SATURATION + 1.0) / (found + _SATURATION * penalty)
    return reached.astype(np.float32), rarity, held


@dataclass(frozen=True, slots=True)
class ExchangeCandidates:
    """One entry per exchange that might answer."""

    heads: NDArray[np.int64]  # the key of its first turn
    keys: NDArray[np.int64]  # of the turn that speaks best for it
    soft: Floats
    plain: Floats
    cosine: Floats  # NaN while none of its turns has a vector
    exact: Floats
    at: NDArray[np.float64]  # seconds since 1970
    session: Numbers
    project: Numbers

    def __len__(self) -> int:
        return len(self.keys)


def nearest(found: ExchangeCandidates, ranker: Ranker) -> Floats:
    """The cosine of each as the default model would have it; what has no vector yet is as near as the
    nearest, as far as it holds the cue's words: what was said a moment ago must be found by them."""
    known = ~np.isnan(found.cosine)
    cosine = as_usual(ranker, found.cosine)
    best = max(0.0, float(cosine[known].max())) if known.any() else 0.0
    return np.where(known, cosine, best * np.minimum(found.plain, 1.0)).astype(np.float32)


def unread(cue: CueReading, ranker: Ranker) -> bool:
    """Whether the model can not read the cue: its cosines with texts of that script are all alike."""
    return ranker.english and cue.other_script


def _beside(found: ExchangeCandidates, cosine: Floats) -> Floats:
    """What speaks for the best other exchange of the same session."""
    return _best_other(_OTHER_WORDS * found.plain + _OTHER_MEANING * cosine, found.session)


def _best_other(own: Floats, session: Numbers) -> Floats:
    """The best of the same session's others; 0 for one that is alone."""
    order = np.lexsort((-own, session))
    firsts = beginnings(session[order])
    sizes = np.append(firsts[1:], len(order)) - firsts
    second = order[np.minimum(firsts + 1, len(order) - 1)]
    others = np.repeat(np.where(sizes > 1, own[order[firsts]], 0.0), sizes)
    others[firsts] = np.where(sizes > 1, own[second], 0.0)
    best = np.empty(len(own), np.float32)
    best[order] = others
    return best


def _later(at: NDArray[np.float64], session: Numbers) -> Floats:
    """Between -.5 for the first of its session and .5 for the last; 0 for one that is alone."""
    beside = session[:, None] == session
    ahead = np.sign(at[:, None] - at) * beside
    share = ahead.sum(axis=1) / (2.0 * np.maximum(beside.sum(axis=1) - 1, 1))
    return np.asarray(share, np.float32)


@dataclass(frozen=True, slots=True)
class ScoredExchange:
    """An exchange's place among the others. `parts` sum up to `shown`."""

    head: int  # the key of its first turn
    best: int  # the key of the turn that speaks best for it
    shown: float
    cosine: float
    words: float
    parts: Mapping[str, float]


def ranked_exchanges(
    found: ExchangeCandidates, asked: Asked, ranker: Ranker, boosts: Boosts, limit: int
) -> list[ScoredExchange]:
    """The best `limit` of them; equal scores in order of arrival, newest first."""
    if not len(found):
        return []
    cosine = nearest(found, ranker)
    meaning = _MEANING * (_UNREAD if unread(asked.reading, ranker) else 1.0)
    parts = {
        "words": _WORDS / _POINT * found.soft,
        "meaning": meaning / _POINT * cosine,
        "session": _SESSION / _POINT * _beside(found, cosine),
        "exact": EXACT * found.exact,
        "project": BOOST * boosts.project,
        "recency": BOOST * boosts.recency,
        "time": ranker.weights.get("date", 0.0) * closeness(asked.reading.windows, found.at),
    }
    table = np.array([*parts.values()], np.float32)
    first = _in_order(np.arange(len(found)), table.sum(axis=0), found)[: 2 * limit]
    best = first[:_COMPARED]
    table[list(parts).index("session"), best] += _LATER * _later(
        found.at[best], found.session[best]
    )
    total = table.sum(axis=0)
    return [
        ScoredExchange(
            head=int(found.heads[place]),
            best=int(found.keys[place]),
            shown=float(total[place]),
            cosine=float(cosine[place]),
            words=float(found.soft[place]),
            parts=dict(zip(parts, table[:, place].tolist(), strict=True)),
        )
        for place in _in_order(first, total, found)[:limit].tolist()
    ]


def whole_exchanges(
    scored: Sequence[ScoredExchange],
    turns: Sequence[ExchangeTurns],
    gained: Mapping[int, float] | None = None,
) -> list[RankedExchange]:
    """The exchanges with their turns and with what these gained from use, best first.

    One that was forgotten meanwhile is left out.
    """
    whole: list[RankedExchange] = []
    for one, own in zip(scored, turns, strict=True):
        if not own.keys:
            continue
        use = _support(own.keys, gained) if gained else 0.0
        whole.append(
            RankedExchange(
                keys=own.keys,
                kinds=own.kinds,
                score=(one.shown + use) * _POINT,
                cosine=one.cosine,
                words=one.words,
                best=one.best,
                shown=one.shown + use,
                parts={**one.parts, "use": use},
            )
        )
    return sorted(whole, key=lambda one: -one.shown)


def _support(keys: Sequence[int], gained: Mapping[int, float]) -> float:
    return SUPPORT * min(1.0, max(gained.get(key, 0.0) for key in keys))


def _in_order(places: Rows, total: Floats, found: ExchangeCandidates) -> Rows:
    return places[np.lexsort((-found.keys[places], -total[places]))]
