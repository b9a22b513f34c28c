"""A store's side of one circle, in memory."""

from collections.abc import Mapping, Sequence

from iai_mcp.domain.merging import Replica
from iai_mcp.domain.shared_events import EpochKey, Event, Forgot, Said, encoded
from iai_mcp.ports.sharing_ledger import ALONE, Batch, Heard, SetAside


class FakeSharingLedger:
    def __init__(self, device: str, replica: Replica | None = None) -> None:
        self.device = device
        self.replica = Replica() if replica is None else replica
        self.waiting: list[Event] = []
        self._assigned: Batch | None = None
        self._own: dict[int, tuple[int, tuple[Event, ...]]] = {}  # last -> (first, events)
        self._cursors: dict[str, int] = {}
        self._heard: list[tuple[str, Sequence[Event]]] = []
        self._aside: dict[tuple[str, int], SetAside] = {}
        self._keys: dict[str, bytes] = {}
        self._dirty: set[int] = set()

    def say(self, events: Sequence[Event]) -> None:
        self.waiting += events
        self._merge(self.device, events)

    def assigned(self) -> Batch | None:
        return self._assigned

    def assign(self, limit_bytes: int) -> Batch | None:
        taken: list[Event] = []
        while self.waiting and len(encoded(taken)) < limit_bytes:
            alone = isinstance(self.waiting[0], EpochKey)
            if alone and taken:
                break
            taken.append(self.waiting.pop(0))
            if alone:
                break
        self._assigned = Batch(self.last_sent() + 1, tuple(taken)) if taken else None
        return self._assigned

    def sent(self, number: int) -> None:
        assert self._assigned is not None
        self._keep_record(number, number, self._assigned.events)
        self._assigned = None

    def recovered(self, first: int, number: int, events: Sequence[Event]) -> None:
        self._merge(self.device, events)
        self._keep_record(first, number, tuple(events))
        if self._assigned is not None:
            self.waiting = [*self._assigned.events, *self.waiting]
            self._assigned = None

    def last_sent(self) -> int:
        return max(self._own, default=0)

    def own_records(self) -> list[tuple[int, int]]:
        return [(first, last) for last, (first, _) in sorted(self._own.items())]

    def sizes(self) -> list[tuple[int, int, int]]:
        return [
            (
                first,
                n,
                ALONE if any(isinstance(one, EpochKey) for one in own) else len(encoded(own)),
            )
            for n, (first, own) in sorted(self._own.items())
        ]

    def went_out(self, first: int, last: int) -> Batch:
        events = [one for n in sorted(self._own) if first <= n <= last for one in self._own[n][1]]
        return Batch(last, self._without_forgotten(events))

    def to_seal_anew(self) -> list[tuple[int, int]]:
        return [(self._own[last][0], last) for last in sorted(self._dirty)]

    def sealed_anew(self, first: int, last: int) -> None:
        events = self.went_out(first, last).events
        for number in [one for one in self._own if first <= one <= last]:
            del self._own[number]
            self._dirty.discard(number)
        self._own[last] = (first, events)

    def cursor(self, device: str) -> int:
        return self._cursors.get(device, 0)

    def cursors(self) -> Mapping[str, int]:
        return self._cursors

    def hear(self, device: str, records: Sequence[Heard]) -> None:
        for one in records:
            self._merge(device, one.events)
            self._cursors[device] = max(one.number, self.cursor(device))
            for number in range(one.first, one.number + 1):
                self._aside.pop((device, number), None)

    def heard(self) -> list[tuple[str, Sequence[Event]]]:
        return list(self._heard)

    def set_aside(self) -> list[SetAside]:
        return list(self._aside.values())

    def put_aside(self, one: SetAside) -> None:
        self._aside[one.device, one.number] = one
        self._cursors[one.device] = max(one.number, self.cursor(one.device))

    def epoch_keys(self) -> Mapping[str, bytes]:
        return self._keys

    def keep_epoch_key(self, epoch: str, key: bytes) -> None:
        self._keys[epoch] = key

    def _merge(self, device: str, events: Sequence[Event]) -> None:
        self.replica.hear(device, events)
        self._heard.append((device, events))
        gone = {one.identity for one in events if isinstance(one, Forgot)}
        self.waiting = list(self._without_forgotten(self.waiting))
        for last, (_, own) in self._own.items():
            if any(isinstance(one, Said) and one.identity in gone for one in own):
                self._dirty.add(last)

    def _keep_record(self, first: int, number: int, events: tuple[Event, ...]) -> None:
        self._own[number] = (first, events)
        if self._without_forgotten(events) != events:
            self._dirty.add(number)

    def _without_forgotten(self, events: Sequence[Event]) -> tuple[Event, ...]:
        gone = self.replica.forgotten
        return tuple(one for one in events if not (isinstance(one, Said) and one.identity in gone))
