"""The times a cue speaks of: "yesterday", "in March", "8 May 2023", "two weeks ago".

Read against the caller's clock and time zone. A day or month without a year can mean any
year; the latest one past counts most.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from iai_mcp.domain.cue.windows import (
    OLDER_YEAR,
    YEARS_BACK,
    Window,
    around,
    day,
    midnight,
    month,
    month_of_any_year,
    months_back,
    year,
)

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
_MONTH += r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})"
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "couple": 2, "few": 3, "several": 4,
}  # fmt: skip
_COUNT = r"(?P<count>\d{1,3}|a couple(?: of)?|a few|several|couple(?: of)?|few|" + "|".join(
    word for word in _COUNTS if word not in ("couple", "few", "several")
)
_COUNT += ")"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"

_HOLIDAYS = {
    "valentine": (2, 14), "halloween": (10, 31), "christmas eve": (12, 24),
    "christmas": (12, 25), "new year's eve": (12, 31), "new year": (1, 1),
}  # fmt: skip
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "fall": (9, 11), "autumn": (9, 11)}

# Whatever the readers below understand holds one of these; most cues hold none, and are read once.
_NO_TIME_WITHOUT = re.compile(
    r"\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|day|week|month|year|night|morning|afternoon"
    r"|evening|spring|summer|fall|autumn|valentine|halloween|christmas",
    re.IGNORECASE,
)

_Reader = Callable[[re.Match[str], datetime], Iterator[Window]]


def windows(cue: str, now: datetime, *, whole: bool = False) -> tuple[Window, ...]:
    """Every stretch of time that `cue` names, in the order of the readers below.

    "Last Friday" beside a full date is counted from that date, else from `now`. `whole`: none unless
    the cue speaks of nothing else.
    """
    if _NO_TIME_WITHOUT.search(cue) is None:
        return ()
    dated, rest = _read(_DATES, cue, now)
    whole_days = [window for window in dated if window.end - window.start == timedelta(days=1)]
    anchor = whole_days[0].start if len(whole_days) == 1 else now
    relative, rest = _read(_RELATIVE, rest, anchor)
    return () if whole and rest.strip() else (*dated, *relative)


def _read(
    readers: Iterable[tuple[re.Pattern[str], _Reader]], cue: str, now: datetime
) -> tuple[list[Window], str]:
    """What the readers understood, and the cue with that blanked, so that it is read once."""
    found: list[Window] = []
    for pattern, reader in readers:
        for match in list(pattern.finditer(cue)):
            try:
                understood = list(reader(match, now))
            except (ValueError, OverflowError):
                continue  # the 31st of February names no day
            if understood:
                found.extend(understood)
                cue = cue[: match.start()] + " " * len(match[0]) + cue[match.end() :]
    return found, cue


def _number(words: str) -> int:
    last = words.lower().removesuffix(" of").split()[-1]
    return int(last) if last.isdigit() else _COUNTS[last]


def _month_number(name: str) -> int:
    return next(i for i, full in enumerate(MONTHS, 1) if full.startswith(name.lower()[:3]))


def _back(now: datetime, count: int, unit: str) -> datetime:
    if unit in ("day", "week"):
        return now - timedelta(days=count * (1 if unit == "day" else 7))
    return months_back(now, count * (1 if unit == "month" else 12))


def _any_year(now: datetime, number: int, day_of_month: int) -> Iterator[Window]:
    """That day in each of the last years."""
    weight = 1.0
    for back in range(YEARS_BACK):
        start = midnight(now).replace(year=now.year - back, month=number, day=day_of_month)
        if start <= now:
            yield day(start, weight=weight)
            weight = OLDER_YEAR


def _date(match: re.Match[str], now: datetime) -> Iterator[Window]:
    number = _month_number(match["month"])
    if match["year"]:
        start = midnight(now).replace(year=int(match["year"]), month=number, day=int(match["day"]))
        yield day(start)
    else:
        yield from _any_year(now, number, int(match["day"]))


def _iso(match: re.Match[str], now: datetime) -> Iterator[Window]:
    yield day(midnight(now).replace(year=int(match[1]), month=int(match[2]), day=int(match[3])))


def _slashes(match: re.Match[str], now: datetime) -> Iterator[Window]:
    number, day_of_month = int(match[1]), int(match[2])
    if number > 12:
        number, day_of_month = day_of_month, number
    if match[3]:
        full = int(match[3]) + (2000 if len(match[3]) == 2 else 0)
        yield day(midnight(now).replace(year=full, month=number, day=day_of_month))
    else:
        yield from _any_year(now, number, day_of_month)


def _before(match: re.Match[str], now: datetime) -> Iterator[Window]:
    """ "the week before 16 November 2023"."""
    for window in _date(match, now):
        length = {"day": 1, "week": 7, "weekend": 7, "month": 31}.get(match["span"].lower(), 7)
        yield Window(window.start - timedelta(days=length), window.start, window.weight)


def _month_year(match: re.Match[str], now: datetime) -> Iterator[Window]:
    yield month(int(match["year"]), _month_number(match["month"]), now)


def _month_alone(match: re.Match[str], now: datetime) -> Iterator[Window]:
    name = match["month"]
    # "may" and "march" are also verbs: only a capital says that the month is meant.
    if name[0].islower() and name.lower() in ("may", "march", "mar"):
        return
    yield from month_of_any_year(_month_number(name), now)


def _year_alone(match: re.Match[str], now: datetime) -> Iterator[Window]:
    yield year(int(match["year"]), now)


def _weekday_before(now: datetime, name: str) -> datetime:
    back = (now.weekday() - WEEKDAYS.index(name.lower())) % 7
    return now - timedelta(days=back or 7)


def _ago(match: re.Match[str], now: datetime) -> Iterator[Window]:
    vague = "couple" in match["count"].lower() or "few" in match["count"].lower()
    unit = match["unit"].lower()
    moment = _back(now, _number(match["count"]), unit)
    width = {"day": 0.6, "week": 3.0, "month": 10.0, "year": 90.0}[unit]
    weekday = match.groupdict().get("weekday")
    if weekday:
        yield day(_weekday_before(moment + timedelta(days=4), weekday))
    else:
        yield around(moment, width * (2 if vague else 1))


def _last_many(match: re.Match[str], now: datetime) -> Iterator[Window]:
    yield Window(midnight(_back(now, _number(match["count"]), match["unit"].lower())), now)


def _last_one(match: re.Match[str], now: datetime) -> Iterator[Window]:
    unit = match["unit"].lower()
    past = match["which"].lower() == "past"
    if unit == "week":
        monday = midnight(now) - timedelta(days=now.weekday())
        start = midnight(now) - timedelta(days=7)
        # On a Sunday "last week" is as often the seven days behind as the calendar's week.
        yield Window(start if past else min(start, monday - timedelta(days=7)), now)
    elif unit == "month":
        before = months_back(now, 1)
        yield Window(before, now) if past else month(before.year, before.month, now)
    elif unit == "year":
        yield year(now.year - 1, now)
    elif unit == "night":
        yield Window(midnight(now) - timedelta(hours=8), midnight(now) + timedelta(hours=5))
    elif unit == "weekend":
        yield day(_weekday_before(now, "saturday"), 2)
    else:
        yield day(_weekday_before(now, unit))


def _this(match: re.Match[str], now: datetime) -> Iterator[Window]:
    unit = match["unit"].lower()
    if unit == "week":
        yield Window(midnight(now) - timedelta(days=now.weekday()), now)
    elif unit == "month":
        yield month(now.year, now.month, now)
    elif unit == "year":
        yield year(now.year, now)
    else:
        yield day(now)


def _named_day(match: re.Match[str], now: datetime) -> Iterator[Window]:
    back = {"today": 0, "tonight": 0, "yesterday": 1, "day before yesterday": 2}
    yield day(now - timedelta(days=back[match[1].lower()]))


def _holiday(match: re.Match[str], now: datetime) -> Iterator[Window]:
    number, day_of_month = _HOLIDAYS[match[1].lower().replace("’", "'")]
    yield from _any_year(now, number, day_of_month)


def _season(match: re.Match[str], now: datetime) -> Iterator[Window]:
    first, last = _SEASONS[match["season"].lower()]
    which, named = match["which"], match["year"]
    years = [int(named)] if named else [now.year - back for back in range(YEARS_BACK)]
    for weight, number in zip([1.0] + [OLDER_YEAR] * YEARS_BACK, years, strict=False):
        start, end = month(number, first, now).start, month(number, last, now).end
        if start <= now and not (which == "last" and end > now):
            yield Window(start, end, weight)
        if which and start <= now:
            return


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_DAY_MONTH = rf"{_DAY} (?:of )?{_MONTH}(?:,? ?{_YEAR})?"
_MONTH_DAY = rf"{_MONTH} {_DAY}(?:,? ?{_YEAR})?"

_DATES: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b"), _iso),
    (re.compile(r"(?<![\w/.])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?(?![\w/])"), _slashes),
    (_pattern(rf"(?P<span>\w+) before {_DAY_MONTH}"), _before),
    (_pattern(rf"(?P<span>\w+) before {_MONTH_DAY}"), _before),
    (_pattern(_DAY_MONTH), _date),
    (_pattern(_MONTH_DAY), _date),
    (_pattern(rf"{_MONTH},? (?:of )?{_YEAR}"), _month_year),
)
_RELATIVE: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_pattern(rf"(?:(?:on )?(?:the )?{_WEEKDAY} )?{_COUNT} {_UNIT} ago"), _ago),
    (_pattern(rf"(?:last|past|previous|recent) {_COUNT} {_UNIT}"), _last_many),
    (
        _pattern(
            r"(?P<which>last|past|previous) (?P<unit>week|month|year|night|weekend|"
            + "|".join(WEEKDAYS)
            + ")"
        ),
        _last_one,
    ),
    (_pattern(r"this (?P<unit>week|month|year|morning|afternoon|evening)"), _this),
    (_pattern(r"(day before yesterday)"), _named_day),
    (_pattern(r"(yesterday|today|tonight)"), _named_day),
    (_pattern(r"(?:(?P<which>last|this) |the |of |in |during ){1,6}"
              rf"(?P<season>spring|summer|fall|autumn)(?:(?: of)? {_YEAR})?"), _season),
    (_pattern(r"(?:in|during|of|since|until|by|for|last|this|and|early|late|mid|between|from|to)"
              rf"[ -]{_MONTH}"), _month_alone),
    (_pattern(rf"(?:in|during|of|since|year|until|by|for) {_YEAR}"), _year_alone),
    (_pattern(r"(" + "|".join(sorted(_HOLIDAYS, key=len, reverse=True)) + ")"), _holiday),
)  # fmt: skip
