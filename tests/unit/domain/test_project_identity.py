"""Which keys are one project, judged by letters alone."""

import pytest

from iai_mcp.domain.projects.identity import (
    follow,
    follow_upward,
    from_key,
    matches,
    matching,
    normal,
    outside_run_directory,
)


def test_a_key_with_a_slash_is_a_path_and_any_other_a_name() -> None:
    assert from_key("/home/ann/shop").root == "/home/ann/shop"
    assert from_key("/home/ann/shop").name == "shop"
    assert from_key("shop") == ("shop", "shop", None)


def test_a_bare_repository_is_called_without_its_suffix() -> None:
    assert from_key("/srv/git/shop.git").name == "shop"
    assert from_key("/srv/.git").name == ".git"
    assert from_key("/").name == "/"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/a/b/", "/a/b"),
        ("/a//b/./c/..", "/a/b"),
        ("/..", "/"),
        ("/", "/"),
        ("a/../..", ".."),
        ("./", "."),
    ],
)
def test_a_path_is_normalised_by_its_letters(written: str, meant: str) -> None:
    assert normal(written) == meant


@pytest.mark.parametrize(
    ("inside", "project"),
    [
        ("/p/shop/.ideai/run/3f2a", "/p/shop"),
        ("/p/shop/.ideai/run/3f2a/deep/er", "/p/shop"),
        ("/p/shop/.ideai/run", "/p/shop/.ideai/run"),
        ("/p/shop/.ideai/agents/run/x", "/p/shop/.ideai/agents/run/x"),
        ("/p/shop/run/.ideai/x", "/p/shop/run/.ideai/x"),
        ("/p/a/.ideai/run/x/b/.ideai/run/y", "/p/a"),
        ("/.ideai/run/x", "/"),
    ],
)
def test_an_agents_run_directory_is_its_project(inside: str, project: str) -> None:
    assert outside_run_directory(inside) == project


def test_aliases_are_followed_to_their_end() -> None:
    assert follow("/a", {"/a": "/b", "/b": "/c"}) == "/c"
    assert follow("/x", {"/a": "/b"}) == "/x"


def test_aliases_in_a_circle_lead_nowhere() -> None:
    assert follow("/a", {"/a": "/b", "/b": "/a"}) == "/a"


def test_a_lost_path_follows_the_alias_of_its_parent() -> None:
    aliases = {"/old/shop": "/new/shop"}
    assert follow_upward("/old/shop/src/api", aliases) == "/new/shop"
    assert follow_upward("/old/shopping", aliases) == "/old/shopping"
    assert follow_upward("relative", aliases) == "relative"


def test_a_name_matches_the_named_project_and_every_path_of_that_name() -> None:
    stored = ["shop", "/a/shop", "/b/shop", "/b/shop/api", "/c/shopping", "/d/shop.git"]
    assert matching(from_key("shop"), stored, {}) == ["shop", "/a/shop", "/b/shop", "/d/shop.git"]


def test_a_path_matches_itself_alone() -> None:
    stored = ["shop", "/a/shop", "/b/shop"]
    assert matching(from_key("/a/shop"), stored, {}) == ["/a/shop"]


def test_a_moved_checkout_finds_what_was_stored_under_its_old_path() -> None:
    aliases = {"/old/shop": "/new/store"}
    assert matches(from_key("/new/store"), "/old/shop", aliases)
    assert matches(from_key("/old/shop"), "/new/store", aliases)
    assert matches(from_key("store"), "/old/shop", aliases)
    assert not matches(from_key("/else/shop"), "/old/shop", aliases)
