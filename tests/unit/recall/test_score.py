"""One score for every candidate."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from iai_mcp.recall.candidates import NONE, Candidates
from iai_mcp.recall.query import Query, parse_query
from iai_mcp.recall.score import (
    MEASURES,
    Ranked,
    Scale,
    Surroundings,
    measures,
    rank,
    scale_of,
    threshold,
    with_use,
)

PLAIN = Scale(0.0, 1.0, english=False)
DAY = 86_400.0
NOW = 20_000 * DAY
HERE = Surroundings(NOW)


def candidates(size: int, wordings: int = 1, **given: Any) -> Candidates:
    flat, table = np.zeros(size, np.float32), np.zeros((wordings, size), np.float32)
    no, nowhere = np.zeros(size, np.bool_), np.full(size, NONE, np.int64)
    made = Candidates(
        heads=np.arange(size), best=np.arange(size), words=table, coverage=table, turn=table,
        passage=np.full((wordings, size), np.nan, np.float32), exact=flat,
        at=np.full(size, NOW - 3000 * DAY), length=np.full(size, 10, np.float32), spoken=no, asks=no,
        topic=np.full(size, np.nan, np.float32), named=no, session=np.arange(size, dtype=np.int32),
        project=np.full(size, 7, np.int32), before=nowhere, after=nowhere, assistants=False,
        rarity=[{}] * wordings, rows=size,
    )  # fmt: skip
    shaped: dict[str, Any] = {
        name: np.array(value, getattr(made, name).dtype) if isinstance(value, list) else value
        for name, value in given.items()
    }
    return replace(made, **shaped)


def query(cue: str = "the heron", *wordings: str) -> Query:
    return parse_query(cue, wordings, now=datetime.fromtimestamp(NOW, UTC))


def ranked(found: Candidates, around: Surroundings = HERE, asked: Query | None = None) -> Ranked:
    return rank(found, asked or query(), "all-minilm-l6-v2", around)


def test_each_measure_has_a_weight_and_each_weight_a_measure() -> None:
    data = json.loads(files("iai_mcp.recall").joinpath("weights.json").read_text("utf-8"))

    assert set(data["weights"]) == set(MEASURES) == set(measures(candidates(1), query(), PLAIN))
    assert len(MEASURES) <= 12


def test_an_exact_part_outranks_whatever_else_is_said() -> None:
    found = candidates(
        3,
        words=[[1, 1, 0]],
        coverage=[[1, 1, 0]],
        turn=[[1, 0.9, -1]],
        spoken=[True, True, False],
        at=[NOW, NOW, 0],
        topic=[1, 1, np.nan],
        exact=[0, 0, 0.5],
        length=[10, 10, 4000],
    )
    around = Surroundings(NOW, 7, 1.0, 1.0)

    assert ranked(found, around).places[0] == 2


def test_of_two_exact_parts_both_outrank_one() -> None:
    found = candidates(2, exact=[0.5, 1.0], words=[[1, 0]], coverage=[[1, 0]], turn=[[1, -1]])

    assert ranked(found).places.tolist() == [1, 0]


def test_parts_sum_up_to_the_score() -> None:
    found = candidates(2, words=[[1, 0.4]], exact=[0, 1], at=[NOW, NOW - DAY])
    result = ranked(found, Surroundings(NOW, 7))

    total = np.stack(list(result.parts.values())).sum(axis=0)
    assert result.scores == pytest.approx(total, abs=1e-4)
    assert not np.isnan(result.scores).any()


def test_equal_scores_come_newest_first() -> None:
    assert ranked(candidates(3)).places.tolist() == [2, 1, 0]


def test_recency_breaks_ties_and_a_clock_that_went_back_does_no_harm() -> None:
    found = candidates(3, at=[NOW, NOW - 300 * DAY, NOW + 300 * DAY])
    parts = ranked(found).parts["recency"]

    assert parts[0] == parts[2] > parts[1] >= 0
    assert not ranked(found, Surroundings(NOW, recency_weight=0.0)).parts["recency"].any()


def test_the_callers_project_is_preferred_as_far_as_the_knob_says() -> None:
    found = candidates(2, project=[7, 8])

    assert ranked(found, Surroundings(NOW, 8)).places[0] == 1
    assert not ranked(found, Surroundings(NOW, 8, 0.0)).parts["project"].any()
    assert not ranked(found, Surroundings(NOW, NONE)).parts["project"].any()


def test_a_wording_that_matches_nothing_does_not_change_the_order() -> None:
    words = [0.9, 0.3, 0.6]
    one = candidates(3, words=[words], coverage=[words])
    two = candidates(3, 2, words=[words, [0, 0, 0]], coverage=[words, [0, 0, 0]])

    assert ranked(one).places.tolist() == ranked(two).places.tolist() == [0, 2, 1]


def test_a_wording_can_bring_up_what_the_cue_misses() -> None:
    found = candidates(2, 2, words=[[0.2, 0], [0, 0.9]], coverage=[[0.2, 0], [0, 0.9]])

    assert ranked(found).places[0] == 1


def test_what_has_no_vector_yet_counts_by_the_words_it_holds() -> None:
    found = candidates(3, turn=[[0.8, np.nan, np.nan]], coverage=[[0, 1, 0.5]])

    assert measures(found, query(), PLAIN)["meaning"] == pytest.approx([0.8, 0.8, 0.4])


def test_without_any_vector_nothing_is_guessed() -> None:
    found = candidates(2, turn=[[np.nan, np.nan]], coverage=[[1, 1]])

    assert measures(found, query(), PLAIN)["meaning"].tolist() == [0, 0]


def test_an_exchange_gains_from_the_strong_one_beside_it_and_in_its_session() -> None:
    found = candidates(
        3, words=[[1, 0, 0]], before=[NONE, 0, NONE], after=[1, NONE, NONE], session=[0, 0, 1]
    )
    columns = measures(found, query(), PLAIN)

    assert columns["near"][1] > columns["near"][2] == 0
    assert columns["session"][1] > columns["session"][2] == 0
    assert columns["session"][0] == 0  # it does not stand for itself


def test_an_english_models_cosines_count_less_for_a_cue_in_other_letters() -> None:
    found, english = candidates(1, turn=[[0.8]]), Scale(0.0, 1.0, english=True)
    own = measures(found, query("какой порт"), english)["meaning"]

    assert own[0] < measures(found, query("which port"), english)["meaning"][0]


@pytest.mark.parametrize("model", ["gte-small", "use-multilingual-v3"])
def test_a_threshold_set_for_one_model_lies_elsewhere_for_another(model: str) -> None:
    scale, ordinary = scale_of(f"{model}.q8a.0"), scale_of("all-minilm-l6-v2")

    assert threshold(model, ordinary.mean) == pytest.approx(scale.mean)
    assert threshold("own.something", 0.4) == 0.4


def test_nothing_is_ranked_where_nothing_was_found() -> None:
    assert ranked(candidates(0)).places.tolist() == []


def test_what_was_reinforced_together_breaks_a_near_tie_and_no_more() -> None:
    near = candidates(3, words=[[3.0, 2.99, 0.0]])
    before = ranked(near)

    after = with_use(before, near, {int(near.best[1]): 1.0, int(near.best[2]): 1.0})

    assert before.places.tolist() == [0, 1, 2]
    assert after.places.tolist()[:2] == [1, 0]
    assert after.scores[1] - before.scores[1] <= 0.81
