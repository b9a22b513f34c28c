"""What speaks for an exchange."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.exchanges import ExchangeTurns, TurnKind
from iai_mcp.domain.ranking.exchanges import (
    NONE,
    ExchangeCandidates,
    ScoredExchange,
    SoughtWord,
    Work,
    exchange_words,
    ranked_exchanges,
    whole_exchanges,
    work,
)
from iai_mcp.domain.ranking.features import Asked
from iai_mcp.domain.ranking.lexical import Postings
from iai_mcp.domain.ranking.scoring import Boosts
from iai_mcp.domain.ranking.weights import ranker_for


def _work(*sizes: int, session: list[int] | None = None, length: int = 10) -> Work:
    """Exchanges of so many turns each, every one in a session of its own unless told otherwise."""
    heads = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes).astype(np.int32)
    sessions = np.repeat(session or list(range(len(sizes))), sizes).astype(np.int32)
    every = np.ones(len(heads), np.bool_)
    return work(every, every, heads, sessions, np.full(len(heads), length, np.int32))


def _postings(*rows: int, token: str = "") -> Postings:
    return Postings(np.array(rows, np.int64), np.ones(len(rows), np.float32), token)


def test_sessions_without_a_long_exchange_are_no_work() -> None:
    found = _work(2, 3, 1, 2, session=[0, 1, 1, 2])

    assert found.number.tolist() == [NONE, NONE, 0, 0, 0, 1, NONE, NONE]
    assert len(found) == 2


def test_whether_a_session_is_work_does_not_depend_on_the_scope() -> None:
    within = np.array([True, False, False])
    every = np.ones(3, np.bool_)
    heads, session, length = np.zeros((3, 3), np.int32)

    assert work(within, every, heads, session, length).number.tolist() == [0, NONE, NONE]


def test_words_of_all_turns_of_an_exchange_count_together() -> None:
    among = _work(*[3] * 20)
    apart = exchange_words([SoughtWord(_postings(0)), SoughtWord(_postings(3))], among)
    together = exchange_words([SoughtWord(_postings(0)), SoughtWord(_postings(2))], among)

    assert together.plain[0] > apart.plain[0] > 0


def test_a_stand_in_counts_only_where_the_word_itself_does_not() -> None:
    among = _work(*[3] * 20)
    word = SoughtWord(_postings(0, token="obsolet"), [(_postings(0, 3, token="outdat"), 0.5)])
    found = exchange_words([word], among)

    assert found.soft[0] == found.plain[0]
    assert 0 < found.soft[1] < found.soft[0]
    assert found.plain[1] == 0
    known = found.known.words[0]
    assert (known.token, known.held_by, known.stand_ins[0].token) == ("obsolet", 1, "outdat")


def test_a_rare_stand_in_is_worth_no_more_than_the_word() -> None:
    among = _work(*[3] * 20)
    common = _postings(*range(0, 27, 3))
    found = exchange_words([SoughtWord(common, [(_postings(57), 0.6)])], among)

    assert found.soft[19] <= 0.6 * 2.2


def test_a_pasted_log_does_not_make_its_exchange_long() -> None:
    lengths = np.full(6, 10, np.int32)
    lengths[0] = 1_000_000
    every = np.ones(6, np.bool_)
    heads = np.array([0, 0, 0, 3, 3, 3], np.int32)
    found = work(every, every, heads, np.array([0, 0, 0, 1, 1, 1], np.int32), lengths)

    assert found.length.tolist() == [4020, 30]


def _candidates(*cosines: float, session: list[int] | None = None) -> ExchangeCandidates:
    size = len(cosines)
    blank = np.zeros(size, np.float32)
    return ExchangeCandidates(
        heads=np.arange(size) * 10,
        keys=np.arange(size) * 10 + 1,
        soft=blank,
        plain=blank,
        cosine=np.array(cosines, np.float32),
        exact=blank,
        at=np.zeros(size),
        session=np.array(session or range(size), np.int32),
        project=np.zeros(size, np.int32),
    )


def _ranked(found: ExchangeCandidates, limit: int = 9) -> list[ScoredExchange]:
    blank = np.zeros(len(found), np.float32)
    cue = Asked(read("anything", datetime(2026, 1, 1, tzinfo=UTC)), None, assistants=True)
    boosts = Boosts(blank, blank)
    return ranked_exchanges(found, cue, ranker_for("all-minilm-l6-v2"), boosts, limit)


def test_the_nearest_comes_first_and_the_best_of_its_session_with_it() -> None:
    order = _ranked(_candidates(0.5, 0.3, 0.3, 0.1, session=[0, 0, 1, 2]))

    assert [one.head for one in order] == [0, 10, 20, 30]
    assert order[1].shown > order[2].shown


def test_of_near_equals_in_a_session_the_later_comes_first() -> None:
    near = replace(_candidates(0.52, 0.5, 0.51, session=[0, 0, 1]), at=np.array([1.0, 2.0, 0.0]))
    assert [one.head for one in _ranked(near)] == [10, 0, 20]
    far = replace(_candidates(0.6, 0.4, session=[0, 0]), at=np.array([1.0, 2.0]))
    assert [one.head for one in _ranked(far)] == [0, 10]


def test_the_parts_sum_up_to_what_is_shown() -> None:
    for one in _ranked(_candidates(0.5, 0.3, session=[0, 0])):
        assert sum(one.parts.values()) == pytest.approx(one.shown, abs=1e-5)


def test_what_has_no_vector_yet_is_found_by_its_words() -> None:
    found = _candidates(0.6, float("nan"), 0.2)
    found.plain[1] = found.soft[1] = 0.8

    assert [one.head for one in _ranked(found)] == [10, 0, 20]


def test_nothing_to_rank_is_nothing() -> None:
    assert _ranked(_candidates()) == []


def test_an_exchange_that_was_forgotten_meanwhile_is_left_out() -> None:
    scored = _ranked(_candidates(0.5, 0.3))
    kinds = (TurnKind.PROMPT, TurnKind.NARRATION, TurnKind.CONCLUSION)
    whole = whole_exchanges(scored, [ExchangeTurns((), ()), ExchangeTurns((10, 11, 12), kinds)])

    assert [(one.keys, one.best, one.speaker) for one in whole] == [((10, 11, 12), 11, 12)]
