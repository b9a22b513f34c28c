"""Which memories belong together."""

import numpy as np

from iai_mcp.domain.nearness import WORDS_FLOOR, edges, without_splinters, word_vectors

DAY = 86_400_000_000


def weight(found: list[tuple[int, int, float]], one: int, other: int) -> float:
    return {(a, b): w for a, b, w in found}.get((one, other), 0.0)


def test_shared_words_tie_and_nothing_shared_does_not() -> None:
    vectors = word_vectors(["heron ponds", "the heron and its ponds", "invoice tax rates"])
    found = edges(vectors, [0, 0, 0], ["a", "b", "c"], WORDS_FLOOR)
    assert weight(found, 0, 1) > 0
    assert weight(found, 0, 2) == weight(found, 1, 2) == 0


def test_the_same_nearness_counts_more_on_one_day_than_months_apart() -> None:
    vectors = np.array([[1, 0], [1, 0], [1, 0]], dtype=np.float32)
    found = edges(vectors, [0, 1, 200 * DAY], ["a", "b", "c"], 0.3)
    assert weight(found, 0, 1) > weight(found, 0, 2) > 0


def test_neighbours_in_a_session_are_tied_a_little() -> None:
    vectors = np.eye(3, dtype=np.float32)
    found = edges(vectors, [0, 1, 2], ["s", "s", "t"], 0.3)
    assert [(a, b) for a, b, _ in found] == [(0, 1)]


def test_a_memory_alone_and_a_blank_one_have_no_ties() -> None:
    assert edges(word_vectors(["alone"]), [0], ["s"], WORDS_FLOOR) == []
    assert edges(word_vectors(["", "?!"]), [0, 0], ["a", "b"], WORDS_FLOOR) == []


def test_splinters_join_what_they_are_tied_to_most() -> None:
    ties = [(0, 1, 1.0), (2, 3, 1.0), (1, 2, 0.4), (4, 5, 1.0), (5, 6, 1.0), (3, 4, 0.1)]
    joined = without_splinters({0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2}, ties, 3)
    assert joined[0] == joined[1] == joined[2] == joined[3]
    assert joined[4] == joined[5] == joined[6] != joined[0]
    assert without_splinters({0: 0, 1: 0}, [(0, 1, 1.0)], 3) == {0: 0, 1: 0}
