"""The times a cue speaks of, read against the caller's clock."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from iai_mcp.domain.cue.times import windows
from iai_mcp.domain.cue.windows import closeness

# A Wednesday.
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)


def _spans(cue: str, now: datetime = NOW) -> list[tuple[str, str]]:
    return [(f"{w.start:%Y-%m-%d}", f"{w.end:%Y-%m-%d}") for w in windows(cue, now)]


@pytest.mark.parametrize(
    ("cue", "start", "end"),
    [
        ("what did we decide yesterday?", "2026-11-17", "2026-11-18"),
        ("the day before yesterday", "2026-11-16", "2026-11-17"),
        ("what broke on 8 May 2023?", "2023-05-08", "2023-05-09"),
        ("notes of May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("the release of 2024-02-29", "2024-02-29", "2024-03-01"),
        ("what happened in May 2023", "2023-05-01", "2023-06-01"),
        ("what happened in December 2023", "2023-12-01", "2024-01-01"),
        ("on the 31 February 2023", "2023-02-01", "2023-03-01"),
        ("decisions in 2022", "2022-01-01", "2023-01-01"),
        ("the bug from last Tuesday", "2026-11-17", "2026-11-18"),
        ("the bug from last Wednesday", "2026-11-11", "2026-11-12"),
        ("what did I do last weekend", "2026-11-14", "2026-11-16"),
        ("what did we ship last month", "2026-10-01", "2026-11-01"),
        ("plans of last year", "2025-01-01", "2026-01-01"),
        ("in the past three weeks", "2026-10-28", "2026-11-18"),
        ("the week before 16 November 2023", "2023-11-09", "2023-11-16"),
        ("what is due this week", "2026-11-16", "2026-11-18"),
        ("in the summer of 2024", "2024-06-01", "2024-09-01"),
    ],
)
def test_a_cue_names_a_stretch_of_time(cue: str, start: str, end: str) -> None:
    assert _spans(cue)[0] == (start, end)


@pytest.mark.parametrize(
    "cue",
    [
        "how may I march on?",
        "which port does postgres use?",
        "how many weeks ago did I start?",
        "the version is 2023",
    ],
)
def test_a_cue_that_names_no_time_has_no_window(cue: str) -> None:
    assert windows(cue, NOW) == ()


def test_some_weeks_ago_is_a_stretch_around_that_day() -> None:
    (window,) = windows("we talked about it two weeks ago", NOW)

    assert window.start < NOW - timedelta(weeks=2) < window.end
    assert window.end - window.start < timedelta(days=8)


def test_a_month_without_a_year_means_the_latest_one_first() -> None:
    found = windows("what did we do in March?", NOW)

    assert found[0].start.year == 2026
    assert found[0].weight > found[1].weight > 0


def test_two_months_give_two_windows() -> None:
    starts = {f"{w.start:%Y-%m}" for w in windows("flights in March and April", NOW)}

    assert {"2026-03", "2026-04"} <= starts


def test_a_relative_time_beside_a_date_is_read_from_that_date() -> None:
    found = _spans("what did he finish last Friday, as said on 23 January, 2022?")

    assert ("2022-01-21", "2022-01-22") in found


def test_the_day_is_the_callers_day_not_the_one_in_greenwich() -> None:
    tokyo = timezone(timedelta(hours=9))
    (window,) = windows("yesterday", datetime(2026, 11, 18, 1, 0, tzinfo=tokyo))

    assert window.start == datetime(2026, 11, 17, tzinfo=tokyo)


def test_a_moment_counts_less_the_farther_it_lies_from_the_window() -> None:
    inside = datetime(2026, 11, 17, 12, tzinfo=UTC).timestamp()
    moments = np.array([inside, inside - 3 * 86400, inside + 5 * 86400, inside - 30 * 86400])

    here, near, later, far = closeness(windows("yesterday", NOW), moments)
    assert here == 1.0
    assert 0.0 < near < later < 1.0
    assert far == 0.0
    assert not closeness((), moments).any()


@pytest.mark.parametrize(
    "cue",
    [
        *(f"since {month}" for month in ("Jan", "FEB", "Mar", "Apr.", "May", "June", "jul", "aug")),
        *(f"since {month}" for month in ("Sept", "october", "Nov", "dec.")),
        *(f"last {unit}" for unit in ("week", "month", "year", "night", "weekend", "Tuesday")),
        *(f"this {unit}" for unit in ("morning", "afternoon", "EVENING")),
        *(f"in {season}" for season in ("spring", "summer", "fall", "autumn")),
        *("on valentine", "at Halloween", "over christmas eve", "on new year's eve"),
        *("a couple of days ago", "tonight", "today", "on 3/14", "in 2021"),
    ],
)
def test_no_cue_that_names_a_time_is_passed_over_unread(cue: str) -> None:
    assert _spans(f"what was said {cue}?")
