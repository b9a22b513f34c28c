"""One contact with a circle's place: one's own stream goes out, those of others are heard."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from iai_mcp.domain.errors import AlreadyExists, InvalidInput
from iai_mcp.domain.shared_events import Admitted, EpochKey, Event, Removed, encoded
from iai_mcp.ports.shared_log import Entry, SharedLog
from iai_mcp.ports.sharing_ledger import Batch, Heard, SetAside, SharingLedger
from iai_mcp.sharing import records
from iai_mcp.sharing.keys import KEY_BYTES, DeviceKeys, NotForUs, sealed_for
from iai_mcp.sharing.records import BadRecord, Header
from iai_mcp.sharing.roster import Device, Roster

_BATCH_BYTES = 1 << 20
_READ_AT_ONCE = 64  # records, of a megabyte at most
_HELD_AT_ONCE = 1000  # events: a bound for memory


@dataclass(frozen=True, slots=True)
class Contact:
    """What one contact with the place did, in records."""

    sent: int
    heard: int
    repaired: int = 0  # of one's own that the place had lost


Heads = Mapping[str, int]  # the highest number of each stream in the place


@dataclass(slots=True)
class Circle:
    """One circle from the side of one device."""

    id: str
    founder: str
    keys: DeviceKeys
    log: SharedLog
    ledger: SharingLedger
    roster: Roster = field(init=False)
    # As the last contact found the place: records of others that could not be heard, and devices with
    # a stream that do not belong to the circle.
    behind: int = 0
    strangers: Sequence[str] = ()
    _epoch_keys: dict[str, bytes] = field(default_factory=dict)
    _withdrawn: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.roster = Roster(self.founder)
        for device, events in self.ledger.heard():
            self.roster.hear(device, events)

    def contact(self) -> Contact:
        """Lay down again what the place has lost, send what waits, hear what is new, and send what
        follows from that. A place with nothing new is asked one question.

        Raises:
            IaiError: the place or the store can not be used; what was done stays done.
        """
        heads = self.log.heads()
        repaired = self.repair() if self._is_short(heads) else 0
        sent = self.send(heads)
        heard = self.hear(heads)
        self._answer()
        return Contact(sent + self.send(heads), heard, repaired)

    def _is_short(self, heads: Heads) -> bool:
        """Whether the place ends before what was laid there: it lost something, or went back."""
        return heads.get(self.keys.device, 0) < self.ledger.last_sent()

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

    # Sending

    def send(self, heads: Heads | None = None) -> int:
        """Everything that waits, each batch exactly once, whatever ends in between.

        `heads`: of the place, where that was looked at.
        """
        own = self.keys.device
        if own in self.roster.removals:
            return 0
        if heads is None or heads.get(own, 0) > self.ledger.last_sent():
            self._recover()
        sent = 0
        while batch := self.ledger.assigned() or self.ledger.assign(_BATCH_BYTES):
            try:
                self.log.append(self.keys.device, batch.number, self._sealed(batch, batch.number))
                self.ledger.sent(batch.number)
                sent += 1
            except AlreadyExists:
                self._recover()
        for first, last in self.ledger.to_seal_anew():
            self._lay_anew(first, last)
        return sent

    def repair(self) -> int:
        """Lay down again those of one's own records that the place has lost; how many."""
        there = set(self.log.numbers(self.keys.device))
        lost = [(first, last) for first, last in self.ledger.own_records() if last not in there]
        for first, last in lost:
            self._lay_anew(first, last)
        return len(lost)

    def roll(self, first: int, last: int) -> None:
        """Make one record of one's own records `first` to `last`."""
        self._lay_anew(first, last)

    def _lay_anew(self, first: int, last: int) -> None:
        sealed = self._sealed(self.ledger.went_out(first, last), first)
        self.log.replace(self.keys.device, first, last, sealed)
        self.ledger.sealed_anew(first, last)

    def _recover(self) -> None:
        """Learn from one's own stream what this store does not know: that a batch had arrived before
        the word of it was lost, or all that was said since the copy that this store was restored from.
        """
        own = self.keys.device
        for entry in self.log.read(own, self.ledger.last_sent(), _READ_AT_ONCE):
            header = self._checked(own, entry)
            events = self._opened(entry, header, self.keys.signing_key)
            batch = self.ledger.assigned()
            if batch is not None and _same(batch, entry.number, events):
                self.ledger.sent(entry.number)
            else:
                self.ledger.recovered(header.first, entry.number, events)
                self._learn(own, events)

    def _sealed(self, batch: Batch, first: int) -> bytes:
        """Under the newest key; what brings that key, under one that those it is for have already."""
        told = {one.after for one in batch.events if isinstance(one, EpochKey)} - {""}
        epoch = min(told, default=self.roster.epoch())
        return records.seal(
            batch.events,
            lambda salt: Header(self.id, self.keys.device, batch.number, first, epoch, salt),
            self.ledger.epoch_keys()[epoch],
            self.keys,
        )

    # Hearing

    def hear(self, heads: Heads) -> int:
        """All that has arrived. Who comes to belong by that is heard in the same go."""
        heard = 0
        while more := self._try_again() + self._hear_all(heads):
            heard += more
            heads = self.log.heads()
        cursors, present = self.ledger.cursors(), self.roster.present()
        self.strangers = sorted(set(heads) - set(self.roster.devices()) - {self.keys.device})
        self.behind = sum(
            max(0, head - cursors.get(device, 0))
            for device, head in heads.items()
            if device in present and device != self.keys.device
        )
        return heard

    def _hear_all(self, heads: Heads) -> int:
        if self.keys.device in self.roster.removals:
            return 0
        self._meet(sorted(set(heads) - set(self.roster.hellos)))
        cursors = self.ledger.cursors()
        wanted = {
            device: cursors.get(device, 0)
            for device in sorted(set(self.roster.devices()) - {self.keys.device})
            if heads.get(device, 0) > cursors.get(device, 0)
            and self.roster.counts(device, cursors.get(device, 0) + 1)
        }
        heard = 0
        # All of them are asked for at once: of fifty devices each has said a little.
        while wanted and (found := self.log.read_all(wanted, _READ_AT_ONCE)):
            for device, entries in found.items():
                taken = self._hear_entries(device, wanted[device], entries)
                heard += taken
                wanted[device] = entries[-1].number
                if taken < len(entries) or wanted[device] >= heads[device]:
                    del wanted[device]
        return heard

    def _hear_entries(self, device: str, cursor: int, entries: Sequence[Entry]) -> int:
        """How many were heard. What follows a gap waits until that is filled."""
        taken = 0
        heard: list[Heard] = []
        for entry in entries:
            if not self.roster.counts(device, entry.number):
                break
            try:
                header = self._checked(device, entry)
                if header.first > cursor + 1:
                    break
                events = self._opened(entry, header, self.roster.hellos[device].signing_key)
            except InvalidInput as bad:  # also where its key may be in what another device says
                self._merge(device, heard)  # the cursor must not pass by what is not merged
                self.ledger.put_aside(SetAside(device, entry.number, bad.message))
            else:
                heard.append(Heard(header.first, entry.number, events))
                self._learn(device, events)
            taken, cursor = taken + 1, entry.number
            if sum(len(one.events) for one in heard) > _HELD_AT_ONCE:
                self._merge(device, heard)
        self._merge(device, heard)
        return taken

    def _merge(self, device: str, heard: list[Heard]) -> None:
        """Many small records at once: a transaction for each would take longer than what is in it."""
        if heard:
            self.ledger.hear(device, heard)
            heard.clear()

    def _meet(self, unknown: Sequence[str]) -> None:
        """Of devices that are not known only the hello is looked at."""
        for start in range(0, len(unknown), _READ_AT_ONCE):
            part = dict.fromkeys(unknown[start : start + _READ_AT_ONCE], 0)
            for device, (entry,) in self.log.read_all(part, len(part), each=1).items():
                with suppress(InvalidInput):  # shown as a stranger
                    header = self._checked(device, entry)
                    hello = records.introduction(entry.sealed, self._epoch_key(header))
                    self.roster.hear(device, [hello])

    def _try_again(self) -> int:
        """How many of those that were set aside could be read."""
        heard = 0
        for aside in self.ledger.set_aside():
            for entry in self.log.read(aside.device, aside.number - 1, 1):
                try:
                    header = self._checked(aside.device, entry)
                    key = self.roster.hellos[aside.device].signing_key
                    events = self._opened(entry, header, key)
                except InvalidInput:
                    continue
                self.ledger.hear(aside.device, [Heard(header.first, entry.number, events)])
                self._learn(aside.device, events)
                heard += 1
        return heard

    def _checked(self, device: str, entry: Entry) -> Header:
        header = records.header_of(entry.sealed)
        if (header.circle, header.device, header.number) != (self.id, device, entry.number):
            raise BadRecord("it belongs to another place of the log")
        return header

    def _opened(self, entry: Entry, header: Header, signing_key: bytes) -> list[Event]:
        return records.opened(entry.sealed, self._epoch_key(header), signing_key)

    def _epoch_key(self, header: Header) -> bytes:
        key = self._epoch_keys.get(header.epoch)
        if key is None:
            self._epoch_keys = dict(self.ledger.epoch_keys())
            key = self._epoch_keys.get(header.epoch)
        if key is None:
            raise BadRecord("the key of its epoch has not come here")
        return key

    # Membership

    def remove(self, device: str, now: int) -> None:
        """Let a device no longer belong, from what was heard of it so far on."""
        self.say([Removed(device=device, last=self.ledger.cursor(device), at=now)])
        self.begin_epoch(now)

    def begin_epoch(self, now: int) -> None:
        """Seal what comes under a new key, which those who belong get and nobody else."""
        self.send()  # what was said before goes under the key that everybody has
        epoch, before = secrets.token_hex(16), self.roster.epoch()
        began = max(now, self.roster.epochs.get(before, 0) + 1)  # whatever the clock says
        key = secrets.token_bytes(KEY_BYTES)
        self.ledger.keep_epoch_key(epoch, key)
        self.say([self._handed_out(epoch, began, before, self.roster.present().values())])

    def _handed_out(
        self, epoch: str, began: int, after: str, devices: Iterable[Device]
    ) -> EpochKey:
        key = self.ledger.epoch_keys()[epoch]
        bound = key_context(self.id, epoch)
        sealed = {one.id: sealed_for(one.sealing_key, key, bound) for one in devices}
        return EpochKey(epoch=epoch, began=began, after=after, sealed=sealed)

    def _learn(self, device: str, events: Sequence[Event]) -> None:
        self.roster.hear(device, events)
        own = self.keys.device
        for event in events:
            if isinstance(event, EpochKey) and own in event.sealed:
                try:
                    key = self.keys.opened(event.sealed[own], key_context(self.id, event.epoch))
                except NotForUs:
                    continue  # whoever sealed it made a mistake; another member will give it
                self.ledger.keep_epoch_key(event.epoch, key)

    def _answer(self) -> None:
        """Confirm who came with an invitation of ours, and give keys to who lacks them."""
        own, epoch = self.keys.device, self.roster.epoch()
        said: list[Event] = [
            Admitted(invite=invite, device=guest) for invite, guest in self.roster.unconfirmed(own)
        ]
        lacking = self.roster.without_key(epoch)
        if own in self.roster.present() and own not in lacking and lacking:
            after = self.roster.common_epoch(lacking)
            began = self.roster.epochs[epoch]
            said.append(self._handed_out(epoch, began, after, lacking.values()))
        if said:
            self.say(said)
        had = self.roster.keyed.get(epoch, set())
        # Who left still has the key. One of those who stay makes a new one: the first of them.
        if any(one in self.roster.removals for one in had) and own == min(self.roster.present()):
            self.begin_epoch(0)


def key_context(circle: str, epoch: str) -> bytes:
    """What the key of an epoch is bound to when it is sealed for a device."""
    return f"{circle} {epoch}".encode()


def _same(batch: Batch, number: int, events: Sequence[Event]) -> bool:
    return batch.number == number and encoded(batch.events) == encoded(events)
