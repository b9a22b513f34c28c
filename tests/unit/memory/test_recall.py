"""Recall on a store in memory: a question in, an answer out."""

import pytest
from tests.fakes.memories import FakeMemories
from tests.unit.memory.bench import Noon, access, recall

from iai_mcp.domain.errors import EmptyCue
from iai_mcp.domain.knobs import Knobs
from iai_mcp.domain.redaction import redact
from iai_mcp.memory.changing import Contradict
from iai_mcp.memory.question import Answer, Question
from iai_mcp.memory.scoping import Caller, Filter


def texts(answer: Answer) -> list[str]:
    return [hit.memory.text for hit in answer.hits]


def test_the_memory_with_the_words_of_the_cue_comes_first_and_the_answer_says_what_it_lacks() -> (
    None
):
    memories = FakeMemories("the cake was lemon", "postgres listens on 5433")

    answer = recall(memories)(Question(cue="which port does postgres listen on", limit=1))

    assert texts(answer) == ["postgres listens on 5433"]
    assert (answer.by_meaning, answer.degraded) == (False, ("meaning: there is no model",))


def test_what_superseded_a_memory_answers_in_its_place() -> None:
    memories = FakeMemories("postgres listens on 5433")
    contradict = Contradict(memories, access(memories), Noon(), redact, lambda _stored: None)
    contradict(memories.stored[1].id, "the database moved to 6000", Caller())

    answer = recall(memories)(Question(cue="postgres listens"))

    assert texts(answer) == ["the database moved to 6000"]
    assert [hit.memory.text for hit in answer.superseded] == ["postgres listens on 5433"]


def test_the_first_hit_is_given_whatever_the_budget_and_no_other_beyond_it() -> None:
    memories = FakeMemories("the deploy failed at noon", "the deploy failed again at night")

    answer = recall(memories)(Question(cue="why did the deploy fail", budget=1))

    assert len(answer.hits) == 1


def test_turns_around_a_hit_come_along_in_the_order_said() -> None:
    memories = FakeMemories("we begin", "the heron nests here", "we end")

    (hit,) = recall(memories)(Question(cue="heron", limit=1, context=1)).hits

    assert hit.around is not None
    assert [turn.memory.text for turn in hit.around.before] == ["we begin"]
    assert [turn.memory.text for turn in hit.around.after] == ["we end"]


def test_reasons_are_short_for_those_who_want_them_short() -> None:
    memories = FakeMemories("postgres listens on 5433")
    question = Question(cue="postgres listens on 5433")

    (hit,) = recall(memories, Knobs(verbosity="short"))(question).hits

    assert "," not in hit.reason


def test_a_filter_that_matches_nothing_finds_nothing() -> None:
    memories = FakeMemories("postgres listens on 5433")

    assert recall(memories)(Question(cue="postgres", about=Filter(session_id="other"))).hits == ()


def test_a_blank_cue_is_no_question() -> None:
    with pytest.raises(EmptyCue):
        Question(cue=" \n")
