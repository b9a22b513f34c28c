"""Sentences of a person that may still apply: few, and true."""

import time

import pytest

from iai_mcp.domain.standing_quotes import asks_to_remember, standing_quotes


@pytest.mark.parametrize(
    "said",
    [
        "always run the linter before you commit",
        "From now on, end all method names with '_x'.",
        "We never deploy on Fridays.",
        "please never push to main",
        "in this repo we want to commit the generated state",
        "we don't want new dependencies for this kind of thing",
        "We should add the agent name to any logging",
        "make sure that every endpoint has a timeout",
        "Bitte künftig auf Deutsch antworten.",
        "以后周五下午一律不上线",
        "今後は必ずテストを書いてください",
        "никогда не пушь в main напрямую",
    ],
)
def test_what_is_said_for_good_is_quoted(said: str) -> None:
    assert standing_quotes(said) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "commit your changes",
        "commit our changes in two commits please",
        "ok push all this up and lets get it merged",
        "is fine, ensure we log",
        "3, but enabled by default",
        "can we always use tabs?",
        "the function is defined in testenv.go but never called anywhere",
        "we should revert this",
        "fix all of the failing tests",
        "I want to talk about secrets.",
        "what I want is:",
        "> always quoted by somebody else",
        "- must never be reached, says the log",
        "yes",
        "",
    ],
)
def test_what_is_asked_for_once_is_not(said: str) -> None:
    assert standing_quotes(said) == []


def test_of_a_prompt_only_the_sentence_is_quoted() -> None:
    said = "The tests are red again. Always run them before you say you are done! Can you look?"
    assert standing_quotes(said) == ["Always run them before you say you are done!"]


def test_a_pasted_page_states_nothing() -> None:
    assert standing_quotes("never do this. " * 100) == []


@pytest.mark.parametrize(
    "said",
    ["remember: the till listens on 5433", "Please remember that we squash", "记住：不要改它"],
)
def test_who_asks_to_remember_is_heard(said: str) -> None:
    assert asks_to_remember(said)


@pytest.mark.parametrize("said", ["I remember now, it was the cache", "do you remember?", ""])
def test_who_only_remembers_asks_for_nothing(said: str) -> None:
    assert not asks_to_remember(said)


@pytest.mark.parametrize(
    "unit", ["we want ", "all ", ". ", ", ", "\n", "。", "please ", "I'd like "]
)
def test_no_prompt_takes_long(unit: str) -> None:
    began = time.process_time()
    standing_quotes(unit * 100_000)
    standing_quotes((unit * 600)[:600])
    assert time.process_time() - began < 0.5
