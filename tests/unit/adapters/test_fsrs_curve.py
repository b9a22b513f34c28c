"""FSRS as a forgetting curve for memories."""

from iai_mcp.adapters.fsrs_curve import FsrsCurve
from iai_mcp.ports.learned import Trace, Use

DAY = 86_400_000_000
START = 20_000 * DAY


def test_strength_starts_at_one_and_falls_ever_more_slowly() -> None:
    curve = FsrsCurve()
    trace = curve.first(START)
    days = (0, 3, 30, 300, 3000)
    strengths = [curve.strength(trace, START + day * DAY) for day in days]
    assert strengths[0] == 1.0
    assert strengths == sorted(strengths, reverse=True)
    assert 0.2 < strengths[-1] < strengths[2] < 0.9


def test_every_use_makes_it_last_longer_and_praise_more_so() -> None:
    curve = FsrsCurve()
    trace = curve.first(START)
    later = START + 40 * DAY
    hit, useful = (curve.used(trace, Use(1, START + 20 * DAY, weight)) for weight in (1, 2))
    unused, once, praised = (curve.strength(one, later) for one in (trace, hit, useful))
    assert unused < once < praised


def test_clocks_that_disagree_do_no_harm() -> None:
    curve = FsrsCurve()
    trace = curve.first(START)
    before = curve.used(trace, Use(1, START - 5 * DAY, 1))
    assert before.used_at == START
    assert curve.strength(trace, START - 5 * DAY) == 1.0
    assert 0 < curve.strength(Trace(0.001, 10.0, -5), START) < 1
