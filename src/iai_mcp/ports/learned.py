"""What sleep found out, as its steps and recall read it: repeats, topics, habits, strengths.

What is written comes through the ledger (`ports/sleep.py`). Every call is safe from any thread.
"""

from collections.abc import Mapping, Sequence
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

    def members(self, fold: int, limit: int) -> tuple[int, Sequence[str]]:
        """How many memories a group has, and the ids of its latest."""
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
class Topic:
    """The memories of one topic, the most connected first."""

    keys: tuple[int, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A memory that many others are tied to."""

    id: str
    ties: int


@dataclass(frozen=True, slots=True)
class Written:
    """A topic as it was written down: `label` names it, and `size` memories belong to it."""

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

    def largest(self, limit: int, not_projects: Sequence[str]) -> Sequence[Written]:
        """The topics with the most memories, but for those projects'."""
        ...

    def derived_of(self, keys: Sequence[int]) -> dict[int, list[int]]:
        """For each derived memory that has any of `keys` among its sources: which, as given."""
        ...


class Communities(Protocol):
    """A clustering library."""

    def __call__(self, edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
        """The community of each node that has an edge. The same edges give the same communities."""
        ...


@dataclass(frozen=True, slots=True)
class Use:
    """Somebody asked for a memory. `weight` is 1 for a hit, 2 for one that was called useful."""

    key: int
    at: int
    weight: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What a forgetting curve needs to know about a memory."""

    stability: float
    difficulty: float
    used_at: int


@dataclass(frozen=True, slots=True)
class Used:
    """A memory with uses that were not counted yet, oldest first."""

    key: int
    said_at: int
    trace: Trace | None
    uses: tuple[tuple[int, Use], ...]  # with the number of each


@dataclass(frozen=True, slots=True)
class Standing:
    """A memory and its strength as it was last written down, if ever."""

    key: int
    said_at: int
    pinned: bool
    trace: Trace | None
    strength: float | None


class Curve(Protocol):
    """A model of forgetting."""

    def first(self, at: int) -> Trace:
        """A memory that was said at that moment and not asked for since."""
        ...

    def used(self, trace: Trace, use: Use) -> Trace: ...

    def strength(self, trace: Trace, now: int) -> float:
        """From 1, just used, towards 0."""
        ...


class Strengths(Protocol):
    """Every call is safe from any thread."""

    def note(self, uses: Sequence[Use]) -> None:
        """Write uses down; a memory that was used stands at full strength until sleep counts it."""
        ...

    def of(self, keys: Sequence[int]) -> Mapping[int, float]:
        """The strength of each of `keys` that has one; the others are new and stand at 1."""
        ...

    def used(self, limit: int) -> Sequence[Used]: ...

    def standing(self, after: int, limit: int) -> Sequence[Standing]:
        """The next memories that were said, in order of arrival."""
        ...

    def weakest(self, limit: int, not_projects: Sequence[str]) -> Sequence[tuple[int, float]]:
        """The memories that still hold and stand worst, the worst first, but for those projects'."""
        ...

    def levels(self) -> Sequence[int]:
        """How many memories stand in each tenth of strength, the weakest first."""
        ...
