"""Which project of this machine a directory that is gone most likely was."""

import pytest

from iai_mcp.domain.projects.missing_directories import likely

HERE = ("/home/ann/shop", "/home/ann/blog", "/home/ann/old/blog")


@pytest.mark.parametrize(
    ("lost", "branches"),
    [
        ("/Users/ann/work/shop", ()),
        ("/Users/ann/work/shop-feature-x", ("feature-x",)),
        ("/Users/ann/work/shop-feature-x", ("feature/x",)),
        ("/Users/ann/shop.worktrees/feature/x", ("feature/x",)),
        ("/Users/ann/shop/.claude/worktrees/quick-fox", ("worktree-quick-fox",)),
        ("/Users/ann/worktrees/shop/bugfix", ("bugfix",)),
    ],
)
def test_a_name_or_a_branch_tells(lost: str, branches: tuple[str, ...]) -> None:
    assert likely(lost, branches, HERE) == "/home/ann/shop"


@pytest.mark.parametrize(
    ("lost", "branches"),
    [
        ("/Users/ann/work/till", ("main",)),
        ("/Users/ann/work/shop-feature-x", ("main",)),
        ("/Users/ann/work/blog", ()),
        ("/Users/ann", ()),
        ("a name", ()),
    ],
)
def test_what_could_be_several_or_none_is_not_guessed(lost: str, branches: tuple[str, ...]) -> None:
    assert likely(lost, branches, HERE) is None
