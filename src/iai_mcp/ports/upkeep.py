"""Keeping the store small, sound and saved, and forgetting in what is kept beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Job(Protocol):
    """Work under way in a thread of its own."""

    def finished(self, wait: float) -> bool:
        """Whether it is done, waiting at most so many seconds.

        Raises:
            IaiError: it failed, and why.
        """
        ...


class Compacted(NamedTuple):
    """What a little compacting did, and where it goes on."""

    cursor: str
    done: bool = False
    merged: int = 0  # parts of the word index
    released: int = 0  # pages given back to the system


class Upkeep(Protocol):
    """Every call is safe from any thread."""

    def expired(self, before: int, limit: int) -> Sequence[int]:
        """The oldest memories that were said before that moment and are not pinned."""
        ...

    def weighed(self, after: int, limit: int) -> tuple[int, int] | None:
        """The bytes of the next memories behind that key, and the last key; None at the end.

        What counts is a memory's own: its words and its vectors.
        """
        ...

    def oldest(self, limit: int) -> Sequence[tuple[int, int]]:
        """The memories said first that are not pinned, each with its bytes.

        Agents' notes come before all others: no agent can push out what was said by writing much.
        """
        ...

    def forget_words(self, *, begin: bool) -> bool:
        """Take a little of what was forgotten out of the word index; whether there is more.

        The first of such calls has to `begin`: from then on nothing of it is passed over.
        """
        ...

    def compact(self, cursor: str) -> Compacted:
        """A little of what makes the store smaller and quicker to ask, from the cursor ("" at first)."""
        ...

    def check(self) -> Job:
        """Begin to check the file."""
        ...

    def backup_due(self) -> bool:
        """Whether anything changed since the last backup, and that is some hours old."""
        ...

    def back_up(self) -> Job:
        """Begin to write a backup; the oldest beyond three go."""
        ...


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
