"""Patterns of paths mean what they always meant, in a time that no pattern can stretch."""

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.projects.path_patterns import PathPattern

# Letters that collide often; every special one is among them.
pattern_names = st.text("ab*?[]!-^\\.\n", min_size=1, max_size=8) | st.sampled_from(["**", "*"])
path_names = st.text("ab[]!-^\\.\n", min_size=1, max_size=8)


def as_defined(pattern: list[str], path: list[str]) -> bool:
    """The meaning, by definition: slow, and for long patterns very slow."""
    return any(_is(pattern, path[:length]) for length in range(1, len(path) + 1))


def _is(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_is(pattern[1:], path[start:]) for start in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _is(pattern[1:], path[1:])


@given(st.lists(pattern_names, max_size=5), st.lists(path_names, max_size=5))
def test_a_pattern_covers_what_its_definition_says(pattern: list[str], path: list[str]) -> None:
    assert PathPattern(pattern).covers(path) == as_defined(pattern, path)


@given(st.lists(path_names.filter(lambda name: "[" not in name), min_size=1, max_size=5))
def test_a_path_covers_itself_and_its_whole_tree(path: list[str]) -> None:
    assert PathPattern(path).covers(path)
    assert PathPattern(path).covers([*path, "below"])
    assert not PathPattern([*path, "below"]).covers(path)


@given(st.lists(st.sampled_from(["**", "*a*a*a*", "?a?a*", "[!b]*[ab]*", "aaaaaa"]), max_size=300))
def test_a_pattern_that_fits_in_endless_ways_is_judged_all_the_same(pattern: list[str]) -> None:
    """Trying each way it could fit would not be done while the world lasts."""
    names = sum(name != "**" for name in pattern)
    deep = ["aaaaaa"] * (names + 50)
    assert not PathPattern([*pattern, "no-such-name"]).covers(deep)
    assert PathPattern([*pattern, "**", "aaaaaa"]).covers(deep)
