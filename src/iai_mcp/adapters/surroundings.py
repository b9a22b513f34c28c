"""The clock and the projects of the machine we run on."""

import os
import time
from collections.abc import Sequence

from iai_mcp import project, project_aliases
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.adapters.private_areas import private_areas
from iai_mcp.adapters.repositories import Repositories
from iai_mcp.domain.projects import identity
from iai_mcp.ports.surroundings import Projects, Redactor


class SystemClock:
    """`Clock` by the system's time."""

    def now(self) -> int:
        return time.time_ns() // 1000


class LocalProjects:
    """`Projects` by git roots and names; the user's aliases are read when they are needed."""

    def __init__(self) -> None:
        self._repositories = Repositories()

    def key_of(self, named: str, cwd: str) -> str:
        place = named or cwd
        if not place:
            return ""
        return look_at(place, lambda: self._looked_at(place, cwd))

    def _looked_at(self, place: str, cwd: str) -> str:
        found = project.project_of(place, base=cwd or None)
        if found.root is not None:
            self._repositories.look(found.root)
        return found.key

    def place_of(self, cwd: str) -> str:
        if not identity.is_path(cwd):
            return ""
        return look_at(cwd, lambda: project.project_of(cwd, proven=True).key)

    def matching(self, named: str, known: Sequence[str]) -> list[str]:
        aliases = project_aliases.load()
        asked = look_at(named, lambda: project.project_of(named, aliases=aliases))
        return identity.matching(asked, known, aliases)

    def kin(self, named: str, known: Sequence[str]) -> list[str]:
        key = self.key_of(named, "")
        own = identity.matching(identity.from_key(key), known, project_aliases.load())
        return self._repositories.kin([*own, key], known)

    def comes_from(self, key: str, repository: str, *, guessed: bool = False) -> None:
        if identity.is_path(key) and not self.is_here(key):
            self._repositories.told(key, repository, guessed=guessed)

    def is_here(self, key: str) -> bool:
        return look_at(key, lambda: os.path.isdir(key))

    def closed(self, private: Sequence[str], known: Sequence[str], here: str) -> list[str]:
        return private_areas(private).closed(known, here)

    def covering(self, private: Sequence[str], key: str) -> list[str]:
        return sorted({min(area) for area in private_areas(private).covering(key)})


class StoredProjects:
    """`Projects` by the keys they are stored under: a path that holds a secret, without it."""

    def __init__(self, projects: Projects, redact: Redactor) -> None:
        self._projects = projects
        self._redact = redact

    def key_of(self, named: str, cwd: str) -> str:
        key = self._projects.key_of(named, cwd)
        return self._redact(key).text if key else ""

    def place_of(self, cwd: str) -> str:
        return self._redact(self._projects.place_of(cwd)).text

    def matching(self, named: str, known: Sequence[str]) -> list[str]:
        found = self._projects.matching(named, known)
        key = "" if found else self.key_of(named, "")
        return found or [one for one in known if one == key]

    def kin(self, named: str, known: Sequence[str]) -> list[str]:
        return self._projects.kin(named, known)

    def comes_from(self, key: str, repository: str, *, guessed: bool = False) -> None:
        self._projects.comes_from(key, repository, guessed=guessed)

    def is_here(self, key: str) -> bool:
        return self._projects.is_here(key)

    def closed(self, private: Sequence[str], known: Sequence[str], here: str) -> list[str]:
        return self._projects.closed(private, known, here)

    def covering(self, private: Sequence[str], key: str) -> list[str]:
        return self._projects.covering(private, key)
