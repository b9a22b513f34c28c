"""What holds the words of memories beside the store: copies of it, and turns that wait in files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Gone:
    """A memory that was forgotten: who it was, and when it went."""

    identity: bytes
    at: int  # microseconds


@dataclass(frozen=True, slots=True)
class Reached:
    """What forgetting did to the copies."""

    rewritten: int = 0
    not_reached: tuple[str, ...] = ()  # their paths, each with the reason


class Copies(Protocol):
    """Copies of the store that are kept beside it. Every call is safe from any thread."""

    def count(self) -> int: ...

    def forget(self, gone: Sequence[Gone], stopping: Callable[[], bool]) -> Reached | None:
        """Rewrite every copy without these memories; None when it was told to stop before the end.

        Killed at any moment, each copy is whole: as it was, or without them.

        Raises:
            IoFailed: the disk refuses; what was rewritten stays so.
        """
        ...


class Leftovers(Protocol):
    """Turns in files of the spool: those that wait, and those that were set aside."""

    def drop(self, is_gone: Callable[[str, Mapping[str, object]], bool]) -> Sequence[str]:
        """Remove the turns for which `is_gone(session of the file, turn)`.

        Returns:
            The files that it could not look through, each with the reason.
        """
        ...
