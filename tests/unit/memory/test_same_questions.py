"""One ranking for many who ask the same at once, and never an older answer than one's own would be."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from iai_mcp.memory.same_questions import SameQuestions


class Store:
    """Says when somebody has looked at what was written."""

    def __init__(self) -> None:
        self.writes = 0
        self._looked = 0
        self._changed = threading.Condition()

    def written(self) -> int:
        with self._changed:
            self._looked += 1
            self._changed.notify_all()
        return self.writes

    def until_looked_at(self, times: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._looked >= times, 10)


def test_three_who_ask_the_same_at_once_cost_one_answer() -> None:
    store = Store()
    same, made = SameQuestions[str](store.written), []

    def make() -> str:
        made.append(1)
        store.until_looked_at(3)  # all of them have asked
        return f"answer {len(made)}"

    with ThreadPoolExecutor(3) as askers:
        answers = list(askers.map(lambda _: same.answer("why?", make), range(3)))

    assert answers == ["answer 1"] * 3
    assert same.answer("why?", lambda: "later") == "later"


def test_who_asks_after_something_was_written_gets_an_answer_of_their_own() -> None:
    store = Store()
    same = SameQuestions[str](store.written)

    with ThreadPoolExecutor(1) as other:

        def make() -> str:
            store.writes += 1
            return other.submit(same.answer, "why?", lambda: "with it").result(10) + ", without it"

        assert same.answer("why?", make) == "with it, without it"


def test_another_question_waits_for_nobody() -> None:
    store = Store()
    same = SameQuestions[str](store.written)

    with ThreadPoolExecutor(1) as other:

        def make() -> str:
            return other.submit(same.answer, "how?", lambda: "so").result(10)

        assert same.answer("why?", make) == "so"


def test_where_an_answer_fails_the_others_make_their_own() -> None:
    store = Store()
    same, made = SameQuestions[str](store.written), []

    def make() -> str:
        made.append(1)
        if len(made) == 1:
            store.until_looked_at(2)
            raise OSError("the store can not be read")
        return "an answer"

    with ThreadPoolExecutor(2) as askers:
        first, second = (
            askers.submit(same.answer, "why?", make),
            askers.submit(same.answer, "why?", make),
        )
        outcomes = [one.exception(10) for one in (first, second)]

    assert sorted(outcome is None for outcome in outcomes) == [False, True]
    with pytest.raises(OSError, match="can not be read"):
        _ = [one.result() for one in (first, second)]
