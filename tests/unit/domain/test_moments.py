"""Times as people say them, wherever a time is taken."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.moments import moment

# A Tuesday, in a zone that is not UTC.
NOW = datetime(2026, 11, 17, 20, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),  # without an offset, digits mean UTC
        ("2026-03-01T09:30:00+05:00", "2026-03-01T09:30:00+05:00"),
        ("01.03.2026", "2026-03-01T00:00:00+00:00"),
        ("1.3.2026 09:30", "2026-03-01T09:30:00+00:00"),
        ("2026.03.01", "2026-03-01T00:00:00+00:00"),
        ("2026/3/1", "2026-03-01T00:00:00+00:00"),
        ("now", "2026-11-17T20:30:00+02:00"),
        ("today", "2026-11-17T00:00:00+02:00"),
        ("yesterday", "2026-11-16T00:00:00+02:00"),
        ("Yesterday 14:15", "2026-11-16T14:15:00+02:00"),
        ("yesterday at 9:00", "2026-11-16T09:00:00+02:00"),
        ("9:30", "2026-11-17T09:30:00+02:00"),
        ("3 days ago", "2026-11-14T20:30:00+02:00"),
        ("two weeks ago", "2026-11-03T20:30:00+02:00"),
        ("an hour ago", "2026-11-17T19:30:00+02:00"),
        ("2h", "2026-11-17T18:30:00+02:00"),
        ("2 hours", "2026-11-17T18:30:00+02:00"),
        ("30m", "2026-11-17T20:00:00+02:00"),
        ("90 min ago", "2026-11-17T19:00:00+02:00"),
        ("3d", "2026-11-14T20:30:00+02:00"),
        ("1w", "2026-11-10T20:30:00+02:00"),
        ("6mo", "2026-05-17T20:30:00+02:00"),
        ("last week", "2026-11-09T00:00:00+02:00"),
        ("this week", "2026-11-16T00:00:00+02:00"),
        ("last month", "2026-10-01T00:00:00+02:00"),
        ("monday", "2026-11-16T00:00:00+02:00"),
        ("last friday", "2026-11-13T00:00:00+02:00"),
        ("8 May 2023", "2023-05-08T00:00:00+02:00"),
        ("march", "2026-03-01T00:00:00+02:00"),
        ("March 2025", "2025-03-01T00:00:00+02:00"),
        ("2025", "2025-01-01T00:00:00+02:00"),
    ],
)
def test_a_time_is_understood_as_people_say_it(said: str, meant: str) -> None:
    expected = datetime.fromisoformat(meant).astimezone(UTC)
    assert datetime.fromtimestamp(moment(said, NOW, name="since") / 1e6, UTC) == expected


@pytest.mark.parametrize(
    "said",
    [
        "2027 years ago",
        "999999mo",
        "",
        "  ",
        "soon",
        "banana yesterday",
        "31.02.2026",
        "25:00",
        "h",
        "9999999999999d",
        "2x",
        "\0",
    ],
)
def test_what_is_no_time_is_refused_with_examples(said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        moment(said, NOW, name="since")
    assert "since" in refused.value.message
    assert "yesterday" in refused.value.message
