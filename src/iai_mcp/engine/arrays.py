"""Small numpy helpers of the engine."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]


def beginnings(column: NDArray[np.generic]) -> NDArray[np.int64]:
    """Where each run of equals begins."""
    begins = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=begins[1:])
    return begins.nonzero()[0]


def few_of_equal(scores: Floats, most: int) -> Mask:
    """Which of the scores, in order, to keep so that at most so many are equal.

    Copies of one text score alike, and hundreds of them would take the place of everything else.
    """
    kept: Mask = np.ones(len(scores), np.bool_)
    # A score that equals the one so many places before it equals all between them: they are in order.
    np.not_equal(scores[most:], scores[:-most], out=kept[most:])
    return kept
