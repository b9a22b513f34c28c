"""Whatever path comes in, project identity is total, stable and the same from inside."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.projects.identity import (
    follow,
    from_key,
    matches,
    normal,
    outside_run_directory,
)
from iai_mcp.project import project_of

names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)
texts = st.text(max_size=80)
keys = st.sampled_from(["/a", "/b", "/a/c", "n", "m"])


@given(texts)
def test_any_text_is_some_project(text: str) -> None:
    found = project_of(text, aliases={})
    assert isinstance(found.key, str)
    assert project_of(found.key, aliases={}).key == found.key


@given(texts)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.lists(names, max_size=5))
def test_normal_agrees_with_the_standard_library(parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    assert normal(path) == os.path.normpath(path)


@given(st.lists(names, max_size=4), names)
def test_everything_below_a_run_directory_is_the_project(parts: list[str], agent: str) -> None:
    inside = "/".join(["", "p", ".ideai", "run", agent, *parts])
    assert outside_run_directory(inside) == "/p"


@given(keys, st.dictionaries(keys, keys))
def test_following_aliases_always_ends(key: str, aliases: dict[str, str]) -> None:
    end = follow(key, aliases)
    assert end == key or end in aliases.values()


@given(keys, st.dictionaries(keys, keys))
def test_a_project_always_matches_itself(key: str, aliases: dict[str, str]) -> None:
    assert matches(from_key(key), key, aliases)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> str:
    top = tmp_path_factory.mktemp("checkout").resolve()
    (top / ".git").mkdir()
    return str(top)


@given(parts=st.lists(names.filter(lambda name: not name.startswith(".")), max_size=4))
def test_a_path_that_is_not_there_belongs_to_the_checkout_above_it(
    checkout: str, parts: list[str]
) -> None:
    assert project_of("/".join([checkout, *parts]), aliases={}).key == checkout
