"""What shared words are worth."""

import numpy as np

from iai_mcp.domain.ranking.lexical import Population, Postings, population, word_scores


def _population(
    size: int, sessions: list[int] | None = None, *, inside: int = 1 << 30, long: int = -1
) -> Population:
    """Rows of ten words, the first `inside` of them in the scope, row `long` much longer."""
    rows = np.arange(size)
    return population(
        within=rows < inside,
        length=np.where(rows == long, 200, 10).astype(np.int32),
        session=np.array(sessions or [0] * size, dtype=np.int32),
        spoken=np.ones(size, dtype=np.bool_),
    )


def _postings(*rows: int) -> Postings:
    return Postings(np.array(rows, dtype=np.int64), np.ones(len(rows), dtype=np.float32))


def test_a_rare_word_is_worth_more_than_a_common_one() -> None:
    scores = word_scores([_postings(3), _postings(1, 2, 4, 5)], _population(20))

    assert scores.words[3] > scores.words[1] > 0
    assert scores.words[0] == 0


def test_holding_every_word_of_the_cue_is_full_coverage() -> None:
    scores = word_scores([_postings(1, 2), _postings(2)], _population(20))

    assert np.isclose(scores.coverage[2], 1.0)
    assert 0 < scores.coverage[1] < 1


def test_a_word_nobody_said_lowers_what_the_others_reach() -> None:
    alone = word_scores([_postings(1)], _population(20))
    beside = word_scores([_postings(1), _postings()], _population(20))

    assert beside.words[1] < alone.words[1]


def test_rows_outside_count_for_nothing_not_even_for_rarity() -> None:
    scores = word_scores([_postings(1, 15, 16, 17)], _population(20, inside=10))

    assert scores.words[15] == 0
    assert np.isclose(
        scores.words[1], word_scores([_postings(1)], _population(10)).words[1], atol=1e-6
    )


def test_a_session_is_worth_the_words_of_all_its_turns() -> None:
    scores = word_scores([_postings(0)], _population(20, [0] * 5 + [1] * 15))

    assert scores.session[0] > scores.session[1] == 0


def test_a_session_in_which_only_an_assistant_spoke_is_worth_nothing() -> None:
    among = population(
        within=np.ones(2, dtype=np.bool_),
        length=np.full(2, 10, dtype=np.int32),
        session=np.array([0, 1], dtype=np.int32),
        spoken=np.array([True, False]),
    )

    scores = word_scores([_postings(1)], among)

    assert scores.session.tolist() == [0.0, 0.0]


def test_a_longer_turn_scores_lower_for_the_same_words() -> None:
    scores = word_scores([_postings(1, 2)], _population(20, long=2))

    assert scores.words[1] > scores.words[2] > 0


def test_no_terms_and_no_rows_score_nothing() -> None:
    assert not word_scores([], _population(3)).words.any()
    assert len(word_scores([], _population(0)).words) == 0
