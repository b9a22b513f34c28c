"""Only a memory that is really about the prompt may interrupt it."""

import pytest

from iai_mcp.domain.relevance import Match, Prompt, confident, match, read_prompt


@pytest.mark.parametrize(
    "text", ["yes", "ok, go on please", "continue", "thanks!", "try again", ""]
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
    found = match(prompt, "parse_header fails when cookies are empty", 0.4)
    assert found.named
    assert found.coverage >= 0.6
    assert match(prompt, "the cake was lemon", 0.1).coverage == 0
    assert match(Prompt(frozenset(), ()), "anything", None) == Match(None, 0.0, False)


@pytest.mark.parametrize(
    ("found", "auto", "on"),
    [
        (Match(0.7, 0.0, False), True, True),
        (Match(0.45, 0.7, False), True, True),
        (Match(0.45, 0.1, False), False, True),
        (Match(0.45, 0.1, True), True, True),
        (Match(0.1, 0.5, True), True, True),
        (Match(0.1, 0.1, True), False, False),
        (Match(0.3, 0.2, False), False, False),
        (Match(None, 0.7, False), True, True),
        (Match(None, 0.4, False), False, False),
    ],
)
def test_the_bar_is_higher_in_auto_than_in_on(found: Match, auto: bool, on: bool) -> None:
    assert (confident(found, "auto") is not None) is auto
    assert (confident(found, "on") is not None) is on
    assert confident(found, "off") is None
