"""Nearest vectors: exact where it says so, close to exact above that, never a dropped one."""

import tracemalloc

import numpy as np
import pytest

from iai_mcp.engine import vector_index
from iai_mcp.engine.vector_index import VectorIndex, quantise


def random_vectors(count: int, seed: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, 64)).astype(np.float32)
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def filled(vectors: np.ndarray) -> VectorIndex:
    index = VectorIndex(vectors.shape[1])
    for start in range(0, len(vectors), 700):
        part = vectors[start : start + 700]
        index.add(range(start + 1, start + 1 + len(part)), *quantise(part))
    return index


def exact(vectors: np.ndarray, cue: np.ndarray, limit: int) -> list[int]:
    return [int(row) + 1 for row in np.argsort(-(vectors @ cue))[:limit]]


def test_the_nearest_come_first_with_their_cosines() -> None:
    vectors = random_vectors(3000)
    cue = vectors[17]
    found = filled(vectors).nearest(cue, 10)
    assert found[0][0] == 18
    assert found[0][1] == pytest.approx(1.0, abs=0.01)
    assert [key for key, _ in found][:5] == exact(vectors, cue, 5)


def test_above_the_bound_binary_codes_find_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UP_TO", 1000)
    monkeypatch.setattr(vector_index, "_RESCORED", 1500)
    vectors = random_vectors(20_000)
    index = filled(vectors)
    shared = 0
    for row in range(0, 1000, 50):
        cue = vectors[row] + 0.3 * random_vectors(1, seed=row)[0]
        found = {key for key, _ in index.nearest(cue, 10)}
        shared += len(found & set(exact(vectors, cue, 10)))
    assert shared / 200 > 0.9


def test_replacing_vectors_takes_no_more_room_and_leaves_them_where_they_were() -> None:
    vectors = random_vectors(3000)
    index = filled(vectors)
    room = len(index._snapshot().keys)
    for start in range(0, 3000, 100):
        index.add(range(start + 1, start + 101), *quantise(-vectors[start : start + 100]))
    assert len(index._snapshot().keys) == room
    assert len(index) == 3000
    assert index.nearest(-vectors[17], 1)[0][0] == 18
    assert index.of([18, 4000])[0] == pytest.approx(-vectors[17], abs=0.01)
    assert not index.of([18, 4000])[1].any()


def test_what_is_added_out_of_order_is_found_and_dropped_like_the_rest() -> None:
    vectors = random_vectors(40)
    index = VectorIndex(64)
    for keys in ([10, 20, 30], [25], [20, 5], [40]):
        index.add(keys, *quantise(vectors[keys]) if max(keys) < 40 else quantise(vectors[:1]))
        assert all(key in index for key in keys)
    index.drop([25, 10])
    index.add([10], *quantise(vectors[11:12]))
    assert [key for key in range(50) if key in index] == [5, 10, 20, 30, 40]
    assert len(index) == 5
    assert index.nearest(vectors[20], 1)[0][0] == 20
    assert index.nearest(vectors[11], 1)[0][0] == 10
    assert index.like(20, 5) and 25 not in {key for key, _ in index.like(20, 5)}
    cosines = index.cosines(vectors[30], np.array([5, 25, 30]))
    assert cosines[2] > 0.99
    assert np.isnan(cosines[1])


def test_a_dropped_or_replaced_key_is_not_found_by_its_old_vector() -> None:
    vectors = random_vectors(100)
    index = filled(vectors)
    index.drop([5])
    assert 5 not in {key for key, _ in index.nearest(vectors[4], 100)}
    index.add([7], *quantise(vectors[50:51]))
    assert len(index) == 99
    scores = dict(index.nearest(vectors[6], 100))
    assert scores[7] < 0.9


def test_a_search_within_some_keys_finds_only_those() -> None:
    vectors = random_vectors(500)
    found = filled(vectors).nearest(vectors[0], 10, within=[3, 400, 9999])
    assert {key for key, _ in found} == {3, 400}


def test_equal_scores_come_in_the_order_of_arrival() -> None:
    vectors = np.repeat(random_vectors(1), 50, axis=0)
    assert [key for key, _ in filled(vectors).nearest(vectors[0], 10)] == list(range(1, 11))


def test_an_empty_index_finds_nothing() -> None:
    assert VectorIndex(64).nearest(np.ones(64, dtype=np.float32), 5) == []


def test_what_is_like_a_vector_of_the_index_does_not_include_itself() -> None:
    index = VectorIndex(4)
    codes, scales = quantise(np.array([[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0, 0, 1, 0]], np.float32))
    index.add([10, 20, 30], codes, scales)
    assert [key for key, _ in index.like(10, 1)] == [20]
    assert index.like(99, 3) == []
    index.drop([20])
    assert [key for key, _ in index.like(10, 2)] == [30]


def test_cosines_of_all_belong_to_their_keys_in_whatever_order_they_came() -> None:
    # So it is when one changes the model and back: the oldest get their vectors last.
    vectors = random_vectors(10)
    index = VectorIndex(64)
    index.add(range(6, 11), *quantise(vectors[5:]))
    index.add(range(1, 6), *quantise(vectors[:5]))

    found = index.cosines(vectors[2], np.arange(1, 11))

    assert found == pytest.approx(vectors @ vectors[2], abs=0.02)


def test_nothing_of_a_dropped_vector_stays_in_memory() -> None:
    vectors = random_vectors(3)
    index = filled(vectors)
    code = quantise(vectors[1:2])[0].tobytes()

    def kept() -> bool:
        columns = [each for each in vars(index).values() if isinstance(each, np.ndarray)]
        return any(code in column.tobytes() for column in columns)

    assert kept()
    index.drop([2])
    assert not kept()


def test_of_vectors_that_are_all_the_same_no_more_are_compared_than_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UP_TO", 10)
    monkeypatch.setattr(vector_index, "_RESCORED", 20)
    one = random_vectors(1)
    index = filled(np.repeat(one, 3000, axis=0))
    assert [key for key, _ in index.nearest(one[0], 10)] == list(range(1, 11))


def test_copies_leave_places_for_others() -> None:
    index = VectorIndex(8)
    vectors = np.vstack([np.tile(_unit(1), (50, 1)), _unit(2)[None], _unit(3)[None]])
    codes, scales = quantise(vectors.astype(np.float32))
    index.add(list(range(1, 53)), codes, scales)

    found = [key for key, _ in index.nearest(_unit(1), 10, alike=5)]

    assert found[:5] == [1, 2, 3, 4, 5]
    assert set(found[5:]) == {51, 52}


def _unit(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(8).astype(np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("forgotten", [0, 1])
def test_a_search_of_all_copies_neither_their_codes_nor_their_keys(forgotten: int) -> None:
    count = 200_000
    index = VectorIndex(64)
    codes = np.random.default_rng(4).integers(-127, 128, (count, 64), dtype=np.int8)
    index.add(range(1, count + 1), codes, np.ones(count, np.float32))
    index.drop(range(1, forgotten + 1))
    cue = codes[77].astype(np.float32)
    tracemalloc.start()
    try:
        found = index.nearest(cue, 10)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0][0] == 78
    assert most < 8 * count  # of each vector its distance, and whether it counts
