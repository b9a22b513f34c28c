"""The clock and the projects of the machine we run on."""

import time
from collections.abc import Sequence

from iai_mcp import project, project_aliases
from iai_mcp.adapters.looks import look_at
from iai_mcp.domain import project_identity


class SystemClock:
    """`Clock` by the system's time."""

    def now(self) -> int:
        return time.time_ns() // 1000


class LocalProjects:
    """`Projects` by git roots and names; the user's aliases are read when they are needed."""

    def key_of(self, named: str, cwd: str) -> str:
        place = named or cwd
        if not place:
            return ""
        return look_at(place, lambda: project.project_of(place, base=cwd or None).key)

    def place_of(self, cwd: str) -> str:
        if not project_identity.is_path(cwd):
            return ""
        return look_at(cwd, lambda: project.project_of(cwd, proven=True).key)

    def matching(self, named: str, known: Sequence[str]) -> list[str]:
        aliases = project_aliases.load()
        asked = look_at(named, lambda: project.project_of(named, aliases=aliases))
        return project_identity.matching(asked, known, aliases)

    def closed(self, private: Sequence[str], known: Sequence[str], here: str) -> list[str]:
        return project_identity.closed(private, known, here, project_aliases.load())
