"""When stored work is worth telling unasked: an exact part that few others hold, or several rare words."""

import pytest

from iai_mcp.domain.prompt_match import agreement, rarity, read_prompt

ASKED = "why does parse_header drop the empty cookies of the shop?"


def agrees(prompt: str, said: str, worth: float = 5.0, mode: str = "auto") -> str | None:
    read = read_prompt(prompt)
    found = agreement(read, said, dict.fromkeys(read.terms, worth), mode)  # type: ignore[arg-type]
    return None if found is None else found.why


def test_an_exact_part_is_enough() -> None:
    assert agrees(ASKED, "parse_header was renamed") == "it names parse_header"


def test_an_exact_part_that_stands_everywhere_is_not() -> None:
    assert agrees(ASKED, "parse_header was renamed", worth=1.0) is None


def test_several_rare_words_are_enough_and_few_are_not() -> None:
    asked = "the staging replica of Oslo lags at midnight"
    assert agrees(asked, "the replica in staging lags a lot") == "rare words agree"
    assert agrees(asked, "the replica is fine") is None
    assert agrees("fix the failing tests", "fix the failing tests") is None


def test_a_long_prompt_needs_more_than_a_few_of_its_words() -> None:
    prompt = "the staging replica lags " + " ".join(f"word{n}x" for n in range(20))
    assert agrees(prompt, "the replica in staging lags") is None


def test_a_name_written_like_a_class_needs_words_beside_it() -> None:
    assert agrees("add a GitHub badge", "the GitHub token is set") is None
    assert agrees("why is the GitHub token expired?", "the GitHub token is expired again")


@pytest.mark.parametrize("prompt", ["yes", "push it", "run the tests", "", "v2", "#1"])
def test_small_talk_agrees_with_nothing(prompt: str) -> None:
    assert agrees(prompt, "yes, push it: run the tests of v2 and #1") is None


def test_turned_off_nothing_agrees() -> None:
    assert agrees(ASKED, ASKED, mode="off") is None


def test_a_word_that_every_turn_holds_is_not_rare() -> None:
    assert rarity(1000, 1) > rarity(1000, 100) > rarity(1000, 900)
    assert rarity(0, 0) > 0  # a store that has heard nothing can not know
