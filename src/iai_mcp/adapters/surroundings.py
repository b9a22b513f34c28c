"""The clock and the projects of the machine we run on."""

import time
from collections.abc import Sequence

from iai_mcp import project, project_aliases
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
        return project.project_of(place, base=cwd or None).key

    def matching(self, named: str, known: Sequence[str]) -> list[str]:
        aliases = project_aliases.load()
        asked = project.project_of(named, aliases=aliases)
        return project_identity.matching(asked, known, aliases)
