"""The sets of our own, and how finding is counted."""

from collections import Counter
from pathlib import Path

import pytest
from bench.quality.datasets import own
from bench.quality.fit import SETS
from bench.quality.metrics import Outcome, ranks, share

DATA = Path(__file__).parents[3] / "bench" / "data"


@pytest.mark.parametrize("name", ["coding", "reversals", "languages"])
def test_every_question_names_evidence_that_was_said(name: str) -> None:
    for talk in own(DATA / name):
        said = {turn.id for turn in talk.turns}
        assert len(said) == len(talk.turns)
        for asked in talk.questions:
            assert asked.evidence
            assert asked.evidence <= said, asked


def test_the_coding_set_asks_enough_of_every_kind() -> None:
    kinds = [asked.category for talk in own(DATA / "coding") for asked in talk.questions]

    assert len(kinds) >= 60
    assert {"exact", "plain", "reversal", "wish", "time"} <= set(kinds)
    assert kinds.count("exact") >= 20


def test_reversals_are_fitted_on_some_and_judged_on_others() -> None:
    fitted, judged = (
        {asked.cue for talk in own(DATA / name) for asked in talk.questions}
        for name in ("coding", "reversals")
    )

    assert judged
    assert not fitted & judged
    assert "reversals" not in SETS


def test_the_language_set_asks_in_eight_languages() -> None:
    kinds = {asked.category for talk in own(DATA / "languages") for asked in talk.questions}

    assert kinds == {"en", "de", "fr", "es", "ru", "ar", "zh", "ja", "across"}


def test_each_language_answers_cues_in_others_as_often_as_any() -> None:
    (talk,) = [one for one in own(DATA / "languages") if one.project == "languages-across"]
    spoken = Counter(turn[1:3] for asked in talk.questions for turn in asked.evidence)

    assert spoken == dict.fromkeys(("en", "de", "fr", "es", "ru", "ar", "zh", "ja"), 3)


def test_a_session_counts_at_its_first_hit() -> None:
    assert ranks(["b", "a", "b", "c"], frozenset("ac")) == (2, 3)
    assert ranks(["b"], frozenset("ab")) == (None, 1)


def test_any_and_all_differ_where_evidence_is_missing() -> None:
    half = Outcome("q", "c", "column", (3, None))

    assert half.any_at(3)
    assert not half.any_at(2)
    assert not half.all_at(10)
    assert share([half, Outcome("r", "c", "column", (1,))], "all", 5).value == 0.5
