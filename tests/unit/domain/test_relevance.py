"""Only a memory that is really about the prompt may interrupt it."""

import pytest

from iai_mcp.domain.relevance import Match, Prompt, confident, match, rarity, read_prompt


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "ok, go on please",
        "continue",
        "thanks!",
        "try again",
        "",
        "push it",
        "run the tests",
        "open a PR for this",
        "commit this and push",
        "please review my changes",
    ],
)
def test_small_talk_asks_for_nothing(text: str) -> None:
    assert not read_prompt(text).worth_asking


@pytest.mark.parametrize(
    "text",
    ["why does the login time out?", "fix `parse_header`", "welcher Port hat die Datenbank?"],
)
def test_a_real_question_is_worth_asking(text: str) -> None:
    assert read_prompt(text).worth_asking


def test_words_and_names_are_compared() -> None:
    prompt = read_prompt("why does parse_header fail on empty cookies?")
    rare = dict.fromkeys(prompt.terms, 5.0)
    found = match(prompt, "parse_header fails when cookies are empty", "", 0.4, rare)
    assert found.named
    assert found.coverage >= 0.6
    assert match(prompt, "the cake was lemon", "", 0.1, rare).coverage == 0
    assert match(Prompt(frozenset(), ()), "anything", "", None, {}) == Match(None, 0.0, 0.0, False)


def test_words_that_stand_only_in_the_request_count_less() -> None:
    prompt = read_prompt("the staging database lost its replica")
    rare = dict.fromkeys(prompt.terms, 5.0)
    told = match(prompt, "The staging database has a replica again.", "", 0.6, rare)
    nodded = match(prompt, "All tests pass.", "the staging database has no replica", 0.6, rare)
    assert 0 < nodded.rarity < told.rarity


def test_a_word_that_every_turn_holds_is_not_rare() -> None:
    assert rarity(1000, 1) > rarity(1000, 100) > rarity(1000, 900)
    assert rarity(0, 0) > 0  # a store that has heard nothing can not know


@pytest.mark.parametrize(
    ("found", "auto", "on"),
    [
        (Match(0.7, 20.0, 0.6, False), True, True),
        (Match(0.7, 3.0, 0.6, False), False, False),  # means the same, in words that all say
        (Match(0.3, 20.0, 0.6, False), False, False),  # has the same words, of another matter
        (Match(0.7, 20.0, 0.2, False), False, False),
        (Match(0.6, 12.0, 0.33, False), True, True),  # a third of a long prompt, in rare words
        (Match(0.45, 9.0, 0.35, False), False, True),
        (Match(0.45, 9.0, 0.3, True), True, True),
        (Match(0.1, 12.0, 0.6, True), True, True),
        (Match(0.1, 12.0, 0.1, True), False, False),
        (Match(None, 20.0, 0.7, False), True, True),
        (Match(None, 20.0, 0.5, False), False, False),
    ],
)
def test_the_bar_asks_for_meaning_and_rare_words_both(found: Match, auto: bool, on: bool) -> None:
    assert (confident(found, "auto") is not None) is auto
    assert (confident(found, "on") is not None) is on
    assert confident(found, "off") is None
