"""A store's side of one circle, in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from iai_mcp.domain.event_chain import Link
from iai_mcp.domain.merging import Replica
from iai_mcp.domain.shared_events import MEMBERSHIP, EpochKey, Event, Forgot, Said, Seen, encoded
from iai_mcp.ports.sharing_ledger import (
    ALONE,
    Asked,
    Batch,
    Heard,
    Item,
    Laid,
    Recovered,
    SetAside,
    Witness,
    goes_with,
)


class FakeSharingLedger:
    def __init__(self, device: str, replica: Replica | None = None) -> None:
        self.device = device
        self.replica = Replica() if replica is None else replica
        self.waiting: list[Item] = []
        self._keys_given = 0
        self._assigned: Batch | None = None
        self._own: dict[
            int, tuple[int, tuple[Item, ...], bytes]
        ] = {}  # last -> first, items, digest
        self._cursors: dict[str, int] = {}
        self._chains: dict[tuple[str, int], bytes] = {}
        self._heard: list[tuple[str, Sequence[Event]]] = []
        self._aside: dict[tuple[str, int], SetAside] = {}
        self._seen: dict[tuple[str, str], Witness] = {}
        self._keys: dict[str, bytes] = {}
        self._dirty: set[int] = set()
        self._asked: Asked | None = None

    def say(self, events: Sequence[Event]) -> None:
        self.waiting += [self._item(event) for event in events]
        self._merge(self.device, events)

    def _item(self, event: Event | None, link: Link | None = None) -> Item:
        self._keys_given += 1
        return Item(self._keys_given, event, link)

    def assigned(self) -> Batch | None:
        if self._assigned is None:
            return None
        items = self._current(self._assigned.items)
        batch = replace(self._assigned, items=items)
        return batch if batch.events else None

    def assign(self, limit_bytes: int) -> Batch | None:
        taken: list[Item] = []
        while (
            self.waiting and len(encoded([one.event for one in taken if one.event])) < limit_bytes
        ):
            event = self.waiting[0].event
            if event is None or not goes_with(event, [one.event for one in taken if one.event]):
                break
            taken.append(self.waiting.pop(0))
        number = self.last_sent() + 1
        previous = self.digest(self.device, number - 1)
        self._assigned = Batch(number, tuple(taken), previous) if taken else None
        return self._assigned

    def sent(self, laid: Laid) -> None:
        assert self._assigned is not None
        self._keep_record(laid, self._linked(self._assigned.items, laid))
        self._assigned = None

    def recovered(self, record: Recovered) -> None:
        self._merge(self.device, record.events)
        events = iter(record.events)
        items = [self._item(next(events) if one.salt else None, one) for one in record.links]
        items += [self._item(event) for event in events]
        self._keep_record(Laid(record.first, record.number, record.digest), tuple(items))
        if self._assigned is not None:
            self.waiting = [*self._assigned.items, *self.waiting]
            self._assigned = None

    def last_sent(self) -> int:
        return max(self._own, default=0)

    def own_records(self) -> list[tuple[int, int]]:
        return [(first, last) for last, (first, *_) in sorted(self._own.items())]

    def sizes(self) -> list[tuple[int, int, int]]:
        found = []
        for last, (first, items, _) in sorted(self._own.items()):
            events = [one.event for one in items if one.event is not None]
            alone = any(isinstance(one, EpochKey) for one in events)
            found.append((first, last, ALONE if alone else len(encoded(events))))
        return found

    def went_out(self, first: int, last: int) -> Batch:
        items = [one for n in sorted(self._own) if first <= n <= last for one in self._own[n][1]]
        before = max((n for n in self._own if n < first), default=0)
        digest = self._own[last][2] if last in self._own else b""
        return Batch(last, self._current(items), self.digest(self.device, before), digest)

    def to_seal_anew(self) -> list[tuple[int, int]]:
        return [(self._own[last][0], last) for last in sorted(self._dirty)]

    def sealed_anew(self, laid: Laid) -> None:
        items = self.went_out(laid.first, laid.number).items
        for number in [one for one in self._own if laid.first <= one <= laid.number]:
            del self._own[number]
            self._dirty.discard(number)
        self._own[laid.number] = (laid.first, self._linked(items, laid), laid.digest)

    def withhold(self) -> None:
        self.waiting, self._assigned = [], None

    def cursor(self, device: str) -> int:
        return self._cursors.get(device, 0)

    def cursors(self) -> Mapping[str, int]:
        return dict(self._cursors)

    def digest(self, device: str, number: int) -> bytes:
        if device == self.device:
            return self._own[number][2] if number in self._own else b""
        return self._chains.get((device, number), b"")

    def hear(self, device: str, records: Sequence[Heard]) -> None:
        for one in records:
            self._merge(device, one.events)
            for number in range(one.first, one.number + 1):
                self._aside.pop((device, number), None)
            if one.why:
                self._aside[device, one.number] = SetAside(device, one.number, one.why)
            if one.digest:
                self._chains[device, one.number] = one.digest
            self._cursors[device] = max(one.number, self.cursor(device))

    def heard(self) -> list[tuple[str, Sequence[Event]]]:
        return list(self._heard)

    def set_aside(self) -> list[SetAside]:
        return list(self._aside.values())

    def blocked(self, records: Sequence[SetAside]) -> None:
        passed = {key: one for key, one in self._aside.items() if one.passed}
        self._aside = passed | {(one.device, one.number): one for one in records}

    def witnesses(self) -> list[Witness]:
        return list(self._seen.values())

    def epoch_keys(self) -> Mapping[str, bytes]:
        return dict(self._keys)

    def keep_epoch_keys(self, keys: Mapping[str, bytes]) -> None:
        self._keys = {**keys, **self._keys}

    def asked(self) -> Asked | None:
        return self._asked

    def ask(self, asked: Asked | None) -> None:
        self._asked = asked

    def _merge(self, device: str, events: Sequence[Event]) -> None:
        self.replica.hear(device, events)
        about = [one for one in events if isinstance(one, MEMBERSHIP)]
        if about:
            self._heard.append((device, about))
        for seen in [one for one in events if isinstance(one, Seen)]:
            for other, head in seen.heads.items():
                number = int.from_bytes(head[:8], "big")
                known = self._seen.get((device, other))
                if known is None or number >= known.number:
                    self._seen[device, other] = Witness(device, other, number, head[8:])
        gone = {one.identity for one in events if isinstance(one, Forgot)}
        self.waiting = [one for one in self._current(self.waiting) if one.event is not None]
        for last, (_, own, _) in self._own.items():
            if any(isinstance(one.event, Said) and one.event.identity in gone for one in own):
                self._dirty.add(last)

    def _linked(self, items: Sequence[Item], laid: Laid) -> tuple[Item, ...]:
        return tuple(replace(one, link=laid.links.get(one.key, one.link)) for one in items)

    def _keep_record(self, laid: Laid, items: tuple[Item, ...]) -> None:
        self._own[laid.number] = (laid.first, items, laid.digest)
        if self._current(items) != items:
            self._dirty.add(laid.number)

    def _current(self, items: Sequence[Item]) -> tuple[Item, ...]:
        gone = self.replica.forgotten
        return tuple(
            replace(one, event=None)
            if isinstance(one.event, Said) and one.event.identity in gone
            else one
            for one in items
        )
