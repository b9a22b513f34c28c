"""Rules that apply to what a prompt asks to make are found by what they are about."""

import pytest

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.rule_register import register
from iai_mcp.domain.rule_topics import applying, task
from iai_mcp.domain.rulings import rulings

RULES = (
    "Start all attribute names with 'a_'.",
    "End all function names with '_x'.",
    "Always use docstrings in methods.",
    "Always add comments to the code.",
    "Always import the 'secrets' module.",
    "Never push to main without a review.",
    "The changelog must always link the pull request.",
)


def brought(prompt: str) -> set[str]:
    asked = task(prompt)
    if asked is None:
        return set()
    said = [
        Memory(key=key, id=f"m{key}", text=text, role="user", at=from_micros(key))
        for key, text in enumerate(RULES, 1)
    ]
    found = register((memory, rulings(memory.text)) for memory in said)
    return {rule.ruling.sentence for rule in applying(found.holding, asked)}


def test_a_class_brings_the_rules_for_classes_and_for_all_code() -> None:
    assert brought("Write a cache class with get and put methods.") == {
        RULES[0],
        RULES[2],
        RULES[3],
        RULES[4],
    }


def test_a_function_brings_the_rules_for_functions_and_for_all_code() -> None:
    assert brought("Write a function that merges two lists") == {RULES[1], RULES[3], RULES[4]}


def test_a_rule_about_something_else_comes_where_the_prompt_speaks_of_it() -> None:
    assert RULES[6] in brought("draft the changelog entry for that pull request")


@pytest.mark.parametrize("prompt", ["push it", "what does this class do?", "write me a haiku"])
def test_what_makes_nothing_that_a_rule_is_about_brings_none(prompt: str) -> None:
    assert brought(prompt) == set()
