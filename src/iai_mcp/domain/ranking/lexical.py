"""What shared words are worth: BM25 divided by the most a cue could score, per turn and session.

Divided so, the figure means the same for a short cue and a long one, in a small store and a
large one, and can be added to a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.ranking.candidates import each_once

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SATURATION = 1.2  # k1: how soon more of the same word stops counting
_LENGTH_PENALTY = 0.75  # b
_NOWHERE: Rows = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one word of the cue occurs: rows, each once, and how often in each."""

    rows: Rows
    counts: Floats
    token: str = ""  # as the index spells it
    holding: int = 0  # memories that hold it, be they among the rows or not
    places: int = 0  # in all of those


@dataclass(frozen=True, slots=True)
class Population:
    """All rows that a cue is asked of, and what no cue changes about them: see `population`."""

    within: Mask  # which rows count
    length: NDArray[np.int32]  # in words
    session: NDArray[np.int32]
    spoken: Mask  # by a person in a session: sessions are known by what people said in them
    total: int
    mean_length: float
    session_lengths: Floats  # words that people said in each
    mean_session: float
    sessions: int  # in which people said anything


def population(
    within: Mask, length: NDArray[np.int32], session: NDArray[np.int32], spoken: Mask
) -> Population:
    total = int(within.sum())
    counted = within & spoken
    known = int(session.max(initial=-1)) + 1
    lengths = np.bincount(session[counted], weights=length[counted], minlength=known)
    present = lengths > 0
    return Population(
        within=within,
        length=length,
        session=session,
        spoken=spoken,
        total=total,
        mean_length=float(length[within].mean()) if total else 1.0,
        session_lengths=lengths.astype(np.float32),
        mean_session=float(lengths[present].mean()) if present.any() else 1.0,
        sessions=int(present.sum()),
    )


@dataclass(frozen=True, slots=True)
class WordScores:
    """Per row: `words` is the share of BM25 reached, `coverage` the share of the cue's rarity
    found. Per session: the share that all of it together reaches."""

    words: Floats
    coverage: Floats
    session: Floats
    rows: Rows  # that hold any of the words, ascending: few of very many


def word_scores(terms: Sequence[Postings], among: Population) -> WordScores:
    size = len(among.within)
    words, coverage = np.zeros(size, np.float32), np.zeros(size, np.float32)
    kept = [_within(term, among.within) for term in terms]
    rarity = np.array([idf(among.total, len(term.rows)) for term in kept], dtype=np.float32)
    most = float(rarity.sum()) or 1.0
    for term, weight in zip(kept, rarity / most, strict=True):
        lengths = among.length[term.rows].astype(np.float32)
        words[term.rows] += weight * _saturated(term.counts, lengths, among.mean_length)
        coverage[term.rows] += weight
    rows = each_once(np.concatenate([term.rows for term in kept])) if kept else _NOWHERE
    return WordScores(words, coverage, _session_scores(kept, among), rows)


def _session_scores(terms: Sequence[Postings], among: Population) -> Floats:
    """Per session, not per row: most sessions hold none of the words."""
    size = len(among.session_lengths)
    if not terms or not among.sessions:
        return np.zeros(size, np.float32)
    found = np.zeros((len(terms), size), np.float32)
    for index, term in enumerate(terms):
        by_person = among.spoken[term.rows]
        sessions = among.session[term.rows[by_person]]
        found[index] = np.bincount(sessions, weights=term.counts[by_person], minlength=size)
    holding = (found > 0).sum(axis=1)
    rarity = np.array([idf(among.sessions, int(n)) for n in holding], dtype=np.float32)
    shares = rarity / (float(rarity.sum()) or 1.0)
    reached = shares @ _saturated(found, among.session_lengths[None, :], among.mean_session)
    return reached.astype(np.float32)


def _within(term: Postings, mask: Mask) -> Postings:
    inside = mask[term.rows]
    return term if inside.all() else Postings(term.rows[inside], term.counts[inside])


def idf(total: int, holding: int) -> float:
    return max(1e-6, float(np.log((total - holding + 0.5) / (holding + 0.5))))


def _saturated(counts: Floats, lengths: Floats, mean: float) -> Floats:
    penalty = 1.0 - _LENGTH_PENALTY + _LENGTH_PENALTY * lengths / max(mean, 1e-9)
    grown = counts * (_SATURATION + 1.0) / (counts + _SATURATION * penalty)
    return grown.astype(np.float32, copy=False)
