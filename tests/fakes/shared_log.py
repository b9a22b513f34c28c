"""A circle's streams in a dictionary."""

import threading
from collections.abc import Collection, Mapping

from iai_mcp.domain.errors import AlreadyExists, NotFound
from iai_mcp.ports.shared_log import NO_OFFER, Entry, Oddity


class FakeSharedLog:
    def __init__(self) -> None:
        self.streams: dict[str, dict[int, bytes]] = {}
        self.offers: dict[str, bytes] = {}
        self.odd: list[Oddity] = []
        self._changed = threading.Condition()
        self._woken = False

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        return {device: max(records) for device, records in self.streams.items() if records}

    def append(self, device: str, number: int, sealed: bytes) -> None:
        stream = self.streams.setdefault(device, {})
        if number in stream:
            raise AlreadyExists(f"record {number} of this device is in the place already")
        with self._changed:
            stream[number] = sealed
            self._changed.notify_all()

    def numbers(self, device: str) -> list[int]:
        return sorted(self.streams.get(device, {}))

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        stream = self.streams.get(device, {})
        return [Entry(one, stream[one]) for one in sorted(stream) if one > after][:limit]

    def read_all(
        self, after: Mapping[str, int], limit: int, *, each: int | None = None
    ) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for device, number in after.items():
            left = limit - sum(map(len, found.values()))
            if left and (entries := self.read(device, number, min(left, each or left))):
                found[device] = entries
        return found

    def replace(self, device: str, first: int, last: int, sealed: bytes) -> None:
        stream = self.streams.setdefault(device, {})
        stream[last] = sealed
        for number in range(first, last):
            stream.pop(number, None)

    def offer(self, name: str, sealed: bytes) -> None:
        self.offers[name] = sealed

    def take(self, name: str) -> bytes:
        if name not in self.offers:
            raise NotFound(NO_OFFER)
        return self.offers.pop(name)

    def offered(self, name: str) -> bytes | None:
        return self.offers.get(name)

    def withdraw(self, name: str) -> None:
        self.offers.pop(name, None)

    def oddities(self) -> list[Oddity]:
        return list(self.odd)

    def wait(self, seconds: float) -> bool:
        with self._changed:
            arrived = not self._woken and self._changed.wait(seconds) and not self._woken
            self._woken = False
            return arrived

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def close(self) -> None:
        return None
