"""Several threads embed side by side: the same vectors in the same order, whoever made them."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.background.embedding_backlog import EmbeddingThreads

TEXTS = [f"text {number} " * (number % 7 + 1) for number in range(40)]


class Meeting(FakeEmbedder):
    """Nobody's first share is done before as many as are expected are at work."""

    def __init__(self, expected: int) -> None:
        super().__init__()
        self._all = threading.Barrier(expected)
        self._met = threading.local()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not hasattr(self._met, "done"):
            self._all.wait(10)
            self._met.done = True
        return super().embed(texts)


@pytest.mark.parametrize("hands", [1, 2, 5])
def test_as_many_work_at_once_as_the_machine_has_to_spare(hands: int) -> None:
    crew = EmbeddingThreads(Meeting(hands), lambda _: hands)
    assert crew.look_around() == hands
    assert np.array_equal(crew.embed(TEXTS), FakeEmbedder().embed(TEXTS))


def test_nothing_and_one_text_are_embedded_too() -> None:
    crew = EmbeddingThreads(FakeEmbedder(), lambda own: own + 3)
    assert [crew.look_around(), crew.look_around()] == [4, 7]
    assert crew.embed([]).shape == (0, 64)
    assert np.array_equal(crew.embed(["one"]), FakeEmbedder().embed(["one"]))


def test_no_thread_begins_that_would_have_nothing_to_do() -> None:
    """However many a person asks for: a typing error is no reason to fill the machine with threads."""
    begun: set[int] = set()
    threading.setprofile(lambda *_: begun.add(threading.get_ident()))
    crew = EmbeddingThreads(Meeting(2), lambda _: 500)
    crew.look_around()
    try:
        rows = crew.embed(TEXTS[:2])
    finally:
        threading.setprofile(None)

    assert np.array_equal(rows, FakeEmbedder().embed(TEXTS[:2]))
    assert len(begun) == 2


def test_what_fails_in_one_thread_is_told_to_who_asked() -> None:
    class Broken(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise MemoryError

    with pytest.raises(MemoryError):
        EmbeddingThreads(Broken(), lambda _: 3).embed(TEXTS)
