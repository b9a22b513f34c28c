"""What the search for topics reads, and what it needs from a clustering library."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.ports.vectors import Matrix


@dataclass(frozen=True, slots=True)
class Window:
    """A bounded number of one project's memories, in order of arrival; repeats and what no longer
    holds are left out. `vectors` is None where not all of them have one of the same space.
    """

    id: int
    keys: tuple[int, ...]
    at: tuple[int, ...]
    sessions: tuple[str, ...]
    vectors: Matrix | None


@dataclass(frozen=True, slots=True)
class Topic:
    """The memories of one topic, the most connected first."""

    keys: tuple[int, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A memory that many others are tied to."""

    id: str
    ties: int


class Topics(Protocol):
    """Windows and the topics in them. Every call is safe from any thread."""

    def unassigned(self, after: int, limit: int) -> Sequence[int]:
        """The next memories that were said, in order of arrival."""
        ...

    def changed(self) -> Window | None:
        """A window whose memories changed since its topics were found."""
        ...

    def opening_words(self, keys: Sequence[int], letters: int) -> Sequence[str]:
        """The beginning of each memory's text."""
        ...

    def grouped(self) -> tuple[int, Sequence[Topic]] | None:
        """A window whose topics were found and are not all written, with those topics."""
        ...

    def standing(self, identities: Sequence[bytes]) -> frozenset[bytes]:
        """Those that are written already, or that somebody forgot after they were."""
        ...

    def reopen(self, space: str) -> None:
        """Look for all topics anew if they were found in another space."""
        ...

    def count(self) -> int:
        """How many topics there are."""
        ...

    def derived_count(self) -> int:
        """How many memories sleep made."""
        ...

    def waiting_count(self) -> int:
        """How many memories no sleep has looked at yet."""
        ...

    def hubs(self, limit: int) -> Sequence[Hub]:
        """The memories with the most ties."""
        ...

    def derived_of(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """For each derived memory that has any of `keys` among its sources: which, as given."""
        ...


class Communities(Protocol):
    """A clustering library."""

    def __call__(self, edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
        """The community of each node that has an edge. The same edges give the same communities."""
        ...
