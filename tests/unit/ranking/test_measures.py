"""What is measured of candidates, and that every measure is weighed."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from iai_mcp.domain.cue.analysis import read
from iai_mcp.domain.ranking.candidates import NONE, Candidates, Floats
from iai_mcp.domain.ranking.features import Asked, CosineScale, features
from iai_mcp.domain.ranking.scoring import FEATURES
from iai_mcp.domain.ranking.weights import bar_of, ranker_for, usual

_SCALE = CosineScale(0.0, 1.0)
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
ALICE, BOB = 0, 1


def _candidates(size: int) -> Candidates:
    zeros, no = np.zeros(size, np.float32), np.zeros(size, np.bool_)
    same, nowhere = np.zeros(size, np.int32), np.full(size, NONE, np.int64)
    return Candidates(
        keys=np.arange(size),
        eligible=~no,
        words=zeros,
        coverage=zeros,
        session_words=zeros,
        turn=zeros,
        passage=zeros,
        context=zeros,
        topic=zeros,
        exact=zeros,
        at=np.zeros(size),
        length=same,
        asks=no,
        instruction=no,
        preference=no,
        spoken=~no,
        time=no,
        name=no,
        change=no,
        speaker=same,
        session=same,
        project=same,
        before=nowhere,
        after=nowhere,
        support=zeros,
    )


def _measured(
    found: Candidates, cue: str, *, speaker: int | None = None, assistants: bool = False
) -> dict[str, Floats]:
    return features(found, Asked(read(cue, _NOW), speaker, assistants), _SCALE)


def test_a_turn_that_says_when_is_told_apart_only_by_a_cue_that_asks_when() -> None:
    found = replace(_candidates(2), time=np.array([True, False]))
    assert _measured(found, "When did she move?")["time_asked"].tolist() == [1, 0]
    assert _measured(found, "Why did she move?")["time_asked"].tolist() == [0, 0]


def test_a_turn_that_names_something_is_told_apart_only_by_a_cue_that_asks_which() -> None:
    found = replace(_candidates(2), name=np.array([False, True]))
    assert _measured(found, "Which city was it?")["name_asked"].tolist() == [0, 1]
    assert _measured(found, "Was it cold?")["name_asked"].tolist() == [0, 0]


def test_a_turn_that_tells_a_change_and_the_answer_to_it_matter_where_the_present_is_asked_for() -> (
    None
):
    found = replace(
        _candidates(3),
        change=np.array([True, False, False]),
        before=np.array([NONE, 0, 1]),
    )
    assert _measured(found, "Which port is it now?")["change_asked"].tolist() == [1, 1, 0]
    assert _measured(found, "Which port was it?")["change_asked"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("cue", "measured"),
    [
        ("Which port does the API use?", 1),
        ("For how many days are files kept?", 1),
        ("Which port did the API use?", 0),
        ("Which port do I use?", 0),
        ("Which port is it now?", 0),
        ("How should we choose a port?", 0),
        ("What does scripts/serve.sh do?", 0),
    ],
)
def test_a_change_matters_too_where_the_cue_speaks_of_things_in_the_present(
    cue: str, measured: int
) -> None:
    found = replace(_candidates(2), change=np.array([True, False]))
    assert _measured(found, cue)["change_present"].tolist() == [measured, 0]


def test_who_asks_about_himself_is_answered_by_what_people_said() -> None:
    found = replace(_candidates(2), spoken=np.array([True, False]))
    mine = _measured(found, "Which desk did I buy?", assistants=True)
    ours = _measured(found, "Which desk was bought?", assistants=True)
    assert mine["person_of_self"].tolist() == [1, 0]
    assert ours["person_of_self"].tolist() == [0, 0]
    assert ours["person"].tolist() == [1, 0]


def test_what_stands_before_the_answer_of_who_is_named_is_measured() -> None:
    found = replace(
        _candidates(3),
        speaker=np.array([BOB, ALICE, ALICE], np.int32),
        after=np.array([1, NONE, NONE]),
        asks=np.array([True, False, True]),
    )
    measured = _measured(found, "What does Alice like?", speaker=ALICE)
    assert measured["named_after"].tolist() == [1, 0, 0]
    assert measured["named_asks"].tolist() == [0, 0, 1]


@pytest.mark.parametrize("model", ["all-minilm-l6-v2", "gte-small", "use-multilingual-v3"])
def test_each_measure_has_a_learned_weight_and_each_weight_a_measure(model: str) -> None:
    learned = ranker_for(f"{model}.q8a.0123456789ab")
    assert set(learned.weights) == set(FEATURES)
    assert set(_measured(_candidates(1), "anything")) == set(FEATURES)


@pytest.mark.parametrize("model", ["gte-small", "use-multilingual-v3"])
def test_a_bar_set_for_one_model_lies_elsewhere_for_another(model: str) -> None:
    scale = ranker_for(f"{model}.q8a.0").scale
    ordinary = ranker_for("all-minilm-l6-v2").scale

    assert usual(f"{model}.q8a.0", scale.mean) == pytest.approx(ordinary.mean)
    assert bar_of(f"{model}.q8a.0", ordinary.mean + ordinary.spread) == pytest.approx(
        scale.mean + scale.spread
    )
    assert usual("own.something", 0.4) == bar_of("own.something", 0.4) == 0.4
    assert usual("all-minilm-l6-v2.q8a.0", 0.4) == pytest.approx(0.4)


def test_a_model_that_nothing_was_learned_for_gets_weights_all_the_same() -> None:
    assert set(ranker_for("own.something").weights) <= set(FEATURES)


def test_what_has_no_vector_yet_counts_by_the_words_it_holds() -> None:
    unknown = np.array([0.8, np.nan, np.nan], np.float32)
    found = replace(
        _candidates(3),
        turn=unknown,
        passage=np.full(3, np.nan, np.float32),
        coverage=np.array([0.0, 1.0, 0.5], np.float32),
    )
    measured = _measured(found, "the zeppelin")
    assert measured["turn"] == pytest.approx([0.8, 0.8, 0.4])
    assert measured["passage"] == pytest.approx([0.8, 0.8, 0.4])


def test_without_any_vector_nothing_is_guessed() -> None:
    nothing = np.full(2, np.nan, np.float32)
    found = replace(_candidates(2), turn=nothing, coverage=np.ones(2, np.float32))
    assert _measured(found, "the zeppelin")["turn"].tolist() == [0, 0]
