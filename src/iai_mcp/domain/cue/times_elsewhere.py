"""Times as German, French, Spanish, Russian, Arabic, Chinese and Japanese cues name them."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from iai_mcp.domain.cue.windows import (
    Window,
    around,
    day,
    midnight,
    month,
    month_of_any_year,
    months_back,
    year,
)

# What is meant -> how it is said. "hier" is here in German and yesterday in French: it counts
# only where French is spoken.
_DAYS: Mapping[int, str] = {
    0: r"\bheute\b|\baujourd['’]hui\b|\bhoy\b|\bсегодня\b|(?<!\w)اليوم(?!\w)|今天|今日",
    1: r"\bgestern\b|\bayer\b|\bвчера\b|(?<!\w)(?<!أول )أمس(?!\w)|昨天|(?<!一)昨日",
    2: r"\bvorgestern\b|\bavant-hier\b|\banteayer\b|\bпозавчера\b|أول أمس|前天|一昨日",
}
_FRENCH_YESTERDAY = r"(?<!avant-)\bhier\b"
_LAST: Mapping[str, str] = {
    "week": r"\b(?:letzte|vergangene|vorige)n? woche\b|\bla semaine (?:dernière|passée)\b"
    r"|\bla semana pasada\b|\bпрошл\w+ недел\w+|الأسبوع الماضي|上(?:个)?(?:周|星期|礼拜)|先週",
    "month": r"\b(?:letzten|vergangenen|vorigen) monat\b|\ble mois (?:dernier|passé)\b"
    r"|\bel mes pasado\b|\bпрошл\w+ месяц\w*|الشهر الماضي|上(?:个)?月|先月",
    "year": r"\b(?:letztes|vergangenes|voriges|letzten) jahr\b|\bl['’]an(?:née)? dernière?\b"
    r"|\bel año pasado\b|\bпрошл\w+ год\w*|(?:العام|السنة) الماضية?|去年|昨年",
}
_NUMBER = r"(?P<n>\d{1,3}|\w+)"
_AGO = re.compile(
    rf"\bvor {_NUMBER} (?P<de>tag|woche|monat|jahr)\w*"
    r"|\bil y a (?P<n2>\w+) (?P<fr>jour|semaine|mois|an)\w*"
    r"|\bhace (?P<n3>\w+) (?P<es>día|dia|semana|mes|año)\w*"
    r"|\b(?P<n4>\w+) (?P<ru>дн|день|недел|месяц|год|лет)\w* назад"
    r"|قبل (?P<n5>\w+) (?P<ar>يوم|أيام|أسبوع|أسابيع|شهر|أشهر|سنة|سنوات)"
    r"|(?P<n6>(?<!\d)\d{1,9}|[一二两三四五六七八九十])(?:个)?(?P<zh>天|日|周|週間|星期|月|か月|ヶ月|年)(?:之)?前",
    re.IGNORECASE,
)
_UNITS: Mapping[str, str] = {
    "tag": "day", "woche": "week", "monat": "month", "jahr": "year",
    "jour": "day", "semaine": "week", "mois": "month", "an": "year",
    "día": "day", "dia": "day", "semana": "week", "mes": "month", "año": "year",
    "дн": "day", "день": "day", "недел": "week", "месяц": "month", "год": "year", "лет": "year",
    "يوم": "day", "أيام": "day", "أسبوع": "week", "أسابيع": "week", "شهر": "month",
    "أشهر": "month", "سنة": "year", "سنوات": "year",
    "天": "day", "日": "day", "周": "week", "週間": "week", "星期": "week", "月": "month",
    "か月": "month", "ヶ月": "month", "年": "year",
}  # fmt: skip
_ABOUT: Mapping[str, float] = {"day": 0.6, "week": 3.0, "month": 10.0, "year": 90.0}  # days
_NUMBERS: Mapping[str, int] = {
    "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "un": 1, "une": 1,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "una": 1, "dos": 2, "tres": 3, "cuatro": 4,
    "cinco": 5, "два": 2, "две": 2, "три": 3, "четыре": 4, "пять": 5, "ثلاثة": 3, "أربعة": 4,
    "خمسة": 5, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10,
}  # fmt: skip
_MONTHS: tuple[str, ...] = (
    r"januar|jänner|janvier|enero|январ\w+|يناير|كانون الثاني",
    r"februar|février|febrero|феврал\w+|فبراير|شباط",
    r"märz|mars|marzo|март\w*|مارس|آذار",
    r"april|avril|abril|апрел\w+|أبريل|نيسان",
    r"mai|mayo|ма[йяе]|مايو|أيار",
    r"juni|juin|junio|июн\w+|يونيو|حزيران",
    r"juli|juillet|julio|июл\w+|يوليو|تموز",
    r"august|août|agosto|август\w*|أغسطس|آب",
    r"september|septembre|septiembre|сентябр\w+|سبتمبر|أيلول",
    r"oktober|octobre|octubre|октябр\w+|أكتوبر|تشرين الأول",
    r"november|novembre|noviembre|ноябр\w+|نوفمبر|تشرين الثاني",
    r"dezember|décembre|diciembre|декабр\w+|ديسمبر|كانون الأول",
)
_IN = r"(?:\b(?:im|en|au mois de|in|в|vom|seit|de)\s|(?<!\w)في (?:شهر )?)"
_IN_MONTH = tuple(
    re.compile(rf"{_IN}(?:{names})(?!\w)(?:\s+(?:de\s+)?(?P<year>20\d\d))?", re.IGNORECASE)
    for names in _MONTHS
)
_EASTERN = re.compile(
    r"(?:(?P<year>20\d\d)年)?(?P<month>1[0-2]|[1-9])月(?:(?P<day>\d{1,2})[日号])?"
)
_DAY_PATTERNS = tuple((back, re.compile(said, re.IGNORECASE)) for back, said in _DAYS.items())
_LAST_PATTERNS = tuple((unit, re.compile(said, re.IGNORECASE)) for unit, said in _LAST.items())
_HIER = re.compile(_FRENCH_YESTERDAY, re.IGNORECASE)


def windows_elsewhere(cue: str, now: datetime, language: str) -> tuple[Window, ...]:
    """Every stretch of time that `cue` names in a language other than English."""
    found: list[Window] = []
    for back, pattern in _DAY_PATTERNS:
        if pattern.search(cue) or (back == 1 and language == "fr" and _HIER.search(cue)):
            found.append(day(now - timedelta(days=back)))
    for unit, pattern in _LAST_PATTERNS:
        if pattern.search(cue):
            found.append(_last(unit, now))
    found += _ago(cue, now)
    found += _months(cue, now)
    return tuple(found)


def _last(unit: str, now: datetime) -> Window:
    if unit == "week":
        monday = midnight(now) - timedelta(days=now.weekday())
        return Window(min(midnight(now), monday) - timedelta(days=7), now)
    if unit == "month":
        before = months_back(now, 1)
        return month(before.year, before.month, now)
    return year(now.year - 1, now)


def _ago(cue: str, now: datetime) -> Iterator[Window]:
    for match in _AGO.finditer(cue):
        given = match.groupdict()
        said = next(given[name] for name in ("n", "n2", "n3", "n4", "n5", "n6") if given[name])
        named = next(given[name] for name in ("de", "fr", "es", "ru", "ar", "zh") if given[name])
        unit = _UNITS[named.lower()]
        try:
            moment = _back(now, _NUMBERS.get(said.lower()) or int(said), unit)
            window = around(moment, _ABOUT[unit])
        except (ValueError, OverflowError):
            continue  # no number, or no calendar goes back that far
        yield window


def _back(now: datetime, count: int, unit: str) -> datetime:
    if unit in ("day", "week"):
        return now - timedelta(days=count * (1 if unit == "day" else 7))
    return months_back(now, count * (1 if unit == "month" else 12))


def _months(cue: str, now: datetime) -> Iterator[Window]:
    for number, pattern in enumerate(_IN_MONTH, 1):
        for match in pattern.finditer(cue):
            yield from _month_of(number, match["year"], now)
    for match in _EASTERN.finditer(cue):
        if match["day"]:
            yield from _day_of(match, now)
        else:
            yield from _month_of(int(match["month"]), match["year"], now)


def _month_of(number: int, named: str | None, now: datetime) -> Iterator[Window]:
    if named:
        yield month(int(named), number, now)
    else:
        yield from month_of_any_year(number, now)


def _day_of(match: re.Match[str], now: datetime) -> Iterator[Window]:
    years = [int(match["year"])] if match["year"] else [now.year, now.year - 1]
    for number in years:
        try:
            start = midnight(now).replace(
                year=number, month=int(match["month"]), day=int(match["day"])
            )
        except ValueError:
            continue  # there is no such day
        if start <= now:
            yield day(start)
            return
