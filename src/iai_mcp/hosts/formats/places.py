"""Finds the files that programs keep in the directories of projects."""

import os
from glob import escape

from iai_mcp import paths

_DEEPEST = 3
_MOST_DIRECTORIES = 5_000
_NO_PROJECTS = ("node_modules", "Library", "snap", "go", "venv", "__pycache__")


def in_projects(*parts: str) -> tuple[str, ...]:
    """Patterns of this file in every project: below the home directory, and around the current one.

    Home is searched three levels deep, a level at a time, hidden directories left out.
    """
    wanted = os.path.join(*parts)
    first = parts[0]
    return tuple(
        os.path.join(escape(directory), wanted)
        for directory in _directories()
        if os.path.lexists(os.path.join(directory, first))
    )


def _directories() -> list[str]:
    known = dict.fromkeys([*_around(), paths.home()])
    level = [paths.home()]
    for _ in range(_DEEPEST):
        level = [below for directory in level for below in _below(directory)]
        known |= dict.fromkeys(level)
        if len(known) > _MOST_DIRECTORIES:
            break
    return list(known)[:_MOST_DIRECTORIES]


def _around() -> list[str]:
    try:
        here = os.getcwd()
    except OSError:  # it was deleted
        return []
    directories = [here]
    while (above := os.path.dirname(here)) != here:
        here = above
        directories.append(here)
    return directories


def _below(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(
                entry.path
                for entry in entries
                if not entry.name.startswith(".")
                and entry.name not in _NO_PROJECTS
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []
