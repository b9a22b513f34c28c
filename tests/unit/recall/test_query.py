"""A question parsed: words, meaning, exact parts, times, speakers."""

from datetime import UTC, datetime

import pytest

from iai_mcp.recall.query import Query, parse_query

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def parsed(cue: str, *wordings: str, speakers: tuple[str, ...] = ()) -> Query:
    return parse_query(cue, wordings, now=NOW, speakers=speakers)


def terms(cue: str) -> tuple[str, ...]:
    return parsed(cue).wordings[0].terms


def test_words_that_say_nothing_are_not_looked_for() -> None:
    assert set(terms("Which port does the database listen on?")) == {"port", "database", "listen"}


def test_a_cue_of_nothing_but_stop_words_still_looks_for_something() -> None:
    assert terms("what is it")
    assert terms("什么")


@pytest.mark.parametrize(
    ("cue", "kept", "dropped"),
    [
        ("the war that made my son die", {"war", "son", "die"}, {"the", "that"}),
        ("Wo war der Server für die Datenbank?", {"server", "datenbank"}, {"war", "die", "der"}),
        ("où est la base de données", {"base", "données"}, {"est", "la"}),
        ("当初为什么没走 Redis 扣减？", {"扣减", "redis"}, {"为什", "什么"}),
    ],
)
def test_stop_words_are_those_of_the_cues_language(
    cue: str, kept: set[str], dropped: set[str]
) -> None:
    assert kept <= set(terms(cue))
    assert not dropped & set(terms(cue))


def test_the_cue_comes_first_and_each_wording_once() -> None:
    query = parsed("why no redis?", "jobs in Postgres", "why no redis?", "jobs in Postgres")

    assert [one.meaning for one in query.wordings] == ["why no redis?", "jobs in Postgres"]


def test_exact_parts_times_and_speakers_come_from_the_cue_alone() -> None:
    wording = "PROJ-142 broke `make lint` yesterday, said Caroline"
    query = parsed("what broke?", wording, speakers=("Caroline",))

    assert (query.exact, query.windows, query.speakers) == ((), (), ())
    same = parsed(wording, speakers=("Caroline",))
    assert {"PROJ-142", "make lint"} <= set(same.exact)
    assert same.windows
    assert same.speakers == ("Caroline",)


def test_a_named_speaker_is_no_word_and_no_meaning() -> None:
    first = parsed("what does Caroline's brother do?", speakers=("Caroline", "Mel")).wordings[0]

    assert "caroline" not in first.terms
    assert "Caroline" not in first.meaning
    assert parsed("Caroline?", speakers=("Caroline",)).wordings[0].meaning == "Caroline?"


def test_a_year_is_a_time_and_no_exact_part_where_the_cue_names_a_time() -> None:
    assert "2025" not in parsed("what did we decide in March 2025?").exact
    assert "5432" in parsed("who listens on 5432 since March 2025?").exact
