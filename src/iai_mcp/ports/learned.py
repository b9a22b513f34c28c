"""What sleep found out, as its steps and recall read it: repeats and topics.

What is written comes through the ledger (`ports/sleep.py`). Every call is safe from any thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.ports.embedder import Matrix


@dataclass(frozen=True, slots=True)
class Said:
    """As much of a memory as sleep needs to compare it."""

    key: int
    project: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Known:
    """A memory that was compared before, and the group it is folded into."""

    key: int
    fold: int | None
    text: str


class Repeats(Protocol):
    """Memories that say the same thing. Every call is safe from any thread."""

    def unfolded(self, after: int, limit: int) -> Sequence[Said]:
        """The next memories that were said and hold, in order of arrival."""
        ...

    def with_digest(self, digest: int) -> Known | None:
        """The first memory of that wording, without its text."""
        ...

    def with_bands(self, bands: Sequence[int], limit: int) -> Sequence[Known]:
        """Memories that share a band, in order of arrival."""
        ...

    def folds_of(self, keys: Sequence[int]) -> dict[int, int]:
        """The group of each of `keys` that has repeats."""
        ...

    def members(
        self, fold: int, limit: int, not_projects: Sequence[str] = ()
    ) -> tuple[int, Sequence[str]]:
        """How many memories a group has, and the ids of its latest, but for those projects'."""
        ...


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
class Hub:
    """A memory that many others are tied to."""

    id: str
    ties: int


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A topic: its most connected memory, whose first words are the label, and how many belong to it."""

    id: str
    label: str
    project: str
    size: int
    first: int  # microseconds
    last: int


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

    def reopen(self, space: str) -> None:
        """Look for all topics anew if they were found in another space."""
        ...

    def count(self, not_projects: Sequence[str] = ()) -> int:
        """How many topics there are, but for those projects'."""
        ...

    def waiting_count(self) -> int:
        """How many memories no sleep has looked at yet."""
        ...

    def hubs(self, limit: int, not_projects: Sequence[str] = ()) -> Sequence[Hub]:
        """The memories with the most ties, but for those projects'."""
        ...

    def largest(self, limit: int, not_projects: Sequence[str]) -> Sequence[TopicSummary]:
        """The topics with the most memories, but for those projects'."""
        ...


class Communities(Protocol):
    """A clustering library."""

    def __call__(self, edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
        """The community of each node that has an edge. The same edges give the same communities."""
        ...
