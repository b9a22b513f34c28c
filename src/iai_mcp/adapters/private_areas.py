"""The private areas of this machine: with the user's aliases, and links resolved."""

import os
from collections.abc import Iterable

from iai_mcp import project_aliases
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.projects.privacy import PrivateAreas


def private_areas(marks: Iterable[str]) -> PrivateAreas:
    return PrivateAreas(marks, project_aliases.load(), _real)


def _real(path: str) -> str:
    """The path without links; as it is where the place does not answer."""
    try:
        return look_at(path, lambda: os.path.realpath(path))
    except (PlaceSilent, ValueError):
        return path
