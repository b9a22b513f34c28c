"""After an import: directories that are not on this machine, and the projects they may have been."""

import os
from collections.abc import Mapping
from contextlib import suppress

from iai_mcp import paths, project_aliases, regular_files
from iai_mcp.cli import output
from iai_mcp.domain.projects.missing_directories import likely
from iai_mcp.domain.projects.repository import of_place
from iai_mcp.project import project_of

_ASKED = "projects-asked"  # digests of what a person was asked about, a line each
_ASKED_LIMIT = 1024 * 1024
_QUESTIONS = 10  # at the end of one import


def ask(directories: Mapping[str, set[str]]) -> None:
    """Ask about each directory once whether it was a project of this machine, if one is likely.

    `directories` are those of the history, with the branches that were checked out there.
    """
    for lost, root in list(_guessed(directories).items())[:_QUESTIONS]:
        belongs = output.answered(f"What was said in {lost}: does it belong to {root}?")
        if belongs is None:
            return  # whoever leaves is asked again after the next import
        _note(lost)
        if belongs:
            project_aliases.add(lost, root)


def guesses(directories: Mapping[str, set[str]]) -> list[dict[str, str]]:
    """The same for programs, which nobody asks: what to confirm with `iai-mcp project map`."""
    return [{"lost": lost, "likely": root} for lost, root in _guessed(directories).items()]


def _guessed(directories: Mapping[str, set[str]]) -> dict[str, str]:
    asked = _asked()
    keys = {directory: project_of(directory).key for directory in directories}
    here = {key for key in keys.values() if os.path.isdir(key)}
    here.add(project_of(os.getcwd()).key)
    found: dict[str, str] = {}
    for directory, key in keys.items():
        if key.startswith("/") and not os.path.isdir(key) and of_place(key) not in asked:
            root = likely(key, directories[directory], sorted(here))
            if root is not None:
                found[key] = root
    return found


def _asked() -> set[str]:
    try:
        return set(regular_files.read(paths.in_user_data(_ASKED), _ASKED_LIMIT).decode().split())
    except (OSError, ValueError):
        return set()


def _note(lost: str) -> None:
    path = paths.in_user_data(_ASKED)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with (
        suppress(OSError),  # else it is asked again the next time
        os.fdopen(os.open(path, flags, 0o600), "w", encoding="ascii") as file,
    ):
        file.write(f"{of_place(lost)}\n")
