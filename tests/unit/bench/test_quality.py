"""The sets of our own, and how finding is counted."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from bench.quality.datasets import Conversation, Question, Said, own
from bench.quality.fit import COLUMNS, FITTED, Learner, write
from bench.quality.measured import Measured
from bench.quality.metrics import Outcome, ranks, share
from bench.quality.run import rows
from bench.quality.shared_words import sharing_none

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
    assert "reversals" not in FITTED


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


def _talk(*cues: str) -> Conversation:
    said = [
        Said("1", "s", "user", "We painted the kitchen yellow.", "Ann"),
        Said("2", "s", "user", "Ann, my dog ran off!", "Bob"),
    ]
    asked = [Question(cue, cue, frozenset("1"), "", "", "p") for cue in cues]
    return Conversation("p", said, asked)


def test_a_word_is_shared_in_whatever_form() -> None:
    talk = _talk("What did Ann paint?", "Which colours did she choose?", "What is in the kitchens?")

    assert sharing_none(talk) == {"Which colours did she choose?"}


def test_who_is_named_and_what_stands_elsewhere_is_no_shared_word() -> None:
    talk = _talk("What colour does Ann like?", "Whose dog was it?")

    assert sharing_none(talk) == {"What colour does Ann like?", "Whose dog was it?"}


def test_a_word_anywhere_in_a_session_is_shared_with_it() -> None:
    talk = _talk()
    asked = [Question("q", "the dog", frozenset("s"), "", "", "p", by_session=True)]

    assert not sharing_none(Conversation("p", talk.turns, asked))


def test_many_questions_without_a_shared_word_are_held_beside_the_plain_cosine() -> None:
    def outcomes(rank: int) -> list[Outcome]:
        few = [Outcome(f"few {n}", "c", "few", (1,), shares_words=False) for n in range(3)]
        shared = [Outcome(f"s{n}", "c", "many", (1,)) for n in range(30)]
        apart = [Outcome(f"n{n}", "c", "many", (rank,), shares_words=False) for n in range(30)]
        return [*few, *shared, *apart]

    told = {row.what: row for row in rows({"iai-mcp": outcomes(11), "cosine": outcomes(1)})}

    assert set(told) == {
        "few (3) any@10",
        "many (60) any@10",
        "many, no shared word (30) any@10",
        "a question, p50 / p95",
    }
    assert told["many, no shared word (30) any@10"].met is False


def _question(number: int, column: str) -> Measured:
    """Twelve candidates: the first measure tells the evidence, the second is noise."""
    noise = np.random.default_rng(number)
    table = noise.normal(size=(12, 2)).astype(np.float32)
    table[3, 0] += 4
    names = [str(place) for place in range(12)]
    exact = np.zeros(12, np.float32)
    return Measured(str(number), column, "", number % 5, table, exact, names, frozenset("3"))


def test_weights_favour_the_measure_that_tells_the_evidence() -> None:
    columns = list(COLUMNS)
    learner = Learner([_question(n, columns[n % len(columns)]) for n in range(40)], ridge=0.03)

    weights = learner.fitted(range(40))

    assert weights[0] > 3 * abs(weights[1])
    assert share(learner.outcomes(weights, range(40)), "any", 1).value > 0.9
    assert len(learner.cross_validated()) == 40


def test_an_exact_part_decides_before_the_weights() -> None:
    asked = _question(0, "locomo")
    asked.exact[7] = 100.0
    learner = Learner([asked], ridge=0.03)

    (outcome,) = learner.outcomes(np.array([1.0, 0.0]), [0])

    assert outcome.ranks == (2,)


def test_writing_weights_leaves_the_scales_of_models(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"weights": {"old": 1.0}, "scales": {"default": {"mean": 0.1}}}))

    write(path, {"words": 0.12345})

    assert json.loads(path.read_text()) == {
        "weights": {"words": 0.123},
        "scales": {"default": {"mean": 0.1}},
    }
