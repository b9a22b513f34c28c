"""Who belongs to a circle, worked out from what its devices said, in whatever order it came.

Everything here only grows, so two devices that heard the same come to the same roster.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from iai_mcp.domain.shared_events import Admitted, EpochKey, Event, Hello, Invited, Removed
from iai_mcp.sharing.keys import can_seal_for, is_signed


@dataclass(frozen=True, slots=True)
class Device:
    id: str
    member: str
    machine: str
    signing_key: bytes
    sealing_key: bytes


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Up to where the stream of a removed device counts."""

    last: int
    digest: bytes  # of its chain there; b"" where an older version removed it


_Invitation = tuple[str, str]  # its name, and the device that made it


@dataclass(slots=True)
class Roster:
    """What was heard about membership.

    Of a device that does not belong, only its own hello may be given to this.
    """

    founder: str
    hellos: dict[str, Hello] = field(default_factory=dict)  # each by its device itself
    # device -> by whom; it counts until its own is heard, and only from who invited it
    passed_on: dict[str, dict[str, Hello]] = field(default_factory=dict)
    invites: dict[_Invitation, Invited] = field(default_factory=dict)
    verdicts: dict[_Invitation, set[str]] = field(default_factory=dict)  # -> the device meant
    removals: dict[str, dict[str, Cut]] = field(default_factory=dict)  # device -> by whom
    epochs: dict[str, int] = field(default_factory=dict)  # epoch -> when it began
    keyed: dict[str, set[str]] = field(default_factory=dict)  # epoch -> devices that have its key
    without: dict[str, set[str]] = field(default_factory=dict)  # epoch -> devices it began without

    def hear(self, device: str, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Hello):
                if not can_seal_for(event.sealing_key):
                    continue
                if event.device == device:
                    self.hellos.setdefault(device, event)
                else:
                    self.passed_on.setdefault(event.device, {}).setdefault(device, event)
            elif isinstance(event, Invited):
                self.invites.setdefault((event.invite, device), event)
            elif isinstance(event, Admitted):
                self.verdicts.setdefault((event.invite, device), set()).add(event.device)
                for epoch in _ids(event.epochs):
                    self.keyed.setdefault(epoch, set()).add(event.device)
            elif isinstance(event, Removed):
                cut, by = Cut(event.last, event.digest), self.removals.setdefault(event.device, {})
                by[device] = max(cut, by.get(device, cut))
            elif isinstance(event, EpochKey):
                self.epochs[event.epoch] = max(event.began, self.epochs.get(event.epoch, 0))
                self.keyed.setdefault(event.epoch, set()).update(event.sealed)
                self.without.setdefault(event.epoch, set()).update(_ids(event.without))

    def hello(self, device: str) -> Hello | None:
        """How a device introduced itself, or was introduced by who let it in."""
        if device in self.hellos:
            return self.hellos[device]
        others = self.passed_on.get(device, {})
        return others[min(others)] if others else None

    def devices(self) -> dict[str, Device]:
        """Everybody who belongs, or belonged until they were removed."""
        found: dict[str, Device] = {}
        fresh = [self.founder] if self.founder in self.hellos else []
        while fresh:
            found |= {one: self.device(one) for one in fresh}
            fresh = [one for one in self._guests(found) if one not in found]
        return found

    def present(self) -> dict[str, Device]:
        """Everybody who belongs now."""
        return {name: one for name, one in self.devices().items() if name not in self.removals}

    def device(self, device: str) -> Device:
        """One that introduced itself."""
        hello = self.hello(device)
        if hello is None:
            raise KeyError(device)
        return Device(device, hello.member, hello.machine, hello.signing_key, hello.sealing_key)

    def cuts(self, device: str) -> list[Cut]:
        """Up to where a removed device counts, by all who heard of its removal. The furthest that is
        true of its stream holds: everybody comes to hear what anybody had heard before that.
        """
        return sorted(self.removals.get(device, {}).values(), reverse=True)

    def doubted(self) -> dict[str, list[str]]:
        """Invitations that several devices came with, and nobody said which one was meant."""
        return {
            invitation[0]: sorted(guests)
            for invitation, guests in self._by_invitation().items()
            if len(guests) > 1 and not self.verdicts.get(invitation)
        }

    def unconfirmed(self, inviter: str, now: int) -> list[tuple[str, str]]:
        """Invitations of that device, still good, and who came with each, where it said nothing yet."""
        return [
            (invitation[0], guests[0])
            for invitation, guests in self._by_invitation().items()
            if invitation[1] == inviter
            and len(guests) == 1
            and invitation not in self.verdicts
            and self.invites[invitation].expires >= now
        ]

    def unused(self, inviter: str, now: int) -> list[str]:
        """Invitations of that device whose time is over, and nobody was let in with."""
        return [
            name
            for (name, by), invite in self.invites.items()
            if by == inviter and invite.expires < now and (name, by) not in self.verdicts
        ]

    def admitted_by(self, inviter: str) -> list[tuple[str, str]]:
        """Invitations of that device, and the present device that came in with each."""
        present = self.present()
        return [
            (invite, guest)
            for (invite, by), guests in self.verdicts.items()
            if by == inviter
            for guest in guests & present.keys()
        ]

    def epoch(self) -> str:
        """The epoch that records are sealed under: the newest whose key no removed device has, and that
        began when all removals were known: nobody gives its key to one of them. "" where there is none.
        """
        gone = self.removals.keys()
        clean = [
            one for one in self.epochs if not self.keyed[one] & gone and self.without[one] >= gone
        ]
        return max(clean, key=self._age, default="")

    def newest(self) -> int:
        """When the newest epoch of all began."""
        return max(self.epochs.values(), default=0)

    def without_key(self, epoch: str) -> dict[str, Device]:
        """Devices that belong and were not given the key of that epoch."""
        had = self.keyed.get(epoch, set()) | self.without.get(epoch, set())
        return {name: one for name, one in self.present().items() if name not in had}

    def common_epochs(self, devices: Iterable[str]) -> list[str]:
        """The epochs whose key all of these have, the newest first."""
        wanted = set(devices)
        common = [one for one in self.epochs if wanted <= self.keyed[one]]
        return sorted(common, key=self._age, reverse=True)

    def _age(self, epoch: str) -> tuple[int, str]:
        return self.epochs[epoch], epoch

    def _guests(self, hosts: Mapping[str, Device]) -> list[str]:
        """Devices that one of these invited and let in."""
        found = []
        for invitation, guests in self._by_invitation().items():
            meant = min(self.verdicts.get(invitation, ()), default="")
            if invitation[1] in hosts and meant in guests:
                found.append(meant)
        return found

    def _by_invitation(self) -> dict[_Invitation, list[str]]:
        """Devices with a proof that holds, by the invitation they came with."""
        found: dict[_Invitation, list[str]] = {}
        by_name: dict[str, list[_Invitation]] = {}
        for invitation in self.invites:
            by_name.setdefault(invitation[0], []).append(invitation)
        for device in {**self.hellos, **self.passed_on}:
            own, others = self.hellos.get(device), self.passed_on.get(device, {})
            for hello in [own] if own is not None else others.values():
                for invitation in by_name.get(hello.invite, ()):
                    by = others.get(invitation[1]) if own is None else own
                    if by is not None and _is_meant(device, by, self.invites[invitation]):
                        guests = found.setdefault(invitation, [])
                        guests += [device] if device not in guests else []
        return found


def _ids(joined: bytes) -> list[str]:
    return [joined[at : at + 16].hex() for at in range(0, len(joined), 16)]


@lru_cache(4096)  # who belongs is asked often, and signatures take longest of it
def _is_meant(device: str, hello: Hello, invite: Invited) -> bool:
    named = not invite.member or invite.member == hello.member
    return named and is_signed(invite.key, hello.proof, proof_of(device, hello))


def proof_of(device: str, hello: Hello) -> bytes:
    """What an invitation's key signs: who comes, and under which name."""
    return "\n".join((device, hello.member, hello.machine, hello.invite)).encode()
