"""Memories that lack vectors get them: oldest first, each text read once."""

import numpy as np
import pytest
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.memories import FakeMemories, FakeVectorLog

from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog


class Kit:
    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.embedder = FakeEmbedder()
        self.log = FakeVectorLog(self.memories)
        self.vectors = Vectors(self.log, self.embedder.dimensions)
        self.embed = EmbedBacklog(self.memories, self.embedder, self.vectors)

    def nearest(self, text: str) -> int:
        return self.vectors.nearest(self.embedder.embed([text])[0], 1)[0][0]


def test_the_oldest_come_first_until_none_is_left() -> None:
    kit = Kit("the heron is grey", "the pond is deep", "bread needs salt")
    assert kit.embed(2) == 2
    assert [one.key for one in kit.memories.pending(9)] == [3]
    assert (kit.embed(2), kit.embed(2)) == (1, 0)
    assert kit.nearest("how deep is the pond") == 2
    assert len(kit.vectors) == 3


def test_a_short_answer_is_embedded_together_with_what_it_answers() -> None:
    kit = Kit("shall the garden have a pond", "yes")
    kit.embed()
    (parts,) = kit.log.parts([1, 2])
    assert (parts.key, parts.context, parts.topics) == (2, True, 0)
    cue = kit.embedder.embed(["garden pond"])[0]
    _, context = kit.vectors.best_passages(cue, np.array([1, 2]))
    assert context[1] > kit.vectors.cosines(cue, np.array([2]))[0] + 0.2


def test_a_standing_wish_is_found_by_what_it_is_about() -> None:
    kit = Kit("hello there", "Always write the tests before the code.")
    kit.embed()
    cue = kit.embedder.embed(["write the tests"])[0]
    assert list(kit.vectors.wishes_about(cue, 5)) == [2]
    again = Vectors(kit.log, kit.embedder.dimensions)
    again.load()
    assert again.wishes_about(cue, 5) == pytest.approx(kit.vectors.wishes_about(cue, 5))
    assert again.nearest(cue, 2) == kit.vectors.nearest(cue, 2)


def test_what_is_forgotten_before_it_was_embedded_is_passed_over() -> None:
    kit = Kit("the heron is grey", "the pond is deep")
    kit.memories.forget([1], 1)
    assert kit.embed() == 1
    assert len(kit.vectors) == 1
