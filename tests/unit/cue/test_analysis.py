"""A cue read once: words, meaning, speakers, time."""

from datetime import UTC, datetime

import pytest

from iai_mcp.domain.cue.analysis import read

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def test_words_that_say_nothing_are_not_looked_for() -> None:
    assert read("Which port does the database listen on?", NOW).terms == (
        "port", "database", "listen",
    )  # fmt: skip


def test_a_cue_of_nothing_but_stop_words_still_looks_for_something() -> None:
    assert read("what is it", NOW).terms != ()


@pytest.mark.parametrize(
    ("cue", "kept", "dropped"),
    [
        ("the war that made my son die", {"war", "son", "die"}, {"the", "that"}),
        ("Wo war der Server für die Datenbank?", {"server", "datenbank"}, {"war", "die", "der"}),
        ("où est la base de données", {"base", "données"}, {"est", "la"}),
        ("какой порт у базы данных", {"порт", "баз", "данн"}, {"какой", "у"}),
    ],
)
def test_stop_words_are_those_of_the_cues_language(
    cue: str, kept: set[str], dropped: set[str]
) -> None:
    terms = set(read(cue, NOW).terms)

    assert kept <= terms
    assert not dropped & terms


def test_the_meaning_leaves_out_names_and_politeness() -> None:
    reading = read("Can you remind me what Caroline's brother does?", NOW, ["Caroline", "Mel"])

    assert reading.speakers == ("Caroline",)
    assert "Caroline" not in reading.meaning
    assert "remind" not in reading.meaning
    assert "brother" in reading.meaning


def test_a_cue_that_is_only_a_name_keeps_it() -> None:
    assert read("Caroline?", NOW, ["Caroline"]).meaning == "Caroline?"


def test_a_question_about_an_answer_is_about_the_assistant() -> None:
    assert read("what did you suggest for the cache? you said something", NOW).of_the_assistant
    assert not read("what did I say about the cache?", NOW).of_the_assistant


@pytest.mark.parametrize(
    ("cue", "of_the_speaker"),
    [
        ("Which desk did I buy?", True),
        ("what is my sister called", True),
        ("Was war mein Plan?", True),
        ("Which index does the import use?", False),
    ],
)
def test_a_cue_about_who_asks_is_told_from_one_about_the_matter(
    cue: str, of_the_speaker: bool
) -> None:
    assert read(cue, NOW).of_the_speaker is of_the_speaker
