"""Which projects a private mark covers, and who may see them; aliases and links are resolved."""

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping

from iai_mcp import project_aliases
from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.domain.errors import PlaceSilent
from iai_mcp.domain.projects.identity import follow, follow_upward, from_key, is_path, is_within

Area = frozenset[str]  # the paths, or the name, under which one private project is known


class PrivateAreas:
    """The areas that the private marks make."""

    def __init__(
        self,
        marks: Iterable[str],
        aliases: Mapping[str, str],
        real: Callable[[str], str] = lambda path: path,
    ) -> None:
        """`real` resolves the links of a path."""
        self._aliases = aliases
        self._by_path: dict[str, set[Area]] = {}
        self._by_name: dict[str, set[Area]] = {}
        self._names: set[str] = set()
        for mark in marks:
            places = self._known_as(mark)
            area = places | {real(place) for place in places if place.startswith("/")}
            for place in area:
                if is_path(place):
                    self._by_path.setdefault(_folded(place), set()).add(area)
                else:
                    self._names.add(_folded(place))
                # Memories that are filed under a mere name belong to the project of that name.
                name = _folded(from_key(place).name)
                self._by_name.setdefault(name, set()).add(area)

    def covering(self, key: str) -> set[Area]:
        """The areas that a project lies in."""
        found: set[Area] = set()
        for known in {*self._known_as(key), follow_upward(key, self._aliases)}:
            if not is_path(known):
                found |= self._by_name.get(_folded(known), set())
                continue
            for place in _upward(known):
                found |= self._by_path.get(_folded(place), set())
                if _folded(from_key(place).name) in self._names:
                    found.add(self._known_as(place))
        return found

    def closed(self, keys: Iterable[str], here: str) -> list[str]:
        """Those of the keys that are closed to whoever stands in the project `here`."""
        if not self._by_name:
            return []
        return [key for key in keys if not all(_contains(a, here) for a in self.covering(key))]

    def _known_as(self, key: str) -> Area:
        """The key, and where the user's aliases moved it."""
        for place in _upward(key):
            if place in self._aliases:
                moved, rest = follow(place, self._aliases), key[len(place) :]
                if is_path(moved) or not rest:
                    return frozenset((key, f"{moved.rstrip('/')}{rest}" if rest else moved))
        return frozenset((key,))


def _contains(area: Area, here: str) -> bool:
    return bool(here) and any(is_within(here, place) for place in area)


def _upward(path: str) -> Iterator[str]:
    """The path and all its parents."""
    here = path.rstrip("/") or path
    while here:
        yield here
        parent = here.rpartition("/")[0]
        here = parent or ("/" if here.startswith("/") and here != "/" else "")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.rstrip("/") or text).casefold()


def private_areas(marks: Iterable[str]) -> PrivateAreas:
    return PrivateAreas(marks, project_aliases.load(), _real)


def _real(path: str) -> str:
    """The path without links; as it is where the place does not answer."""
    try:
        return look_at(path, lambda: os.path.realpath(path))
    except (PlaceSilent, ValueError):
        return path
