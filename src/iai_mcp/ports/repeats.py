"""What folding reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


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
