"""Rules that apply to what a prompt asks to make are found by what they are about."""

import pytest
from tests.support.generic_prompts import GENERIC_PROMPTS

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.relevance import read_prompt
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


NEVER_TO_MAIN = "never commit to main directly, always open a branch"
RUFF = "use ruff, not flake8, for linting"
ASK_FIRST = "no new dependencies without asking me"
SLOW = "never run the integration tests, too slow"
DOINGS = (NEVER_TO_MAIN, RUFF, ASK_FIRST, SLOW, "Always add comments to the code.")


def brought(prompt: str, rules: tuple[str, ...] = RULES) -> set[str]:
    asked = task(prompt, small_talk=not read_prompt(prompt).worth_asking)
    if asked is None:
        return set()
    said = [
        Memory(key=key, id=f"m{key}", text=text, role="user", at=from_micros(key))
        for key, text in enumerate(rules, 1)
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


@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("commit it to main", NEVER_TO_MAIN),
        ("ok, please commit this to main", NEVER_TO_MAIN),
        ("run the linter", RUFF),
        ("can you run the linter?", RUFF),
        ("install a dependency for dates", ASK_FIRST),
        ("add the dayjs package", ASK_FIRST),
        ("run the integration tests", SLOW),
    ],
)
def test_what_is_asked_to_be_done_brings_the_rule_about_just_that(prompt: str, rule: str) -> None:
    assert brought(prompt, DOINGS) == {rule}


@pytest.mark.parametrize(
    "prompt",
    [
        "commit",
        "commit this please",
        "push it",
        "run the tests",
        "update the dependencies",
        "add some comments",
        "open a pull request",
        "what happens if I commit to main?",
        "how do I run the linter?",
        "lint is failing, please fix",
    ],
)
def test_what_a_rule_is_only_near_to_brings_none(prompt: str) -> None:
    assert brought(prompt, DOINGS) == set()


def test_a_tool_for_one_thing_is_no_rule_about_the_next_clause() -> None:
    rules = ("always use ruff for linting, then commit",)
    assert brought("commit this please", rules) == set()
    assert brought("run the linter", rules) == set(rules)


def test_the_generic_prompts_bring_only_a_rule_that_is_about_them() -> None:
    assert {prompt for prompt in GENERIC_PROMPTS if brought(prompt, DOINGS)} == {
        "run the linter",
        "run lint and format",
    }
