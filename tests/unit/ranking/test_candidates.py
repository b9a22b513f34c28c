"""Small columns: runs of equals, and each value once."""

import numpy as np
import pytest

from iai_mcp.domain.ranking.candidates import beginnings, each_once, few_of_equal


@pytest.mark.parametrize(
    ("column", "begin"), [([], []), ([4], [0]), ([4, 4, 4], [0]), ([1, 1, 2, 3, 3], [0, 2, 3])]
)
def test_each_run_of_equals_begins_somewhere(column: list[int], begin: list[int]) -> None:
    assert beginnings(np.array(column, np.int64)).tolist() == begin


@pytest.mark.parametrize(
    ("places", "once"), [([], []), ([7], [7]), ([5, 2, 5, 2, 9], [2, 5, 9]), ([3, 3], [3])]
)
def test_each_place_comes_once_and_in_order(places: list[int], once: list[int]) -> None:
    assert each_once(np.array(places, np.int64)).tolist() == once


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ([], []),
        ([9], [9]),
        ([9, 9], [9, 9]),
        ([9, 9, 9, 9, 5, 5, 5, 1], [9, 9, 5, 5, 1]),
    ],
)
def test_of_equal_scores_only_so_many_are_kept(scores: list[float], kept: list[float]) -> None:
    column = np.array(scores, np.float32)
    assert column[few_of_equal(column, 2)].tolist() == kept
