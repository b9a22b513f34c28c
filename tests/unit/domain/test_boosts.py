"""What memories gain, and that it is never much."""

from iai_mcp.domain.boosts import boosted
from iai_mcp.domain.knobs import Knobs

DAY = 86_400_000_000
LEVEL = Knobs(recency_weight=0.0, project_preference=0.0)


def score(knobs: Knobs, *, days: float = 0, own: bool = False) -> float:
    return boosted(1.0, knobs, age_micros=int(days * DAY), own_project=own)


def test_with_every_knob_at_zero_merit_alone_counts() -> None:
    assert score(LEVEL, days=900, own=True) == 1.0


def test_recency_counts_more_the_newer_a_memory_is() -> None:
    knobs = Knobs(recency_weight=1.0)
    assert score(knobs, days=0) > score(knobs, days=30) > score(knobs, days=300) >= 1.0


def test_the_callers_project_counts_as_much_as_the_knob_says() -> None:
    some, much = Knobs(project_preference=0.3), Knobs(project_preference=1.0)
    assert 1.0 < score(some, own=True) < score(much, own=True) <= 1.2
    assert score(much, own=False) == 1.0


def test_a_clock_that_went_back_does_no_harm() -> None:
    assert score(Knobs(recency_weight=1.0), days=-400) == score(Knobs(recency_weight=1.0), days=0)
