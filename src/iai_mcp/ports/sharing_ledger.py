"""What a store keeps about one circle: keys, what goes out, how far others were heard."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from iai_mcp.domain.event_chain import Link
from iai_mcp.domain.shared_events import EpochKey, Event, Removed

ALONE = 1 << 60  # the size of what can not share a record


def goes_with(event: Event, others: Iterable[Event]) -> bool:
    """Whether an event may share a record with those before it."""
    before = list(others)
    if any(isinstance(one, EpochKey) for one in before):
        return isinstance(event, Removed)
    return not before or not isinstance(event, EpochKey)


@dataclass(frozen=True, slots=True)
class Item:
    """One event of one's own stream."""

    key: int  # by which the ledger knows it
    event: Event | None  # None where nothing is left of it to send
    link: Link | None = None  # None before it went out, and where it was not there when that was


@dataclass(frozen=True, slots=True)
class Batch:
    """What belongs to one record of one's own stream."""

    number: int
    items: tuple[Item, ...]
    previous: bytes = b""  # digest of the chain before it
    digest: bytes = b""  # the same after it; b"" before it went out

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(one.event for one in self.items if one.event is not None)


@dataclass(frozen=True, slots=True)
class Laid:
    """A record as it is in the place now. It stands for the numbers `first` to `number`."""

    first: int
    number: int
    digest: bytes = b""
    links: Mapping[int, Link] = field(default_factory=dict)  # those that are new, by the item's key


@dataclass(frozen=True, slots=True)
class Heard:
    """A record of another device: it stands for the numbers `first` to `number`."""

    first: int
    number: int
    events: Sequence[Event]
    digest: bytes = b""  # of the chain after it; b"" where it has none
    why: str = ""  # where it can not be read or applied: it is set aside


@dataclass(frozen=True, slots=True)
class Recovered:
    """A record of one's own stream that this store does not know."""

    first: int
    number: int
    events: Sequence[Event]
    links: Sequence[Link] = ()  # those with a salt are of the first events, in order
    digest: bytes = b""


@dataclass(frozen=True, slots=True)
class SetAside:
    """A record that could not be heard. `passed`: its device signed it, so what follows is heard."""

    device: str
    number: int
    why: str
    passed: bool = True


@dataclass(frozen=True, slots=True)
class Witness:
    """That `witness` heard the stream of `device` up to a number, and the digest of its chain there."""

    witness: str
    device: str
    number: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom this device asked to be let in, and with which invitation."""

    invite: str
    signing_key: bytes  # of the device that invited
    sealing_key: bytes


class SharingLedger(Protocol):
    """One circle as the store of this device knows it. Each call is one transaction, but `hear`.

    Methods may raise `StoreError` or `IoFailed` with a sentence for people.
    """

    def assigned(self) -> Batch | None:
        """The batch that was given a number and is not known to have arrived."""
        ...

    def assign(self, limit_bytes: int) -> Batch | None:
        """Give the next number to what waits to go out, oldest first; None when nothing does.

        The key of an epoch goes alone, or with the removals that it begins with: they are sealed
        otherwise than what follows, so that who lacks the key hears of them.
        """
        ...

    def sent(self, laid: Laid) -> None:
        """The batch that was assigned is in the place."""
        ...

    def recovered(self, record: Recovered) -> None:
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
        """Those of one's own records that still hold in the place what was forgotten since, or are
        not chained yet.
        """
        ...

    def sealed_anew(self, laid: Laid) -> None:
        """One record stands for these numbers, and holds nothing that was forgotten."""
        ...

    def say(self, events: Sequence[Event]) -> None:
        """Let these go out, too."""
        ...

    def withhold(self) -> None:
        """Let nothing go out that is not known to have arrived."""
        ...

    def cursor(self, device: str) -> int:
        """Up to which number that device was heard."""
        ...

    def cursors(self) -> Mapping[str, int]:
        """The same for all that were heard."""
        ...

    def digest(self, device: str, number: int) -> bytes:
        """The digest of a stream's chain after a record, one's own included; b"" if not known."""
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

    def blocked(self, records: Sequence[SetAside]) -> None:
        """These, and no others, keep their streams from being heard further."""
        ...

    def witnesses(self) -> list[Witness]:
        """What was heard of how far others heard, the latest of each pair of devices."""
        ...

    def epoch_keys(self) -> Mapping[str, bytes]: ...

    def keep_epoch_keys(self, keys: Mapping[str, bytes]) -> None: ...

    def asked(self) -> Asked | None:
        """Whom this device asked to be let in; None once it was."""
        ...

    def ask(self, asked: Asked | None) -> None:
        """Keep that, or that it was let in."""
        ...
