"""The need to find what might answer a cue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.domain.ranking.candidates import Candidates
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.vectors import Matrix


@dataclass(frozen=True, slots=True)
class Sought:
    """What to look for. `vector` is None while there is no model: words alone count then."""

    terms: Sequence[str]
    exact: Sequence[str]
    vector: Matrix | None
    scope: Scope
    also: Sequence[int] = ()  # keys to measure whatever the legs find


@dataclass(frozen=True, slots=True)
class People:
    """Speakers by name, and whether assistants spoke at all."""

    speakers: Sequence[str]
    assistants: bool


class Finder(Protocol):
    """Every call is safe from any thread."""

    def find(self, sought: Sought) -> Candidates:
        """What might answer, with the turns around it; nothing if nothing is stored there.

        Raises:
            StoreError: the store can not be read.
        """
        ...

    def people(self, scope: Scope) -> People:
        """Who spoke there."""
        ...

    def number(self, column: str, name: str) -> int:
        """The number that stands for a speaker's, session's or project's name; -1 if unknown."""
        ...
