"""A time as people say it: a date, "yesterday", "last week", "3 days ago", "2h".

A word for a stretch of time means its beginning. Digits without an offset mean UTC, as on the wire;
words go by the clock of whoever says them.
"""

import re
from datetime import datetime, timedelta

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import instant

_LONGEST = 100  # characters: nobody says a time in more
EXAMPLES = "2026-03-01, 1.3.2026, 2026-03-01T09:30Z, yesterday, 'last week', '3 days ago', 2h"

_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})\b(.*)")
_YEAR_FIRST = re.compile(r"(\d{4})[./](\d{1,2})[./](\d{1,2})\b(.*)")
_CLOCK = re.compile(r"(?:(?P<day>.+?)\s+)?(?:at\s+)?(?P<hour>\d{1,2}):(?P<minute>\d\d)")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_AGO = re.compile(rf"(\d{{1,6}}|{'|'.join(_COUNTS)})\s*([a-z]+?)s?(?:\s+ago)?")
_SECONDS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
    "hour": 3600, "d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800,
}  # fmt: skip
_MONTHS = {"mo": 1, "month": 1, "y": 12, "yr": 12, "year": 12}
# A weekday and a month stand alone here; in a cue they would be too easily something else.
_IN_A_CUE = ("{}", "last {}", "in {}")


def moment(said: str, now: datetime, *, name: str) -> int:
    """What `said` means to somebody whose clock shows `now`, in microseconds since the epoch.

    Raises:
        InvalidInput: it is no time that we understand.
    """
    said = said.strip()[: _LONGEST + 1]
    try:
        return instant(_in_digits(said), name=name).micros
    except InvalidInput as unknown:
        meant = _in_words(said.lower(), now) if len(said) <= _LONGEST else None
        if meant is None:
            raise InvalidInput(
                f"{said[:40]!r} is no time for {name}: say it as {EXAMPLES}"
            ) from unknown
        return int(meant.timestamp() * 1e6)


def seconds_in(said: str, *, name: str) -> int:
    """How long `said` is: 3600, 90m, 2h, "3 days".

    Raises:
        InvalidInput: it is no stretch of time that we understand.
    """
    text = said.strip()[: _LONGEST + 1].lower()
    found = _AGO.fullmatch(text if not text.isdecimal() else f"{text}s")
    if found is None or found[2] not in _SECONDS:
        raise InvalidInput(f"{said[:40]!r} is no length for {name}: say it as 3600, 90m, 2h or 3d")
    return _count(found[1]) * _SECONDS[found[2]]


def _in_digits(text: str) -> str:
    """A date with dots or slashes as ISO-8601 writes it."""
    for pattern, order in ((_DAY_FIRST, (3, 2, 1)), (_YEAR_FIRST, (1, 2, 3))):
        found = pattern.fullmatch(text)
        if found:
            year, month, day = (int(found[place]) for place in order)
            return f"{year:04}-{month:02}-{day:02}{found[4]}"
    return text


def _in_words(text: str, now: datetime) -> datetime | None:
    try:
        return _back(text, now) or _on_the_clock(text, now) or _beginning(text, now)
    except (ValueError, OverflowError):  # beyond the calendar, or no hour of a day
        return None


def _back(text: str, now: datetime) -> datetime | None:
    if text == "now":
        return now
    found = _AGO.fullmatch(text)
    if found is None:
        return None
    count, unit = _count(found[1]), found[2]
    if unit in _SECONDS:
        return now - timedelta(seconds=count * _SECONDS[unit])
    if unit not in _MONTHS:
        return None
    from iai_mcp.domain.cue.windows import months_back  # late: it brings numpy

    return months_back(now, count * _MONTHS[unit])


def _count(text: str) -> int:
    return _COUNTS.get(text) or int(text)


def _on_the_clock(text: str, now: datetime) -> datetime | None:
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    day = _beginning(found["day"] or "today", now)
    return day and day.replace(hour=int(found["hour"]), minute=int(found["minute"]))


def _beginning(text: str, now: datetime) -> datetime | None:
    """Where the stretch of time begins that `text` and nothing else names."""
    from iai_mcp.domain.cue.times import windows  # late: it brings numpy

    for form in _IN_A_CUE:
        spoken = windows(form.format(text.title() if text.isalpha() else text), now, whole=True)
        if spoken:
            return spoken[0].start
    return None
