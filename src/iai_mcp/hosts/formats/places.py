"""Finds the files that programs keep in the directories of projects."""

import os
from glob import escape

from iai_mcp import paths

_DEEPEST = 3
_MOST_DIRECTORIES = 5_000
_NO_PROJECTS = ("node_modules", "Library", "snap", "go", "venv", "__pycache__")


def in_projects(*parts: str) -> tuple[str, ...]:
    """Patterns of this file in every project: below the home directory, and around the current one.

    Home is searched three levels deep, a level at a time. Hidden directories are left out, and so are
    other file systems below it: one that does not answer would hold up everything.
    """
    wanted = os.path.join(*parts)
    first = parts[0]
    return tuple(
        os.path.join(escape(directory), wanted)
        for directory in _directories()
        if os.path.lexists(os.path.join(directory, first))
    )


def _directories() -> list[str]:
    home = os.path.realpath(paths.home())
    known = dict.fromkeys([*_around(), home])
    level, mounted = [home], _mounted(home)
    for _ in range(_DEEPEST):
        level = [
            below for directory in level for below in _below(directory) if below not in mounted
        ]
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


def _mounted(home: str) -> frozenset[str]:
    """Where other file systems are mounted below the home directory, as far as the system tells."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            places = [line.split(" ")[1].replace("\\040", " ") for line in file if " " in line]
    except OSError:
        return frozenset()
    return frozenset(place for place in places if place.startswith(f"{home}/"))


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
