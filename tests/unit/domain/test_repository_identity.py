"""One repository under the many ways its url is written."""

import pytest

from iai_mcp.domain.projects.repository import of_place, of_remote, of_root

SAME = (
    "https://github.com/ann/shop.git",
    "https://ann:secret@GitHub.com/ann/shop",
    "git@github.com:ann/shop.git",
    "ssh://git@github.com:22/ann/shop.git/",
    "git://github.com/ann/shop",
    "github.com:ann/shop",
    " https://github.com/ann/shop/\n",
)


def test_a_url_means_the_same_however_it_is_written() -> None:
    assert len({of_remote(url) for url in SAME}) == 1
    assert None not in {of_remote(url) for url in SAME}


@pytest.mark.parametrize(
    "other",
    ["https://github.com/ann/Shop", "https://gitlab.com/ann/shop", "git@github.com:bob/shop.git"],
)
def test_another_place_is_another_repository(other: str) -> None:
    assert of_remote(other) not in (None, of_remote(SAME[0]))


@pytest.mark.parametrize(
    "nothing",
    ["../shop", "shop", "C:\\shop", "", "https://", "x:", "https://h/"],
)
def test_a_relative_path_or_nonsense_is_no_identity(nothing: str) -> None:
    assert of_remote(nothing) is None


def test_a_local_clone_comes_from_the_place_it_names() -> None:
    for url in ("/srv/shop", "/srv/shop/.git", "file:///srv/shop/"):
        assert of_remote(url) == of_place("/srv/shop")


def test_the_identity_tells_nothing_of_the_url() -> None:
    assert "shop" not in str(of_remote(SAME[0]))


def test_only_a_commit_is_a_beginning() -> None:
    assert of_root("a" * 40) == f"root:{'a' * 40}"
    assert of_root("a" * 64) is not None
    assert of_root("A" * 40) is None
    assert of_root("../../x") is None
