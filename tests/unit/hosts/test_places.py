"""Files that programs keep in projects are found near home, and nothing is waited for."""

import os
from pathlib import Path

import pytest

from iai_mcp.hosts.formats.places import in_projects


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder / "work")
    return folder


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_projects_three_levels_below_home_and_around_the_current_directory_are_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = put(home / "shop" / ".aider.chat.history.md")
    deep = put(home / "a" / "b" / "c" / ".aider.chat.history.md")
    put(home / "a" / "b" / "c" / "d" / ".aider.chat.history.md")
    put(home / ".cache" / "x" / ".aider.chat.history.md")
    put(home / "shop" / "node_modules" / ".aider.chat.history.md")
    elsewhere = put(home.parent / "elsewhere" / ".aider.chat.history.md")
    inside = elsewhere.parent / "src" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)

    found = {str(path) for path in in_projects(".aider.chat.history.md")}

    assert {str(near), str(deep), str(elsewhere)} == found


def test_letters_of_patterns_in_names_stay_letters(home: Path) -> None:
    put(home / "s[h]op*" / ".specstory" / "history" / "a.md")

    (pattern,) = in_projects(".specstory", "history", "*.md")

    assert pattern == f"{home}/s[[]h]op[*]/.specstory/history/*.md"


def test_loops_and_thousands_of_directories_end(home: Path) -> None:
    os.symlink(home, home / "work" / "loop")
    for number in range(6000):
        (home / f"d{number}").mkdir()

    assert in_projects(".aider.chat.history.md") == ()


def test_a_current_directory_that_is_gone_is_no_error(home: Path) -> None:
    gone = home / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()

    assert in_projects(".aider.chat.history.md") == ()
