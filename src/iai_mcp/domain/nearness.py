"""Which memories of a window belong together: by meaning first, by time and session second."""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from iai_mcp.domain.cue.stop_words import stop_words
from iai_mcp.domain.words import index_terms, words

Matrix = NDArray[np.float32]
Edge = tuple[int, int, float]

# Cosines of a sentence model between turns of one project: small talk about the same code lies
# around .25, the same matter above .4. Without a model, shared rare words: unrelated turns share
# next to none.
MEANING_FLOOR = 0.35
WORDS_FLOOR = 0.12
_NEIGHBOURS = 6
# Two turns of one day count in full, two that are months apart half.
_DAYS = 14.0
_MICROS_PER_DAY = 86_400_000_000
# A question and its answer share few words; that they stood side by side counts a little.
_SIDE_BY_SIDE = 0.08
_DIMENSIONS = 256


def edges(vectors: Matrix, at: Sequence[int], sessions: Sequence[str], floor: float) -> list[Edge]:
    """Each memory tied to its nearest few, weighted by meaning and time. Row `i` is memory `i`."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    days = np.asarray(at, dtype=np.float64) / _MICROS_PER_DAY
    weights = (cosines - floor) * (0.5 + 0.5 * np.exp(-np.abs(days[:, None] - days) / _DAYS))
    found: dict[tuple[int, int], float] = {}
    few = min(_NEIGHBOURS, len(at) - 1)
    if few > 0:
        nearest = np.argpartition(-weights, few - 1, axis=1)[:, :few]
        for row, column in zip(
            *np.nonzero(np.take_along_axis(weights, nearest, 1) > 0), strict=True
        ):
            one, other = int(row), int(nearest[row, column])
            found[min(one, other), max(one, other)] = float(weights[one, other])
    for one, (session, following) in enumerate(pairwise(sessions)):
        if session and session == following:
            found[one, one + 1] = found.get((one, one + 1), 0.0) + _SIDE_BY_SIDE
    return [(one, other, weight) for (one, other), weight in found.items()]


def word_vectors(texts: Sequence[str]) -> Matrix:
    """Unit vectors of the texts' telling words, for when there is no model. Blank texts are zero."""
    counted = [Counter(terms(text)) for text in texts]
    spread = Counter(term for one in counted for term in one)
    vectors = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
    for row, one in zip(vectors, counted, strict=True):
        for term, times in one.items():
            place = zlib.crc32(term.encode("utf-8", "surrogatepass"))
            rarity = log(1 + len(texts) / spread[term])
            row[place % _DIMENSIONS] += (1 if place & 0x10000 else -1) * rarity * (1 + log(times))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Matrix = vectors / np.maximum(lengths, 1e-6)
    return unit


def terms(text: str) -> list[str]:
    """The telling words of a text, as the index knows them."""
    said = words(text)
    silent = stop_words(said)
    return [term for word in said if word not in silent for term in index_terms(word)]


def without_splinters(
    community: Mapping[int, int], ties: Sequence[Edge], fewest: int
) -> dict[int, int]:
    """The communities, those of fewer than `fewest` joined with the one they are tied to most.

    In a small graph modularity prefers many small parts; two turns alone make no topic.
    """
    joined = dict(community)
    while True:
        sizes = Counter(joined.values())
        pull: dict[tuple[int, int], float] = {}
        for one, other, weight in ties:
            a, b = sorted((joined[one], joined[other]))
            if a != b and min(sizes[a], sizes[b]) < fewest:
                pull[a, b] = pull.get((a, b), 0.0) + weight
        if not pull:
            return joined
        # Each part joins at most one other per round, the strongest pull first.
        becomes: dict[int, int] = {}
        for (a, b), _ in sorted(pull.items(), key=lambda item: (-item[1], item[0])):
            if a not in becomes and b not in becomes:
                becomes |= {a: a, b: a}
        joined = {node: becomes.get(part, part) for node, part in joined.items()}
