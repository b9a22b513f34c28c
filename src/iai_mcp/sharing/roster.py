"""Who belongs to a circle, worked out from what its devices said, in whatever order it came."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from iai_mcp.domain.shared_events import Admitted, EpochKey, Event, Hello, Invited, Removed
from iai_mcp.sharing.keys import device_id, is_signed


@dataclass(frozen=True, slots=True)
class Device:
    id: str
    member: str
    machine: str
    signing_key: bytes
    sealing_key: bytes


_Invitation = tuple[str, str]  # its name, and the device that made it


@dataclass(slots=True)
class Roster:
    """What was heard about membership.

    Of a device that does not belong, only its hello may be told here.
    """

    founder: str
    hellos: dict[str, Hello] = field(default_factory=dict)
    invites: dict[_Invitation, Invited] = field(default_factory=dict)
    verdicts: dict[_Invitation, set[str]] = field(default_factory=dict)  # -> the device meant
    removals: dict[str, int] = field(default_factory=dict)  # device -> the last number that counts
    epochs: dict[str, int] = field(default_factory=dict)  # epoch -> when it began
    keyed: dict[str, set[str]] = field(default_factory=dict)  # epoch -> devices that have its key

    def hear(self, device: str, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Hello):
                if device_id(event.signing_key, event.sealing_key) == device:
                    self.hellos.setdefault(device, event)
            elif isinstance(event, Invited):
                self.invites.setdefault((event.invite, device), event)
            elif isinstance(event, Admitted):
                self.verdicts.setdefault((event.invite, device), set()).add(event.device)
            elif isinstance(event, Removed):
                known = self.removals.get(event.device, event.last)
                self.removals[event.device] = min(known, event.last)
            elif isinstance(event, EpochKey):
                self.epochs[event.epoch] = max(event.began, self.epochs.get(event.epoch, 0))
                self.keyed.setdefault(event.epoch, set()).update(event.sealed)

    def devices(self) -> dict[str, Device]:
        """Everybody who belongs, or belonged until they were removed."""
        found: dict[str, Device] = {}
        fresh = [self.founder] if self.founder in self.hellos else []
        while fresh:
            found |= {one: self._device(one) for one in fresh}
            fresh = [one for one in self._guests(found) if one not in found]
        return found

    def present(self) -> dict[str, Device]:
        """Everybody who belongs now."""
        return {name: one for name, one in self.devices().items() if name not in self.removals}

    def doubted(self) -> dict[str, list[str]]:
        """Invitations that several devices came with, and nobody said which one was meant."""
        return {
            invitation[0]: sorted(guests)
            for invitation, guests in self._by_invitation().items()
            if len(guests) > 1 and not self.verdicts.get(invitation)
        }

    def unconfirmed(self, inviter: str) -> list[tuple[str, str]]:
        """Invitations of that device and who came with each, where it said nothing yet."""
        return [
            (invitation[0], guests[0])
            for invitation, guests in self._by_invitation().items()
            if invitation[1] == inviter and len(guests) == 1 and invitation not in self.verdicts
        ]

    def unused(self, inviter: str, now: int) -> list[str]:
        """Invitations of that device whose time is over, and nobody came with."""
        used = self._by_invitation()
        return [
            name
            for (name, by), invite in self.invites.items()
            if by == inviter and invite.expires < now and (name, by) not in used
        ]

    def counts(self, device: str, number: int) -> bool:
        """Whether a record of that number was written while its device belonged."""
        return number <= self.removals.get(device, number)

    def epoch(self) -> str:
        """The epoch that records are sealed under now; "" before there is one."""
        return max(self.epochs, key=lambda one: (self.epochs[one], one), default="")

    def without_key(self, epoch: str) -> dict[str, Device]:
        """Devices that belong and were not given the key of that epoch."""
        had = self.keyed.get(epoch, set())
        return {name: one for name, one in self.present().items() if name not in had}

    def common_epoch(self, devices: Iterable[str]) -> str:
        """The newest epoch whose key all of these have; "" where there is none."""
        wanted = set(devices)
        common = [one for one in self.epochs if wanted <= self.keyed[one]]
        return max(common, key=lambda one: (self.epochs[one], one), default="")

    def _guests(self, hosts: Mapping[str, Device]) -> list[str]:
        """Devices that were invited by one of these, and may come in.

        Who came with the code of one who was removed had to be confirmed before that.
        """
        found = []
        for invitation, guests in self._by_invitation().items():
            inviter = invitation[1]
            if inviter in hosts:
                meant = min(self.verdicts.get(invitation, ()), default="")
                alone = len(guests) == 1 and inviter not in self.removals
                found += [one for one in guests if one == meant or alone]
        return found

    def _by_invitation(self) -> dict[_Invitation, list[str]]:
        """Devices with a proof that holds, by the invitation they came with."""
        found: dict[_Invitation, list[str]] = {}
        for device, hello in self.hellos.items():
            for invitation, invite in self.invites.items():
                if invitation[0] == hello.invite and _is_meant(device, hello, invite):
                    found.setdefault(invitation, []).append(device)
        return found

    def _device(self, device: str) -> Device:
        hello = self.hellos[device]
        return Device(device, hello.member, hello.machine, hello.signing_key, hello.sealing_key)


@lru_cache(4096)  # who belongs is asked often, and signatures take longest of it
def _is_meant(device: str, hello: Hello, invite: Invited) -> bool:
    named = not invite.member or invite.member == hello.member
    return named and is_signed(invite.key, hello.proof, proof_of(device, hello))


def proof_of(device: str, hello: Hello) -> bytes:
    """What an invitation's key signs: who comes, and under which name."""
    return "\n".join((device, hello.member, hello.machine, hello.invite)).encode()
