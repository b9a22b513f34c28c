"""What is told of vectors that are still to come: until all is found by meaning, then passages."""

from collections.abc import Mapping
from dataclasses import dataclass

_MINUTE, _HOUR = 60, 3600
# Turns a second on one core, of real sessions: what is told before the daemon has measured its own pace.
_PACE = 12.5


@dataclass(frozen=True, slots=True)
class VectorsLeft:
    """As `status` and `topology` tell it."""

    first: int  # memories without any vector
    all: int  # memories that lack one or more
    seconds: float | None  # until all have one, or else all of theirs

    @staticmethod
    def told(answer: Mapping[str, object]) -> "VectorsLeft":
        pending, first = (
            value if isinstance(value := answer.get(name), int) else 0
            for name in ("vectors_pending", "first_vectors_pending")
        )
        seconds = answer.get("vectors_seconds")
        return VectorsLeft(first, pending, seconds if isinstance(seconds, int | float) else None)

    def __str__(self) -> str:
        """Nothing where nothing is left."""
        if self.first:
            few = "memory is found by its" if self.first == 1 else "memories are found by their"
            return f"{self.first:,} {few} words alone{self._about()}"
        if self.all:
            return f"all are found by meaning; passages of {self.all:,} follow{self._about()}"
        return ""

    def _about(self) -> str:
        return "" if self.seconds is None else f" (about {_duration(self.seconds)})"


def before_any(memories: int) -> str:
    """What to tell of a store that has just got a model; nothing where nothing is stored."""
    if not memories:
        return ""
    took = _duration(memories / _PACE)
    return f"{memories:,} memories get vectors: about {took}; recall works by words meanwhile"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    return f"{seconds / _HOUR:.1f} h"
