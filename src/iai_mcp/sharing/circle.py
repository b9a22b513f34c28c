"""One circle from the side of one device: its contacts with the place, and who belongs to it.

The protocol is written down in docs/sharing.md.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import (
    LATEST,
    Admitted,
    EpochKey,
    Event,
    Removed,
    Seen,
    device_id,
)
from iai_mcp.ports.shared_log import SharedLog
from iai_mcp.ports.sharing_ledger import Heard, SharingLedger
from iai_mcp.sharing.differences import Difference, differences
from iai_mcp.sharing.incoming import Incoming, key_context
from iai_mcp.sharing.invitations import Grant, grant_name
from iai_mcp.sharing.keys import KEY_BYTES, DeviceKeys, epoch_of, sealed_for
from iai_mcp.sharing.outgoing import WAITS_FOR_ENTRY, WAITS_FOR_KEY, WAITS_FOR_ROSTER, Outgoing
from iai_mcp.sharing.roster import Device, Roster


@dataclass(frozen=True, slots=True)
class Contact:
    """What one contact with the place did, in records."""

    sent: int
    heard: int
    repaired: int = 0  # of one's own that the place had lost


@dataclass(slots=True)
class Circle:
    """One circle from the side of one device."""

    id: str
    founder: str
    keys: DeviceKeys
    log: SharedLog
    ledger: SharingLedger
    roster: Roster = field(init=False)
    outgoing: Outgoing = field(init=False)
    incoming: Incoming = field(init=False)
    _withdrawn: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.roster = Roster(self.founder)
        for device, events in self.ledger.heard():
            self.roster.hear(device, events)
        self.incoming = Incoming(self.id, self.keys, self.log, self.ledger, self.roster)
        self.outgoing = Outgoing(
            self.id, self.keys, self.log, self.ledger, self.roster, self.incoming.learn
        )

    def contact(self, now: int = 0) -> Contact:
        """Hear what is new, do what follows from it, then send what waits. A place with nothing new is
        asked one question.

        Raises:
            IaiError: the place or the store can not be used; what was done stays done.
        """
        heads = self.log.heads(self._known())
        # It lost something, or went back.
        is_short = heads.get(self.keys.device, 0) < self.ledger.last_sent()
        repaired = self.outgoing.repair() if is_short else 0
        self._enter()
        heard = self.incoming.hear(heads)
        self._answer(now)
        self._grant()  # who is let in is woken by the records that follow
        sent = self.outgoing.send(heads)
        if self.outgoing.held and self._lacks_epoch():
            self.begin_epoch(now)  # nobody did yet, and something waits
            sent += self.outgoing.send(heads)
        return Contact(sent, heard, repaired)

    def send(self) -> int:
        """Everything that waits, without hearing first; how many records."""
        return self.outgoing.send(self.log.heads(self._known()))

    def say(self, events: Sequence[Event]) -> None:
        """Let these go out with the next contact. What is about membership holds here at once."""
        self.ledger.say(events)
        self.roster.hear(self.keys.device, events)

    def tidy(self, now: int) -> None:
        """Take invitations out of the place whose time is over."""
        for name in self.roster.unused(self.keys.device, now):
            if name not in self._withdrawn:
                self.log.withdraw(name)
                self._withdrawn.add(name)

    def check(self) -> int:
        """Put one's own stream in order in the place, and tell how far the others were heard; how many
        records had to be laid down again.
        """
        heads = self.log.heads(self._known())
        done = self.outgoing.repair() + self.outgoing.clean()
        if self.incoming.news and self._belongs():
            self.incoming.news = False
            if seen := self._heads():
                self.say([Seen(heads=seen)])
                self.outgoing.send(heads)
        return done

    # How it stands

    def held(self) -> str:
        """Why nothing can be sent, as far as the store knows; "" where it can."""
        if self.keys.device in self.roster.removals:
            return ""
        if self.ledger.asked() is not None:
            return WAITS_FOR_ENTRY
        if not self._is_ready():
            return WAITS_FOR_ROSTER
        epoch = self.roster.epoch()
        return WAITS_FOR_KEY if epoch and epoch not in self.ledger.epoch_keys() else ""

    def differences(self) -> list[Difference]:
        """What others say they heard, where it is not what was heard here."""
        return differences(self.ledger, self.keys.device, self.roster.present())

    def older(self) -> list[Device]:
        """Devices that were heard, and nothing that a chain covers: their version may be older."""
        cursors = self.ledger.cursors()
        return [
            one
            for one in self.roster.present().values()
            if cursors.get(one.id) and not self.ledger.digest(one.id, cursors[one.id])
        ]

    def _known(self) -> set[str]:
        """Devices whose streams are always looked at."""
        meant = {one for named in self.roster.verdicts.values() for one in named}
        return {*self.roster.devices(), *meant, self.keys.device}

    def _belongs(self) -> bool:
        return self.keys.device in self.roster.present()

    def _is_ready(self) -> bool:
        """Whether it belongs and heard of an epoch: under it the others can read the key of a new one."""
        return self._belongs() and bool(self.roster.epochs)

    def _lacks_epoch(self) -> bool:
        """Whether a device that was removed has the key of every epoch."""
        return self._is_ready() and not self.roster.epoch()

    def _heads(self) -> dict[str, bytes]:
        """How far each other device was heard, as others are told of it."""
        found = {}
        for device, number in self.ledger.cursors().items():
            digest = self.ledger.digest(device, number)
            if digest and device != self.keys.device:
                found[device] = number.to_bytes(8, "big") + digest
        return found

    # Membership

    def remove(self, devices: Collection[str], now: int) -> None:
        """Let devices no longer belong, from what was heard of them so far on. A new epoch begins, whose
        key they do not get. No contact is needed: it goes out with the next.
        """
        removals = [self._removed(one, now) for one in devices]
        if self._is_ready():
            self.begin_epoch(now, without=devices, then=removals)
        else:
            self.say(removals)  # the epoch begins once those before it were heard

    def leave(self, now: int) -> bool:
        """The last word of this device: what it says behind it does not count. Whether the others can
        hear it.
        """
        if self.ledger.asked() is not None or not self._belongs():
            return True  # nobody counts on it
        own, last = self.keys.device, self.ledger.last_sent()
        event = Removed(device=own, last=last, at=now, digest=self.ledger.digest(own, last))
        return self.outgoing.send_last(event)

    def begin_epoch(
        self,
        now: int,
        *,
        guests: Sequence[Device] = (),
        without: Collection[str] = (),
        then: Sequence[Event] = (),
    ) -> str:
        """Seal what comes under a new key, which those who belong get and nobody else."""
        present = self.roster.present()
        stay = {name: one for name, one in present.items() if name not in without}
        key = secrets.token_bytes(KEY_BYTES)
        epoch = epoch_of(key)
        self.ledger.keep_epoch_keys({epoch: key})
        # Later than every other, whatever the clock says.
        began = min(max(now, self.roster.newest() + 1), LATEST)
        devices = [*stay.values(), *(one for one in guests if one.id not in stay)]
        after = self._common(stay) or self._common([self.keys.device])
        gone = {*self.roster.removals, *without}
        event = self._handed_out(epoch, key, began, after, devices, gone)
        self.say([event, *then])
        return epoch

    def _removed(self, device: str, now: int) -> Removed:
        cursor = self.ledger.cursor(device)
        return Removed(
            device=device, last=cursor, at=now, digest=self.ledger.digest(device, cursor)
        )

    def _common(self, devices: Iterable[str]) -> str:
        """The newest epoch whose key all of these have, and this device; "" where there is none."""
        held = self.ledger.epoch_keys()
        return next((one for one in self.roster.common_epochs(devices) if one in held), "")

    def _handed_out(
        self,
        epoch: str,
        key: bytes,
        began: int,
        after: str,
        devices: Iterable[Device],
        without: Iterable[str],
    ) -> EpochKey:
        bound = key_context(self.id, epoch)
        return EpochKey(
            epoch=epoch,
            began=began,
            after=after,
            sealed={one.id: sealed_for(one.sealing_key, key, bound) for one in devices},
            without=b"".join(bytes.fromhex(one) for one in sorted(without)),
        )

    def _answer(self, now: int) -> None:
        """What follows from what was heard."""
        own, roster = self.keys.device, self.roster
        if not self._is_ready():
            return
        devices = roster.devices()
        # Who hears of a removal says so, with how far it had heard: then all come to the same.
        self._say(
            [
                self._removed(device, now)
                for device, by in roster.removals.items()
                if own not in by and device != own and device in devices
            ]
        )
        self._admit(now)
        if self._lacks_epoch() and own == min(roster.present()):
            self.begin_epoch(now)  # who left still has the key
        for epoch, key in self.ledger.epoch_keys().items():
            if epoch in roster.epochs:
                self._hand_out(epoch, key)

    def _admit(self, now: int) -> None:
        """Let in who came with an invitation of this device. A new epoch begins with them."""
        roster = self.roster
        came = roster.unconfirmed(self.keys.device, now)
        if not came:
            return
        guests = [roster.device(guest) for _, guest in came]
        epochs = {*self.ledger.epoch_keys()}
        had = b"".join(bytes.fromhex(one) for one in sorted(epochs))
        self.begin_epoch(
            now,
            guests=guests,
            then=[
                event
                for invite, guest in came
                for event in (
                    roster.hellos[guest],  # its first record is only for this device as yet
                    Admitted(invite=invite, device=guest, epochs=had),
                )
            ],
        )

    def _hand_out(self, epoch: str, key: bytes) -> None:
        """Give the key of the epoch to those who lack it, under one that they have."""
        lacking: dict[str, list[Device]] = {}
        for device in self.roster.without_key(epoch).values():
            lacking.setdefault(self._common([device.id]), []).append(device)
        began, without = self.roster.epochs[epoch], self.roster.without[epoch]
        self._say(
            [
                self._handed_out(epoch, key, began, after, devices, without)
                for after, devices in lacking.items()
                if after
            ]
        )

    def _say(self, events: Sequence[Event]) -> None:
        if events:
            self.say(events)

    # Letting in, and being let in

    def _grant(self) -> None:
        """Lay the keys into the place, sealed for each device that this one let in and that has not
        been heard since.
        """
        newest, keys = self.roster.epoch(), self.ledger.epoch_keys()
        if newest not in keys or not self._belongs():
            return  # it has nothing to hand out, or was removed itself
        for invite, guest in self.roster.admitted_by(self.keys.device):
            if self.ledger.cursor(guest) or self.log.offered(grant_name(invite)) is not None:
                continue
            seen = self._heads()
            grant = Grant(
                keys=dict(keys),
                newest=newest,
                heard=self._membership(),
                seen=Seen(heads=seen) if seen else None,
            )
            sealed = grant.sealed(self.keys, self.roster.device(guest).sealing_key, self.id)
            self.log.offer(grant_name(invite), sealed)

    def _membership(self) -> list[tuple[str, list[Event]]]:
        """Who belongs and who was removed, as whoever is let in is told: not who has which key."""
        found: list[tuple[str, list[Event]]] = []
        for device, events in self.ledger.heard():
            told: list[Event] = [one for one in events if not isinstance(one, EpochKey)]
            if told:
                found.append((device, told))
        return found

    def _enter(self) -> None:
        """Take the keys, where this device asked to be let in and was."""
        asked = self.ledger.asked()
        if asked is None:
            return
        name = grant_name(asked.invite)
        sealed = self.log.offered(name)
        if sealed is None:
            return
        try:
            grant = Grant.opened(sealed, self.keys, asked, self.id)
        except InvalidInput:
            return  # somebody else put it there; the right one is laid there when it is gone
        self.ledger.keep_epoch_keys(grant.keys)
        inviter = device_id(asked.signing_key, asked.sealing_key)
        seen = [(inviter, [grant.seen])] if grant.seen is not None else []
        for device, events in [*grant.heard, *seen]:
            self.ledger.hear(device, [Heard(0, 0, events)])
            self.roster.hear(device, events)
        if self.outgoing.lay_anew(1, self.ledger.last_sent(), grant.newest):
            self.ledger.ask(None)
            self.log.withdraw(name)
