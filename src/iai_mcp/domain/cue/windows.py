"""A stretch of time that a cue names, and how near a moment is to it.

People write about an event on the day or in the days after it, seldom before: so
closeness falls slowly behind a window and quickly ahead of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

Seconds = NDArray[np.float64]

# Over how many seconds closeness falls from one to nothing, on each side.
FALL_AFTER = 14 * 86400.0
FALL_BEFORE = 7 * 86400.0
# How many years back a date without a year is looked for, and what a year before the latest is worth.
YEARS_BACK = 10
OLDER_YEAR = 0.7


@dataclass(frozen=True, slots=True)
class Window:
    """From `start` up to, not including, `end`. `weight` is what being inside is worth."""

    start: datetime
    end: datetime
    weight: float = 1.0

    def closeness(self, moments: Seconds) -> Seconds:
        """1 inside, falling to 0; `moments` in seconds since 1970."""
        early = np.maximum(self.start.timestamp() - moments, 0.0) / FALL_BEFORE
        late = np.maximum(moments - self.end.timestamp(), 0.0) / FALL_AFTER
        return self.weight * np.maximum(1.0 - early - late, 0.0)


def closeness(windows: Iterable[Window], moments: Seconds) -> Seconds:
    """How near each moment is to the nearest of `windows`; 0 when there are none."""
    nearest = np.zeros(len(moments))
    for window in windows:
        nearest = np.maximum(nearest, window.closeness(moments))
    return nearest


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime, length: int = 1, weight: float = 1.0) -> Window:
    """`length` whole days from the one that `moment` lies in."""
    start = midnight(moment)
    return Window(start, start + timedelta(days=length), weight)


def around(moment: datetime, days: float) -> Window:
    return Window(moment - timedelta(days=days), moment + timedelta(days=days))


def month(year: int, number: int, like: datetime, weight: float = 1.0) -> Window:
    """A calendar month, in the time zone of `like`."""
    start = midnight(like).replace(year=year, month=number, day=1)
    after = start.replace(year=year + number // 12, month=number % 12 + 1)
    return Window(start, after, weight)


def month_of_any_year(number: int, now: datetime) -> Iterator[Window]:
    """That month in each of the last years, if it has begun."""
    weight = 1.0
    for back in range(YEARS_BACK):
        window = month(now.year - back, number, now, weight)
        if window.start <= now:
            yield window
            weight = OLDER_YEAR


def year(number: int, like: datetime) -> Window:
    start = midnight(like).replace(year=number, month=1, day=1)
    return Window(start, start.replace(year=number + 1))


def months_back(moment: datetime, count: int) -> datetime:
    """The same day `count` months earlier, or the last day of a shorter month.

    Raises:
        ValueError: that is before the calendar begins.
    """
    index = moment.year * 12 + moment.month - 1 - count
    for day_of_month in (moment.day, 30, 29, 28):
        try:
            return moment.replace(year=index // 12, month=index % 12 + 1, day=day_of_month)
        except ValueError:
            continue
    raise ValueError("no calendar goes back that far")  # every month has 28 days
