"""What a store keeps about one circle: keys, what goes out, how far others were heard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from iai_mcp.domain.shared_events import Event

ALONE = 1 << 60  # the size of what can not share a record


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that belong to one record of one's own stream."""

    number: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Heard:
    """A record of another device, opened: it stands for the numbers `first` to `number`."""

    first: int
    number: int
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record that could not be read; it is tried again at every contact."""

    device: str
    number: int
    why: str


class SharingLedger(Protocol):
    """One circle as the store of this device knows it. Each call is one transaction, but `hear`.

    Methods may raise `StoreError` or `IoFailed` with a sentence for people.
    """

    def assigned(self) -> Batch | None:
        """The batch that was given a number and is not known to have arrived."""
        ...

    def assign(self, limit_bytes: int) -> Batch | None:
        """Give the next number to what waits to go out, oldest first; None when nothing does.

        The key of an epoch goes alone: it is sealed otherwise than what follows.
        """
        ...

    def sent(self, number: int) -> None:
        """The batch that was assigned is in the place."""
        ...

    def recovered(self, first: int, number: int, events: Sequence[Event]) -> None:
        """One's own stream has a record that this store does not know (it is an older copy).

        Its events are merged; what was assigned waits for another number.
        """
        ...

    def last_sent(self) -> int:
        """The number of the last record of one's own stream, as far as this store knows."""
        ...

    def own_records(self) -> list[tuple[int, int]]:
        """The first and the last number of each record that one's own stream should have."""
        ...

    def sizes(self) -> list[tuple[int, int, int]]:
        """The same, and about how many bytes each would have if it were sealed now. One that brings
        the key of an epoch is as large as can be: it is sealed otherwise, and stays alone.
        """
        ...

    def went_out(self, first: int, last: int) -> Batch:
        """What these numbers of one's own stream hold today: without what was forgotten since."""
        ...

    def to_seal_anew(self) -> list[tuple[int, int]]:
        """Those of one's own records that still hold in the place what was forgotten since."""
        ...

    def sealed_anew(self, first: int, last: int) -> None:
        """One record stands for these numbers, and holds nothing that was forgotten."""
        ...

    def say(self, events: Sequence[Event]) -> None:
        """Let these go out, too."""
        ...

    def cursor(self, device: str) -> int:
        """Up to which number that device was heard."""
        ...

    def cursors(self) -> Mapping[str, int]:
        """The same for all that were heard."""
        ...

    def hear(self, device: str, records: Sequence[Heard]) -> None:
        """Merge the events of records, in order, into the store, and move the cursor behind them.

        What was put aside is no longer, where one of them stands for it. Much is merged in parts, so
        that nobody waits long; what is cut off in between is heard again.
        """
        ...

    def heard(self) -> list[tuple[str, Sequence[Event]]]:
        """All that was heard about membership, one's own word included."""
        ...

    def set_aside(self) -> list[SetAside]: ...

    def put_aside(self, one: SetAside) -> None:
        """Remember a record that could not be read, and move the cursor past it."""
        ...

    def epoch_keys(self) -> Mapping[str, bytes]: ...

    def keep_epoch_key(self, epoch: str, key: bytes) -> None: ...
