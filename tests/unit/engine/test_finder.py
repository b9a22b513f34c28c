"""Which memories might answer a cue, on a store in memory."""

import numpy as np
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.memories import FakeMemories, FakeVectorLog, FakeWordIndex

from iai_mcp.engine.columns import Columns
from iai_mcp.engine.finder import Finder, Sought
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog
from iai_mcp.ports.memories import Scope


class Kit:
    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.embedder = FakeEmbedder()
        self.vectors: Vectors | None = None
        self.columns = Columns(self.memories)
        self.finder = Finder(self.columns, FakeWordIndex(self.memories), lambda: self.vectors)

    def embed(self) -> None:
        self.vectors = Vectors(FakeVectorLog(self.memories), self.embedder.dimensions)
        backlog = EmbedBacklog(self.memories, self.embedder, self.vectors)
        while backlog():
            continue

    def sought(self, cue: str, scope: Scope | None = None, *, exact: str = "") -> Sought:
        return Sought(
            terms=cue.split(),
            exact=[exact] if exact else [],
            vector=None if self.vectors is None else self.embedder.embed([cue])[0],
            scope=scope or Scope(),
        )

    def found(self, cue: str, scope: Scope | None = None, *, exact: str = "") -> list[int]:
        """The keys of those that may answer, without the turns around them."""
        pool = self.finder.find(self.sought(cue, scope, exact=exact)).talk
        told = (pool.words > 0) | (pool.exact > 0) | ~np.isnan(pool.turn)
        return [int(key) for key in pool.keys[pool.eligible & told]]


def test_words_find_what_holds_them_and_bring_the_turns_around_it() -> None:
    kit = Kit("is it deep?", "the pond is deep", "thanks", "bread needs salt")
    pool = kit.finder.find(kit.sought("pond")).talk
    assert pool.keys.tolist() == [1, 2, 3]
    assert pool.words.tolist()[0] == pool.words.tolist()[2] == 0.0
    assert (pool.before.tolist(), pool.after.tolist()) == ([-1, 0, 1], [1, 2, -1])
    assert np.isnan(pool.turn).all()


def test_what_was_stored_since_the_last_time_is_found() -> None:
    kit = Kit("the heron is grey")
    assert kit.found("pond") == []
    kit.memories.say("the pond is deep")
    assert kit.found("pond") == [2]


def test_what_was_forgotten_is_found_no_more() -> None:
    kit = Kit("the pond is deep", "the pond is cold")
    assert kit.found("pond") == [1, 2]
    kit.memories.forget([1], 1)
    kit.columns.drop([1])
    assert kit.found("pond") == [2]


def test_only_what_lies_within_the_scope_may_answer() -> None:
    kit = Kit()
    kit.memories.say("the pond is deep", project="garden")
    kit.memories.say("the pond is cold", project="park")
    assert kit.found("pond", Scope(projects=("park",))) == [2]
    assert kit.found("pond", Scope(not_projects=("park",))) == [1]


def test_meaning_finds_what_shares_no_indexed_word() -> None:
    kit = Kit("the pond is deep", "bread needs salt")
    kit.embed()
    pool = kit.finder.find(Sought([], [], kit.embedder.embed(["deep pond"])[0], Scope())).talk
    assert int(pool.keys[np.nanargmax(pool.turn)]) == 1


def test_a_name_that_the_cue_quotes_is_found_side_by_side() -> None:
    kit = Kit("run deploy heron now", "heron deploy is slow", "deploy")
    assert kit.found("", exact="deploy heron") == [1]


def test_a_wish_comes_up_for_what_it_is_about() -> None:
    kit = Kit("hello", "Always write the tests before the code.")
    kit.embed()
    pool = kit.finder.find(kit.sought("write the tests")).talk
    topics = dict(zip(pool.keys.tolist(), pool.topic.tolist(), strict=True))
    assert topics[2] > 0.5
    assert np.isnan(topics[1])


def test_who_spoke_is_told_by_scope() -> None:
    kit = Kit("hello")
    assert not kit.finder.people(Scope()).assistants
    kit.memories.say("hello to you", role="assistant", project="park")
    assert kit.finder.people(Scope()).assistants
    assert not kit.finder.people(Scope(not_projects=("park",))).assistants
    assert kit.finder.number("project", "park") >= 0
    assert kit.finder.number("project", "unheard of") == -1
