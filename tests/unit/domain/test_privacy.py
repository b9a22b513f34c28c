"""Which projects a private mark covers, and who stands inside."""

import pytest

from iai_mcp.adapters.private_areas import PrivateAreas


@pytest.mark.parametrize(
    ("mark", "key", "covered"),
    [
        ("/a/notes", "/a/notes", True),
        ("/a/notes", "/a/notes/x/y", True),
        ("/a/notes", "/a/notes2", False),
        ("/a/notes", "/a", False),
        ("/a/notes/", "/a/notes/x", True),
        ("/a/Notes", "/a/notes/x", True),
        ("/a/caf\u00e9", "/a/cafe\u0301/x", True),
        ("/a/notes", "notes", True),
        ("/a/notes.git", "notes", True),
        ("/a/notes", "other", False),
        ("notes", "notes", True),
        ("notes", "/b/notes", True),
        ("notes", "/b/notes/x", True),
        ("notes", "/b/mynotes", False),
        ("/", "/anything", True),
        ("ssh://far/a/notes", "ssh://far/a/notes/x", True),
        ("ssh://far/a/notes", "/a/notes/x", False),
    ],
)
def test_a_mark_covers_what_lies_below_it(mark: str, key: str, covered: bool) -> None:
    areas = PrivateAreas([mark], {})
    assert bool(areas.covering(key)) is covered
    assert areas.closed([key], "") == ([key] if covered else [])


def test_who_stands_in_a_directory_that_is_only_called_alike_is_outside() -> None:
    areas = PrivateAreas(["/a/notes", "diary"], {})
    keys = ["/a/notes/x", "notes", "/b/diary", "diary"]
    assert areas.closed(keys, "/a/notes/y") == ["/b/diary", "diary"]
    assert areas.closed(keys, "/a/Notes") == keys
    assert areas.closed(keys, "/c/notes") == keys
    assert areas.closed(keys, "/b/diary/x") == ["/a/notes/x", "notes", "diary"]
    assert areas.closed(keys, "/c/diary") == keys


def test_an_alias_moves_an_area_and_does_not_widen_it() -> None:
    areas = PrivateAreas(["/old/notes"], {"/old": "/new"})
    assert areas.closed(["/old/notes/x", "/new/notes/x", "/new/open"], "/new/open") == [
        "/old/notes/x",
        "/new/notes/x",
    ]
    assert areas.closed(["/old/notes/x"], "/new/notes") == []


def test_links_are_resolved() -> None:
    areas = PrivateAreas(["/a/notes"], {}, {"/a/notes": "/disk/notes"}.__getitem__)
    assert areas.closed(["/disk/notes/x", "/disk/other"], "") == ["/disk/notes/x"]
