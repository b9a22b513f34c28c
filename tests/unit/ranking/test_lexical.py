"""What shared words are worth."""

import numpy as np

from iai_mcp.domain.ranking.lexical import Population, Postings, word_scores


def _population(size: int, sessions: list[int] | None = None) -> Population:
    return Population(
        within=np.ones(size, dtype=np.bool_),
        length=np.full(size, 10, dtype=np.int32),
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
    among = _population(20)
    among.within[10:] = False

    scores = word_scores([_postings(1, 15, 16, 17)], among)

    assert scores.words[15] == 0
    assert np.isclose(
        scores.words[1], word_scores([_postings(1)], _population(10)).words[1], atol=1e-6
    )


def test_a_turn_profits_from_the_words_of_its_session() -> None:
    scores = word_scores([_postings(0)], _population(20, [0] * 5 + [1] * 15))

    assert scores.session[4] > scores.session[5] == 0


def test_a_longer_turn_scores_lower_for_the_same_words() -> None:
    among = _population(20)
    among.length[2] = 200

    scores = word_scores([_postings(1, 2)], among)

    assert scores.words[1] > scores.words[2] > 0


def test_no_terms_and_no_rows_score_nothing() -> None:
    assert not word_scores([], _population(3)).words.any()
    assert len(word_scores([], _population(0)).words) == 0
