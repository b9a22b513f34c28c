"""The exchanges that may answer, on a store in memory and on small arrays."""

from datetime import UTC, datetime

import numpy as np
import pytest
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.memories import FakeMemories, FakeVectorLog, FakeWordIndex

from iai_mcp.engine.arrays import beginnings, few_of_equal
from iai_mcp.engine.columns import Columns
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.embedding import EmbedBacklog
from iai_mcp.ports.memories import Scope
from iai_mcp.recall.candidates import Candidates, Finder, group_rows, idf
from iai_mcp.recall.query import parse_query

EVERYTHING = Scope()


class Kit:
    def __init__(self, *texts: str) -> None:
        self.memories = FakeMemories(*texts)
        self.embedder = FakeEmbedder()
        self.vectors: Vectors | None = None
        self.columns = Columns(self.memories)
        self.finder = Finder(self.columns, FakeWordIndex(self.memories), lambda: self.vectors)

    def work(self, *replies: str) -> None:
        """A prompt and several replies: an exchange of work."""
        self.memories.say(f"please look: {replies[0]}")
        self.memories.say(*replies, role="assistant")

    def embed(self) -> None:
        self.vectors = Vectors(FakeVectorLog(self.memories), self.embedder.dimensions)
        backlog = EmbedBacklog(self.memories, self.embedder, self.vectors)
        while backlog():
            continue

    def find(self, cue: str, *wordings: str, scope: Scope = EVERYTHING) -> Candidates:
        query = parse_query(cue, wordings, now=datetime(2026, 3, 1, tzinfo=UTC))
        texts = [one.meaning for one in query.wordings]
        embedded = None if self.vectors is None else np.asarray(self.embedder.embed(texts))
        exact = self.finder.holding_exactly(query.exact)
        return self.finder.find(query, embedded, scope, exact)

    def found(self, cue: str, *wordings: str, scope: Scope = EVERYTHING) -> list[int]:
        """The keys of those that hold a word or an exact part."""
        pool = self.find(cue, *wordings, scope=scope)
        keys: list[int] = pool.heads[(pool.words.max(axis=0) > 0) | (pool.exact > 0)].tolist()
        return keys


@pytest.mark.parametrize(
    ("column", "begin"), [([], []), ([4], [0]), ([4, 4, 4], [0]), ([1, 1, 2, 3, 3], [0, 2, 3])]
)
def test_each_run_of_equals_begins_somewhere(column: list[int], begin: list[int]) -> None:
    assert beginnings(np.array(column, np.int64)).tolist() == begin


@pytest.mark.parametrize(
    ("scores", "kept"),
    [([], []), ([9], [9]), ([9, 9], [9, 9]), ([9, 9, 9, 9, 5, 5, 5, 1], [9, 9, 5, 5, 1])],
)
def test_of_equal_scores_only_so_many_are_kept(scores: list[float], kept: list[float]) -> None:
    column = np.array(scores, np.float32)
    assert column[few_of_equal(column, 2)].tolist() == kept


def test_words_bring_what_holds_them_and_the_exchanges_beside_it() -> None:
    pool = Kit("is it deep?", "the pond is deep", "thanks", "bread needs salt").find("pond")

    assert pool.heads.tolist() == [1, 2, 3]
    assert pool.words[0].tolist()[::2] == [0, 0]
    assert (pool.before.tolist(), pool.after.tolist()) == ([-1, 0, 1], [1, 2, -1])
    assert np.isnan(pool.turn).all()


def test_a_request_and_its_replies_are_one_candidate_in_work() -> None:
    kit = Kit()
    kit.work("let me look", "the heron nests here")
    kit.work("now the pond", "and the reed")
    pool = kit.find("heron nests")

    assert pool.heads.tolist()[0] == 1
    assert pool.best.tolist()[0] == 3
    assert kit.finder.exchanges([1], EVERYTHING)[0].keys == (1, 2, 3)
    assert kit.finder.exchanges([1], EVERYTHING)[0].next == 4


def test_where_every_request_has_one_reply_each_turn_stands_for_itself() -> None:
    kit = Kit("the heron?")
    kit.memories.say("it nests here", role="assistant")

    assert kit.find("heron").heads.tolist() == [1, 2]
    assert not kit.finder.works(EVERYTHING)


def test_the_turns_of_an_exchange_outside_the_scope_do_not_count() -> None:
    kit = Kit()
    kit.work("let me look", "the heron nests here")
    scope = Scope(role="user")

    assert kit.found("heron", scope=scope) == []
    assert kit.finder.exchanges([1], scope)[0].keys == (1,)


def test_an_exchange_whose_request_is_outside_the_scope_keeps_its_replies() -> None:
    kit = Kit()
    kit.work("let me look", "the heron nests here")
    kit.work("now the pond", "and the reed")
    scope = Scope(role="assistant")

    assert kit.found("heron", scope=scope) == [1]
    assert kit.finder.exchanges([1], scope)[0].keys == (2, 3)
    assert kit.finder.exchanges([4], scope)[0].keys == (5, 6)


def test_a_rare_word_is_worth_more_than_a_common_one_and_every_word_is_full_coverage() -> None:
    kit = Kit("pond water", "pond reed", "pond frog", "the heron", *"abcdefgh")
    pool = kit.find("heron pond")
    words = dict(zip(pool.heads.tolist(), pool.words[0].tolist(), strict=True))

    assert words[4] > words[1] > 0
    kit.memories.say("heron pond")
    pool = kit.find("heron pond")
    assert pool.coverage[0].max() == pytest.approx(1.0)


def test_a_longer_exchange_reaches_less_with_the_same_words() -> None:
    kit = Kit("the heron", "the heron " + "and more " * 50, "a", "b", "c", "d")
    pool = kit.find("heron")
    words = dict(zip(pool.heads.tolist(), pool.words[0].tolist(), strict=True))

    assert words[1] > words[2] > 0


def test_each_wording_has_a_row_of_its_own() -> None:
    kit = Kit("the queue moved to Postgres", "why no redis?", "lemon cake", "tea")
    pool = kit.find("redis", "queue in Postgres", "nothing of this")

    assert pool.words.shape[0] == 3
    assert not pool.words[2].any()
    assert kit.found("redis") == [2]
    assert set(kit.found("redis", "queue in Postgres")) == {1, 2}


def test_an_exact_part_is_found_side_by_side_only() -> None:
    kit = Kit("run deploy heron now", "heron deploy is slow", "deploy")
    pool = kit.find("'deploy heron'")

    assert pool.heads[pool.exact > 0].tolist() == [1]


def test_very_many_copies_leave_room_for_others() -> None:
    kit = Kit()
    kit.memories.say(*(f"the deploy failed at noon {n}" for n in range(300)))
    kit.memories.say("the deploy key " + "and more of it " * 30)

    assert 301 in kit.found("deploy failed at noon")


def test_of_equal_texts_the_newest_are_among_the_candidates() -> None:
    kit = Kit(*(f"the deploy failed {n}" for n in range(200)))

    assert 200 in kit.found("deploy failed")


def test_what_was_stored_since_is_found_and_what_was_forgotten_is_not() -> None:
    kit = Kit("the heron is grey")
    assert kit.found("pond") == []
    kit.memories.say("the pond is deep")
    assert kit.found("pond") == [2]
    kit.memories.forget([2], 1)
    kit.columns.drop([2])
    assert kit.found("pond") == []


def test_only_what_lies_within_the_scope_may_answer() -> None:
    kit = Kit()
    kit.memories.say("the pond is deep", project="garden")
    kit.memories.say("the pond is cold", project="park")

    assert kit.found("pond", scope=Scope(projects=("park",))) == [2]
    assert kit.found("pond", scope=Scope(not_projects=("park",))) == [1]


def test_meaning_finds_what_the_words_of_the_cue_do_not() -> None:
    kit = Kit("the pond is deep", "bread needs salt")
    kit.embed()
    pool = kit.find("nothing", "deep pond")

    assert int(pool.heads[np.nanargmax(pool.turn[1])]) == 1
    assert not np.isnan(pool.passage[1]).all() or not np.isnan(pool.turn[1]).all()


def test_a_wish_comes_up_for_what_it_is_about() -> None:
    kit = Kit("hello", "Always write the tests before the code.")
    kit.embed()
    pool = kit.find("write the tests")
    topics = dict(zip(pool.heads.tolist(), pool.topic.tolist(), strict=True))

    assert topics[2] > 0.5
    assert np.isnan(topics[1])


def test_nothing_is_found_in_nothing() -> None:
    pool = Kit().find("heron", "pond")

    assert (len(pool), pool.rows, pool.words.shape) == (0, 0, (2, 0))


def test_numbers_of_names_are_known() -> None:
    kit = Kit()
    kit.memories.say("hello", role="assistant", project="park")
    kit.columns.current()

    assert kit.finder.number("project", "park") >= 0
    assert kit.finder.number("project", "unheard of") == -1


def test_whether_a_session_is_work_does_not_depend_on_the_scope() -> None:
    kit = Kit()
    kit.work("let me look", "the heron nests here")
    view = kit.columns.current()
    groups = group_rows(view, np.array([True, False, False]))

    assert (len(groups), groups.work) == (1, True)
    assert groups.number.tolist() == [0, -1, -1]


def test_what_all_hold_is_hardly_rare() -> None:
    assert 0 < idf(10, 10) < 0.1
    assert idf(10, 1) > idf(10, 3) > idf(10, 5)
