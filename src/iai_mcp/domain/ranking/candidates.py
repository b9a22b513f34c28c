"""What is known about the memories that might answer a cue, in columns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

NONE = -1  # no such candidate


@dataclass(frozen=True, slots=True)
class Candidates:
    """One entry per memory in every column, oldest arrival first.

    Cosines are those of the cue with the turn, its best passage, the turn together with the one
    before it, and the topic of its standing wish. What was not measured is NaN.
    """

    keys: NDArray[np.int64]
    eligible: Mask  # may be an answer; the others are only neighbours of one
    words: Floats
    coverage: Floats
    session_words: Floats
    turn: Floats
    passage: Floats
    context: Floats
    topic: Floats
    exact: Floats  # share of what the cue quotes that this memory holds
    at: NDArray[np.float64]  # seconds since 1970
    length: NDArray[np.int32]
    asks: Mask
    instruction: Mask
    preference: Mask
    spoken: Mask  # by a person, not by an assistant
    time: Mask  # whether it says when
    name: Mask  # whether it names something
    change: Mask  # whether it says that something is otherwise than before
    speaker: NDArray[np.int32]
    session: NDArray[np.int32]
    project: NDArray[np.int32]
    before: Places  # where the turn before it stands in these columns, or NONE
    after: Places
    support: Floats  # how strongly use has linked it to the best others

    def __len__(self) -> int:
        return len(self.keys)


def supported(found: Candidates, gained: Mapping[int, float]) -> Candidates:
    """The candidates with what they gained from use."""
    column = np.array([gained.get(key, 0.0) for key in found.keys.tolist()], dtype=np.float32)
    return replace(found, support=column)


def at_places(column: Floats, places: Places) -> Floats:
    """The column's values at `places`; 0 where there is none."""
    return np.where(places == NONE, 0.0, column[places]).astype(np.float32, copy=False)


def beginnings(column: NDArray[np.generic]) -> Places:
    """Where each run of equals begins."""
    begins = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=begins[1:])
    return begins.nonzero()[0]


def each_once(places: Places) -> Places:
    """The places in order, each once: a sort takes a quarter of the time of `np.unique` on so few."""
    ordered = np.sort(places)
    return ordered[beginnings(ordered)]


def few_of_equal(scores: Floats, most: int) -> Mask:
    """Which of the scores, in order, to keep so that at most so many are equal.

    Copies of one text score alike, and hundreds of them would take the place of everything else.
    """
    kept: Mask = np.ones(len(scores), np.bool_)
    # One that equals the one so many places before it equals all between them: they are in order.
    np.not_equal(scores[most:], scores[:-most], out=kept[most:])
    return kept
