"""What shared words are worth: BM25 divided by the most a cue could score, per turn and session.

Divided so, the figure means the same for a short cue and a long one, in a small store and a
large one, and can be added to a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SATURATION = 1.2  # k1: how soon more of the same word stops counting
_LENGTH_PENALTY = 0.75  # b


@dataclass(frozen=True, slots=True)
class Postings:
    """Where one word of the cue occurs: rows, each once, and how often in each."""

    rows: Rows
    counts: Floats


@dataclass(frozen=True, slots=True)
class Population:
    """All rows that the cue is asked of: `within` says which count, `length` in words."""

    within: Mask
    length: NDArray[np.int32]
    session: NDArray[np.int32]
    spoken: Mask  # by a person; sessions are known by what people said in them


@dataclass(frozen=True, slots=True)
class WordScores:
    """Per row: `words` is the share of BM25 reached, `coverage` the share of the cue's rarity
    found, `session` the share that the row's whole session reaches."""

    words: Floats
    coverage: Floats
    session: Floats


def word_scores(terms: Sequence[Postings], among: Population) -> WordScores:
    size = len(among.within)
    words, coverage = np.zeros(size, np.float32), np.zeros(size, np.float32)
    kept = [_within(term, among.within) for term in terms]
    total = int(among.within.sum())
    rarity = np.array([_rarity(total, len(term.rows)) for term in kept], dtype=np.float32)
    most = float(rarity.sum()) or 1.0
    mean = float(among.length[among.within].mean()) if total else 1.0
    for term, weight in zip(kept, rarity / most, strict=True):
        lengths = among.length[term.rows].astype(np.float32)
        words[term.rows] += weight * _saturated(term.counts, lengths, mean)
        coverage[term.rows] += weight
    return WordScores(words, coverage, _session_scores(kept, among))


def _session_scores(terms: Sequence[Postings], among: Population) -> Floats:
    size = len(among.within)
    counted = among.within & among.spoken
    if not terms or not counted.any():
        return np.zeros(size, np.float32)
    sessions = int(among.session.max()) + 1
    lengths = np.bincount(
        among.session[counted], weights=among.length[counted], minlength=sessions
    ).astype(np.float32)
    present = lengths > 0
    mean, total = float(lengths[present].mean()), int(present.sum())
    found = np.zeros((len(terms), sessions), np.float32)
    for index, term in enumerate(terms):
        spoken = term.rows[among.spoken[term.rows]]
        counts = term.counts[among.spoken[term.rows]]
        found[index] = np.bincount(among.session[spoken], weights=counts, minlength=sessions)
    rarity = np.array([_rarity(total, int((row > 0).sum())) for row in found], dtype=np.float32)
    shares = rarity / (float(rarity.sum()) or 1.0)
    reached = (shares[:, None] * _saturated(found, lengths[None, :], mean)).sum(axis=0)
    scores: Floats = reached.astype(np.float32)[among.session]
    return scores


def _within(term: Postings, mask: Mask) -> Postings:
    inside = mask[term.rows]
    return Postings(term.rows[inside], term.counts[inside])


def _rarity(total: int, holding: int) -> float:
    return max(1e-6, float(np.log((total - holding + 0.5) / (holding + 0.5))))


def _saturated(counts: Floats, lengths: Floats, mean: float) -> Floats:
    penalty = 1.0 - _LENGTH_PENALTY + _LENGTH_PENALTY * lengths / max(mean, 1e-9)
    grown = counts * (_SATURATION + 1.0) / (counts + _SATURATION * penalty)
    return np.where(counts > 0, grown, 0.0).astype(np.float32)
