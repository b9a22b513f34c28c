"""How well memories stand: each use lifts one, time lets it sink."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


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
