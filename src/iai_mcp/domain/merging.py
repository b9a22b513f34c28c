"""What a circle's streams mean together: the same, in whatever order and however often they come.

Turns are a union. Forgetting wins over everything, whichever comes first. Where one thing was told
twice and differently (redacted by other rules), the device with the smaller id decides. Pins and
supersessions carry times: the latest holds, ties by device id.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field

from iai_mcp.domain.shared_events import Event, Forgot, Pinned, Said, Superseded


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """When something was decided, and by which device."""

    at: int
    device: str


@dataclass(frozen=True, slots=True)
class Told:
    """A turn as it stands, and who told it."""

    turn: Said
    device: str

    @property
    def precedence(self) -> tuple[object, ...]:
        """The smaller one stands."""
        return (self.device, *astuple(self.turn))


@dataclass(frozen=True, slots=True)
class Standing:
    """One turn with everything that was decided about it."""

    told: Told
    pinned: bool
    superseded_by: bytes  # b"" where nothing took its place


@dataclass(slots=True)
class Replica:
    """What one device knows. Two that were told the same things are equal."""

    turns: dict[bytes, Told] = field(default_factory=dict)
    forgotten: set[bytes] = field(default_factory=set)
    pins: dict[bytes, tuple[Stamp, bool]] = field(default_factory=dict)
    supersessions: dict[bytes, tuple[Stamp, bytes]] = field(default_factory=dict)

    def hear(self, device: str, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Forgot):
                self._forget(event.identity)
            elif (
                isinstance(event, Said | Pinned | Superseded)
                and event.identity not in self.forgotten
            ):
                self._keep(device, event)

    def standing(self) -> dict[bytes, Standing]:
        """Every turn that is there, by its identity."""
        return {identity: self._standing(identity, told) for identity, told in self.turns.items()}

    def _standing(self, identity: bytes, told: Told) -> Standing:
        pinned = self.pins.get(identity)
        after = self.supersessions.get(identity)
        by = after[1] if after is not None and after[1] not in self.forgotten else b""
        return Standing(told, pinned is not None and pinned[1], by)

    def _keep(self, device: str, event: Said | Pinned | Superseded) -> None:
        identity = event.identity
        if isinstance(event, Said):
            told, known = Told(event, device), self.turns.get(identity)
            if known is None or told.precedence < known.precedence:
                self.turns[identity] = told
        elif isinstance(event, Pinned):
            pin = (Stamp(event.at, device), event.pinned)
            self.pins[identity] = max(pin, self.pins.get(identity, pin))
        else:
            after = (Stamp(event.at, device), event.by)
            self.supersessions[identity] = max(after, self.supersessions.get(identity, after))

    def _forget(self, identity: bytes) -> None:
        self.forgotten.add(identity)
        self.turns.pop(identity, None)
        self.pins.pop(identity, None)
        self.supersessions.pop(identity, None)
