"""Places that show each device a view of its own: late, cut off, or failing in the middle."""

from collections.abc import Collection, Mapping

from iai_mcp.domain.errors import IoFailed
from iai_mcp.ports.shared_log import Entry, Oddity
from tests.fakes.shared_log import FakeSharedLog


class LateView:
    """What one device sees of a place: the streams of others as they were when they were delivered."""

    def __init__(self, place: FakeSharedLog, own: str) -> None:
        self.place, self.own = place, own
        self.copy: dict[str, dict[int, bytes]] = {}
        self.fails_after: int | None = None  # calls

    def deliver(self, device: str, up_to: int | None = None) -> None:
        """Bring a stream up to date, whole or only the lower numbers of it."""
        stream = self.place.streams.get(device, {})
        if up_to is None:
            self.copy[device] = dict(stream)
        else:
            mine = self.copy.setdefault(device, {})
            mine |= {number: sealed for number, sealed in stream.items() if number <= up_to}

    def deliver_all(self) -> None:
        for device in self.place.streams:
            self.deliver(device)

    def heads(self, known: Collection[str] = ()) -> dict[str, int]:
        self._may_fail()
        self.deliver(self.own)
        return {device: max(stream) for device, stream in self.copy.items() if stream}

    def append(self, device: str, number: int, sealed: bytes) -> None:
        self._may_fail()
        self.place.append(device, number, sealed)
        self.deliver(self.own)
        self._may_fail()

    def numbers(self, device: str) -> list[int]:
        return sorted(self.copy.get(device, {}))

    def read(self, device: str, after: int, limit: int) -> list[Entry]:
        self._may_fail()
        if device == self.own:
            self.deliver(self.own)
        stream = self.copy.get(device, {})
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
        self._may_fail()
        self.place.replace(device, first, last, sealed)
        self.deliver(self.own)
        self._may_fail()

    def offer(self, name: str, sealed: bytes) -> None:
        self._may_fail()
        self.place.offer(name, sealed)

    def take(self, name: str) -> bytes:
        return self.place.take(name)

    def offered(self, name: str) -> bytes | None:
        self._may_fail()
        return self.place.offered(name)

    def withdraw(self, name: str) -> None:
        self.place.withdraw(name)

    def oddities(self) -> list[Oddity]:
        return []

    def wait(self, seconds: float) -> bool:
        return False

    def wake(self) -> None:
        return None

    def close(self) -> None:
        return None

    def _may_fail(self) -> None:
        if self.fails_after is None:
            return
        self.fails_after -= 1
        if self.fails_after < 0:
            self.fails_after = None
            raise IoFailed("the place went away")
