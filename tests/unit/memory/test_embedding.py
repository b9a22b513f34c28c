"""Memories that lack vectors get them: one each first, the latest before the rest; then their passages."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.memories import FakeMemories, FakeVectorLog

from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog
from iai_mcp.ports.memories import Unembedded

LONG = (
    "The heron is grey and stands still. The pond behind it is deep. Bread needs a little salt. Whoever bakes at home "
    "knows how warm a kitchen becomes in summer. The oven by the window was built by a neighbour from the next "
    "village. Nobody remembers his name."
)
OTHER = (
    "Ships carry grain to the harbour. The crane at the harbour is broken. It waits for parts. The parts come from a "
    "town far away, on a train that runs twice a week. Until then everything is unloaded by hand, sack after sack. "
    "The men sing while they do it."
)
SHORT = "The gate is painted green. The fence beside it is older than the house."


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed(texts)


class Kit:
    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.embedder = CountingEmbedder()
        self.log = FakeVectorLog(self.memories)
        self.restart()

    def restart(self) -> None:
        """As after a kill: only what was put is known."""
        self.vectors = Vectors(self.log, self.embedder.dimensions)
        self.vectors.load()
        self.embed = EmbedBacklog(self.memories, self.embedder, self.vectors)

    def finish(self) -> None:
        while self.embed():
            continue

    def cue(self, text: str) -> NDArray[np.float32]:
        made: NDArray[np.float32] = FakeEmbedder().embed([text])[0]
        return made

    def nearest(self, text: str) -> int:
        return self.vectors.nearest(self.cue(text), 1)[0][0]


def test_the_latest_come_first_until_none_is_left() -> None:
    kit = Kit("the heron is grey", "the pond is deep", "bread needs salt")
    assert kit.embed(2) == 2
    assert len(kit.vectors) == 2
    assert kit.nearest("how deep is the pond") == 2
    kit.finish()
    assert len(kit.vectors) == 3
    assert list(kit.memories.pending()) == []


def test_every_memory_has_a_vector_before_any_has_its_passages() -> None:
    kit = Kit(LONG, OTHER, "a short one")
    assert kit.embed(3) == 3
    assert len(kit.vectors) == 3
    assert kit.log.parts([1, 2, 3]) == []
    assert len(kit.embedder.seen) == 3
    assert kit.embed.left == (0, 3)
    kit.finish()
    assert [one.key for one in kit.log.parts([1, 2, 3])][:2] == [1, 2]
    assert kit.embed.left == (0, 0)


def test_what_comes_in_meanwhile_goes_before_passages() -> None:
    kit = Kit(LONG, OTHER)
    kit.embed(2)
    kit.memories.say("the gate is painted green")
    assert kit.embed(2) == 1
    assert kit.nearest("painted gate") == 3


def test_no_passage_is_embedded_twice_and_no_turn_beside_its_passages() -> None:
    kit = Kit(LONG, OTHER, f"{LONG} So much for today, dear reader.")
    kit.finish()
    assert len(kit.embedder.seen) == len(set(kit.embedder.seen))
    assert not {LONG, OTHER} & set(kit.embedder.seen)


def test_a_short_turn_is_found_whole_and_by_its_sentences() -> None:
    kit = Kit(SHORT)
    kit.embed()
    assert kit.embedder.seen == [SHORT]
    kit.finish()
    assert kit.vectors.cosines(kit.cue(SHORT), np.array([1]))[0] > 0.99
    cue = kit.cue("The gate is painted green.")
    assert kit.vectors.best_passages(cue[None], np.array([1]))[0, 0] > 0.99
    assert len(kit.embedder.seen) == 3


def test_an_assistants_short_turn_is_found_by_its_sentences_and_their_mean() -> None:
    kit = Kit()
    kit.memories.say(SHORT, role="assistant")
    kit.finish()
    assert SHORT not in kit.embedder.seen
    cue = kit.cue("The gate is painted green.")
    assert kit.vectors.best_passages(cue[None], np.array([1]))[0, 0] > 0.99


def test_what_a_turn_answers_is_not_embedded_again_where_it_was_short() -> None:
    kit = Kit(SHORT, "yes")
    kit.finish()
    assert kit.embedder.seen.count(SHORT) == 1
    (parts,) = [one for one in kit.log.parts([1, 2]) if one.key == 2]
    assert parts.context


def test_what_a_long_turn_begins_with_counts_most() -> None:
    begins, ends = "Salmon swim upstream every autumn.", "Copper wires conduct electric current."
    kit = Kit(f"{begins} {LONG} {ends}")
    kit.finish()
    (first,) = kit.vectors.cosines(kit.cue(begins), np.array([1]))
    (last,) = kit.vectors.cosines(kit.cue(ends), np.array([1]))
    assert first > 4 * last > 0


def test_a_turn_stands_for_all_its_passages() -> None:
    kit = Kit(LONG)
    kit.finish()
    (cosine,) = kit.vectors.cosines(kit.cue(LONG), np.array([1]))
    assert cosine > 0.9


def test_ended_in_the_middle_it_goes_on_where_it_was() -> None:
    kit = Kit(LONG, OTHER, "a short one")
    kit.embed(2)
    kit.restart()
    assert kit.embed(9) == 1
    kit.embed(2)
    kit.restart()
    kit.finish()
    assert list(kit.memories.pending()) == []
    assert len(kit.vectors) == 3
    firsts = [
        "The heron is grey and stands still.",
        "Ships carry grain to the harbour.",
        "a short one",
    ]
    assert [kit.embedder.seen.count(first) for first in firsts] == [1, 1, 1]


def test_a_page_that_could_not_be_kept_is_done_again() -> None:
    kit = Kit(LONG, "a short one")
    put, kit.log.put = kit.log.put, _full  # type: ignore[method-assign]  # a disk that is full for a while
    with pytest.raises(OSError, match="full"):
        kit.embed(9)
    kit.log.put = put  # type: ignore[method-assign]
    kit.finish()
    assert list(kit.memories.pending()) == []
    assert len(kit.vectors) == 2


class ComeFromElsewhere(FakeMemories):
    def unembedded(self, keys: Sequence[int]) -> Iterator[Unembedded]:
        for one in super().unembedded(keys):
            yield replace(one, came=True)


def test_a_vector_that_came_along_serves_only_until_one_is_made_here() -> None:
    kit = Kit()
    kit.memories = ComeFromElsewhere(LONG, "the gate is painted green")
    kit.log = FakeVectorLog(kit.memories)
    wrong = kit.cue("something else entirely")
    Vectors(kit.log, 64).put([1, 2], np.stack([wrong, wrong]), unfinished=[1, 2])
    kit.restart()
    kit.finish()
    for key, text in ((1, LONG), (2, "the gate is painted green")):
        assert kit.vectors.cosines(kit.cue(text), np.array([key]))[0] > 0.8
    passage = kit.vectors.best_passages(wrong[None], np.array([1, 2]))
    assert np.nanmax(passage) < 0.5


def test_a_short_answer_is_embedded_together_with_what_it_answers() -> None:
    kit = Kit("shall the garden have a pond", "yes")
    kit.finish()
    (parts,) = kit.log.parts([1, 2])
    assert (parts.key, parts.context, parts.topics) == (2, True, 0)
    assert sorted(kit.embedder.seen) == ["shall the garden have a pond", "yes"]


def test_a_standing_wish_is_found_by_what_it_is_about() -> None:
    kit = Kit("hello there", "Always write the tests before the code.")
    kit.finish()
    cue = kit.cue("write the tests")
    assert list(kit.vectors.wishes_about(cue, 5)) == [2]
    again = Vectors(kit.log, kit.embedder.dimensions)
    again.load()
    assert again.wishes_about(cue, 5) == pytest.approx(kit.vectors.wishes_about(cue, 5))
    assert again.nearest(cue, 2) == kit.vectors.nearest(cue, 2)


def test_what_is_forgotten_before_it_was_embedded_is_passed_over() -> None:
    kit = Kit("the heron is grey", "the pond is deep", LONG)
    kit.memories.forget([1], 1)
    assert kit.embed() == 2
    kit.memories.forget([3], 1)
    kit.finish()
    assert list(kit.memories.pending()) == []


def _full(*_: object, **__: object) -> list[int]:
    raise OSError("the disk is full")
