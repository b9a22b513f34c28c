import pytest

from iai_mcp.domain.ruling_cues import asking_words, asks_for_a_rule, weighed


@pytest.mark.parametrize(
    "cue",
    [
        "should generated files be committed?",
        "May tests share one database?",
        "our convention for branch names",
        "what do I want log lines to look like?",
        "unused parameter: keep or remove?",
        "There is one left. Right? Unused parameter: keep it, or remove it? \n",
        "is the lock file supposed to be ignored",
        "Sollen Migrationen von Hand geschrieben werden?",
        "提交信息应该怎么写?",
    ],
)
def test_a_cue_may_ask_for_a_rule(cue: str) -> None:
    assert asks_for_a_rule(cue)


@pytest.mark.parametrize(
    "cue",
    [
        "why did the nightly build fail in May 2025?",
        "which port does the broker listen on",
        "where is the retry loop",
        "what was released in May?",
        "unused parameter: keep or remove? It is in the parser.",
        "a parser: one or two? Where is it?",
        "keep or remove: the parser?",
        "parser: where is the error?",
    ],
)
def test_other_cues_do_not(cue: str) -> None:
    assert not asks_for_a_rule(cue)


def test_what_asks_for_a_rule_is_told_in_a_choice_too() -> None:
    assert asking_words("unused parameter: should we keep or remove it?") == {"should"}


def test_a_ruling_about_something_else_weighs_nothing() -> None:
    assert not weighed(0.0, 0.1, 0.0)
    assert weighed(0.0, 0.5, 0.0)
    assert weighed(0.2, None, 0.0)
