"""Where a circle's streams lie: one per device, numbered without gaps, written by that device only."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.domain.errors import IoFailed


@dataclass(frozen=True, slots=True)
class Entry:
    """One sealed record of a stream."""

    number: int
    sealed: bytes  # nothing, where what lies there can not be one


NO_OFFER = (
    "the invitation is not there: it was used, its time is over, or this is another place than the"
    " one it was made for (then give that with --at); else ask for a new one"
)


class NoRecord(IoFailed):
    """Under a record's name lies something that is no file, or too large for one."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something in the place that is no record: shown to people, never read."""

    where: str
    why: str


UNKNOWN_AT_ONCE = 32  # devices that are not known
PORTION_BYTES = 32 << 20


class SharedLog(Protocol):
    """A place as one circle sees it. It may be slow, go away, lie, or go back in time.

    Every method may raise `IoFailed` (with `DiskFull` and `ReadOnly`), `RemoteFailed` or
    `TimedOut` with a sentence for people: then nothing was written, or all of it.
    """

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        """The highest number of each stream, as the place is now; the other methods may go by the same
        look at it. Of devices that are not `known` only a few are looked at each time, in turn.
        """
        ...

    def append(self, device: str, number: int, sealed: bytes) -> None:
        """Put a record at the end of one's own stream, durably.

        Raises:
            AlreadyExists: that number is taken.
        """
        ...

    def numbers(self, device: str) -> list[int]:
        """The numbers of a stream's records, in order."""
        ...

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        """The next records that have arrived behind that number, in order. Some may be missing. Large
        ones come in smaller portions.
        """
        ...

    def read_all(
        self, after: Mapping[str, int], limit: int, *, each: int | None = None
    ) -> dict[str, list[Entry]]:
        """The same of several streams, each behind its own number; `limit` records in all, and `each`
        of one stream. A stream of which there is nothing, or for which no room is left, is not
        among them.
        """
        ...

    def replace(self, device: str, first: int, last: int, sealed: bytes) -> None:
        """Put one record in the place of one's own records `first` to `last`; its number is `last`."""
        ...

    def offer(self, name: str, sealed: bytes) -> None:
        """Lay down what exactly one other may take."""
        ...

    def take(self, name: str) -> bytes:
        """Take what was offered, so that nobody else can.

        Raises:
            NotFound: it is not there, or was taken.
        """
        ...

    def offered(self, name: str) -> bytes | None:
        """What was offered, if it is still there. It stays."""
        ...

    def withdraw(self, name: str) -> None:
        """Take back what was offered, if it is still there."""
        ...

    def oddities(self) -> list[Oddity]:
        """What lies among the streams and is no record."""
        ...

    def wait(self, seconds: float) -> bool:
        """Return early (True) when something may have arrived; where nobody tells, after `seconds`."""
        ...

    def wake(self) -> None:
        """Let who waits, or will wait next, return at once. From any thread."""
        ...

    def close(self) -> None: ...
