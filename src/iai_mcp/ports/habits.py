"""What learning habits reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation that was kept, and the habit it belongs to."""

    habit: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One time that a habit showed."""

    key: int
    sentence: str


class Habits(Protocol):
    """Observations, grouped into habits. Every call is safe from any thread."""

    def seen(self, kind: str, term: str, limit: int) -> Sequence[Seen]:
        """The latest observations of a kind that are about `term`."""
        ...

    def changed(self) -> tuple[int, str, Sequence[Evidence]] | None:
        """A habit with news, its kind, and its evidence that still holds, oldest first."""
        ...
