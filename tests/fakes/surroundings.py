"""The time, projects and consent as a test wants them."""

from collections.abc import Sequence
from pathlib import PurePath

from iai_mcp.adapters.private_areas import PrivateAreas


class StandingClock:
    """`Clock` that stands still until it is told."""

    def __init__(self, micros: int = 0) -> None:
        self.micros = micros

    def now(self) -> int:
        return self.micros


class FakeProjects:
    """`Projects` by their roots; what lies in none of them is called as it is named."""

    def __init__(self, *roots: str) -> None:
        self._roots = roots
        self._remotes: dict[str, str] = {}

    def key_of(self, project: str, cwd: str) -> str:
        return self.place_of(project or cwd) or project or cwd

    def place_of(self, cwd: str) -> str:
        return next((root for root in self._roots if PurePath(cwd).is_relative_to(root)), "")

    def matching(self, project: str, known: Sequence[str]) -> list[str]:
        return [key for key in known if key == self.key_of(project, "")]

    def kin(self, project: str, known: Sequence[str]) -> list[str]:
        own = self._remotes.get(key := self.key_of(project, ""))
        return [one for one in known if own and one != key and self._remotes.get(one) == own]

    def comes_from(self, key: str, repository: str, *, guessed: bool = False) -> None:
        if not guessed or key not in self._remotes:
            self._remotes[key] = repository

    def is_here(self, key: str) -> bool:
        return key in self._roots

    def closed(self, private: Sequence[str], known: Sequence[str], here: str) -> list[str]:
        return PrivateAreas(private, {}).closed(known, here)

    def covering(self, private: Sequence[str], key: str) -> list[str]:
        return sorted({min(area) for area in PrivateAreas(private, {}).covering(key)})


class FakeConsent:
    """`Consent` of people who want nothing remembered in some places, nor in one span of time."""

    def __init__(self, *places: str, silent: tuple[int, int] = (0, 0)) -> None:
        self._places = places
        self._silent = silent

    def rules(self) -> "FakeConsent":
        return self

    def refusal(self, project: str, cwd: str, at: int) -> str | None:
        if any(PurePath(cwd or project).is_relative_to(place) for place in self._places):
            return "not here"
        return "not now" if self._silent[0] <= at < self._silent[1] else None

    def work_refusal(self, project: str, cwd: str) -> str | None:
        return None
