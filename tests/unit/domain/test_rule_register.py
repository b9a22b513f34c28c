"""Which rules hold: the newest version of each, and nothing that a later one replaced."""

import pytest

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Memory
from iai_mcp.domain.rule_register import Register, register
from iai_mcp.domain.rulings import Ruling, rulings


def _said(*texts: str) -> list[tuple[Memory, list[Ruling]]]:
    return [
        (
            Memory(key=key, id=f"m{key}", text=text, role="user", at=from_micros(key * 1_000_000)),
            rulings(text),
        )
        for key, text in enumerate(texts, 1)
    ]


def _held(found: Register) -> list[str]:
    return [rule.ruling.sentence for rule in found.holding]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("End all function names with '_y'.", "From now on, function names should end with '_x'."),
        ("Start attribute names with 'r_'.", "For attribute names, use the prefix 's_' now."),
        ("Use snake_case for class names.", "From now on use CamelCase for class names."),
        (
            "From now on take a break every 80 minutes.",
            "Make sure you take a break every 60 minutes.",
        ),
        ("Always use flake8 for linting.", "Use ruff instead of flake8 for linting."),
        (
            "Always squash commits before a merge.",
            "From now on don't squash commits before a merge.",
        ),
    ],
)
def test_a_later_ruling_on_the_same_thing_replaces_the_earlier(older: str, newer: str) -> None:
    found = register(_said(older, newer))

    assert _held(found) == [newer]
    assert found.successors == {1: 2}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("End function names with '_x'.", "End function argument names with '_y'."),
        ("Start method names with 'a_'.", "End method names with '_b'."),
        (
            "Add the '@timer' decorator to all functions.",
            "Add the '@trace' decorator to all functions.",
        ),
        ("Always import the 'os' module.", "Always import the 'secrets' module."),
        ("Always use docstrings in methods.", "Always use annotations for methods."),
        ("Always use docstrings in methods.", "Don't forget to use docstrings in functions."),
        ("Never push to main.", "Always push the tags."),
        ("Always wait 5 minutes between two calls.", "Always wait 10 minutes between two meals."),
    ],
)
def test_rulings_on_different_things_both_hold(one: str, other: str) -> None:
    found = register(_said(one, other))

    assert set(_held(found)) == {one, other}
    assert found.successors == {}


_PREFIX = "always prefix method names with m_"
_TABS = "use tabs for indentation"
_GERMAN = "error messages must be in German"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (_PREFIX, "prefix method names with k_, not m_"),
        (_PREFIX, "from now on use k_ as the prefix for method names"),
        (_PREFIX, "method names: not m_, k_"),
        (_PREFIX, "not m_, k_ for method names"),
        (_PREFIX, "no, not m_, k_ from now on"),
        ("end all function names with _x", "end all function names with _y from now on"),
        (_GERMAN, "from now on error messages must be in English"),
        (_GERMAN, "error messages should be in English now"),
        (_GERMAN, "error messages in English, not German"),
        ("From now on, answer in German.", "from now on answer in English"),
        (_TABS, "from now on use spaces for indentation"),
        (
            "from now on use tabs for indentation in all Python files",
            "not tabs, spaces from now on",
        ),
        ("always use single quotes for strings", "from now on use double quotes for strings"),
        ("use npm in this repo", "use pnpm instead of npm from now on"),
        ("Fehlermeldungen immer auf Deutsch", "ab jetzt Fehlermeldungen auf Englisch"),
        ("ab jetzt immer Tabs verwenden", "nicht Tabs, ab jetzt Leerzeichen"),
        ("commit message 以后用中文写", "commit message 还是改回英文吧"),
        ("From now on, use `x_` as the prefix", "From now on, use `y_` not `x_` as the prefix"),
    ],
)
def test_values_need_no_quotes_where_they_are_plainly_values(older: str, newer: str) -> None:
    found = register(_said(older, newer))

    assert _held(found) == [newer]
    assert found.successors == {1: 2}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # something else
        (_PREFIX, "prefix attribute names with k_"),
        (_PREFIX, "end method names with _k"),
        (_PREFIX, "don't prefix argument names with m_"),
        (_TABS, "from now on use spaces around operators"),
        (_GERMAN, "from now on log messages must be in English"),
        ("Fehlermeldungen immer auf Deutsch", "ab jetzt Kommentare auf Englisch"),
        ("commit message 以后用中文写", "代码注释还是改回英文吧"),
        # an addition
        (_PREFIX, "also prefix method names with k_"),
        (_GERMAN, "from now on error messages must also be in English"),
        # an exception, or only a part
        (_PREFIX, "from now on prefix method names with k_ except in tests"),
        (_PREFIX, "prefix method names with k_ in tests from now on"),
        (_TABS, "from now on use spaces for indentation in yaml"),
        (_TABS, "from now on use spaces for indentation, but only in Makefiles"),
        ("use npm in this repo", "don't use npm in CI"),
        # no change is named, or what is forbidden was not wanted
        (_TABS, "use spaces for indentation"),
        ("error messages must be in English", "from now on never write error messages in German"),
        ("End function names with '_y'.", "Never end function names with '_x'."),
    ],
)
def test_what_is_near_a_change_of_value_leaves_both(one: str, other: str) -> None:
    found = register(_said(one, other))

    assert found.successors == {}
    assert one in _held(found)


def test_who_names_only_values_is_about_what_was_said_last_with_them() -> None:
    methods, attributes = "prefix method names with m_", "prefix attribute names with m_"

    found = register(_said(methods, attributes, "no, not m_, k_ from now on"))

    assert found.successors == {2: 3}


def test_a_rule_said_again_is_told_once_where_it_was_said_last() -> None:
    found = register(_said("Never push to main.", "As I said: never push to main."))

    assert [rule.memory.key for rule in found.holding] == [2]


def test_a_turn_that_is_replaced_in_part_still_holds_and_names_what_is_newer() -> None:
    both = "End function names with '_y'. Always use docstrings in methods."

    found = register(_said(both, "From now on end function names with '_x'."))

    assert "Always use docstrings in methods." in _held(found)
    assert found.successors == {}
    assert found.newer == {1: (2,)}


def test_versions_follow_each_other_to_the_last() -> None:
    found = register(_said(*(f"End function names with '_{letter}'." for letter in "abc")))

    assert _held(found) == ["End function names with '_c'."]
    assert found.successors == {1: 3, 2: 3}


def test_what_only_looks_like_a_change_leaves_both() -> None:
    found = register(
        _said("Always squash commits before a merge.", "Don't squash commits before a merge.")
    )

    assert len(found.holding) == 2
    assert found.successors == {}
