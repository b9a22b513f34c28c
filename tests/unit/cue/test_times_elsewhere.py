"""Times as cues in other languages name them."""

from datetime import UTC, datetime

import pytest

from iai_mcp.recall.query import parse_query

# A Wednesday.
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cue", "start"),
    [
        ("Was haben wir gestern über den Server beschlossen?", "2026-11-17"),
        ("Was war vorgestern mit dem Server?", "2026-11-16"),
        ("Qu'avons-nous décidé hier pour la base de données ?", "2026-11-17"),
        ("¿Qué decidimos ayer sobre el servidor?", "2026-11-17"),
        ("что мы решили вчера про сервер", "2026-11-17"),
        ("ماذا قررنا أمس عن الخادم", "2026-11-17"),
        ("我们昨天决定了什么", "2026-11-17"),
        ("昨日は何を決めましたか", "2026-11-17"),
        ("Was haben wir letzten Monat gebaut?", "2026-10-01"),
        ("le mois dernier, qu'avons-nous fait ?", "2026-10-01"),
        ("что было в прошлом месяце", "2026-10-01"),
        ("上个月发布了什么", "2026-10-01"),
        ("先月は何をしましたか", "2026-10-01"),
        ("Was war letztes Jahr mit dem Projekt?", "2025-01-01"),
        ("las caídas de el año pasado en el servidor", "2025-01-01"),
        ("Was haben wir im März 2025 beschlossen?", "2025-03-01"),
        ("¿qué hicimos en marzo de 2025?", "2025-03-01"),
        ("что мы делали в марте 2025", "2025-03-01"),
        ("2025年3月的决定", "2025-03-01"),
        ("2025年3月8日の決定", "2025-03-08"),
    ],
)
def test_a_time_is_understood_in_the_cues_language(cue: str, start: str) -> None:
    starts = {f"{window.start:%Y-%m-%d}" for window in parse_query(cue, now=NOW).windows}

    assert start in starts


@pytest.mark.parametrize(
    ("cue", "day"),
    [
        ("Was war vor zwei Wochen mit dem Server?", "2026-11-04"),
        ("il y a deux semaines, le serveur est tombé", "2026-11-04"),
        ("hace 2 semanas se cayó el servidor de la empresa", "2026-11-04"),
        ("что было две недели назад", "2026-11-04"),
        ("两周前的部署", "2026-11-04"),
        ("3日前の話", "2026-11-15"),
    ],
)
def test_some_time_ago_is_around_that_day(cue: str, day: str) -> None:
    moment = datetime.fromisoformat(f"{day}T15:30:00+00:00")

    assert any(window.start <= moment < window.end for window in parse_query(cue, now=NOW).windows)


def test_here_in_german_is_not_yesterday() -> None:
    assert parse_query("Was ist hier mit dem Server und der Datenbank?", now=NOW).windows == ()


@pytest.mark.parametrize(
    "cue",
    [
        "10000年前的事",
        "99999999999天前",
        "hace 3000 años se cayó el servidor de la empresa",
        "Was war vor 2026 Jahren mit dem Server?",
        "Was war vor ² Tagen mit dem Server?",
        "hace " + "1" * 5000 + " días se cayó el servidor de la empresa",
    ],
)
def test_what_no_calendar_reaches_is_no_time(cue: str) -> None:
    assert parse_query(cue, now=NOW).windows == ()
