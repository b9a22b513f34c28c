"""One's own stream: what waits is sealed and laid into the place, each record exactly once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from iai_mcp.domain.errors import AlreadyExists, InvalidInput
from iai_mcp.domain.event_chain import Link, folded, leaf_of, linked
from iai_mcp.domain.shared_events import EpochKey, Event, encoded, lines_of
from iai_mcp.ports.shared_log import Entry, SharedLog
from iai_mcp.ports.sharing_ledger import Batch, Laid, Recovered, SharingLedger
from iai_mcp.sharing import records
from iai_mcp.sharing.keys import DeviceKeys
from iai_mcp.sharing.records import Content, Header
from iai_mcp.sharing.roster import Roster

BATCH_BYTES = 1 << 20
_READ_AT_ONCE = 64

WAITS_FOR_KEY = (
    "what waits here is held until another member's machine hands out the circle's key; if that takes"
    " long, somebody was removed or joined while machines were apart: let one of the others run"
    " iai-mcp share now"
)
WAITS_FOR_ENTRY = "this machine asked to be let in: that happens when the machine that invited it is next in contact"
WAITS_FOR_ROSTER = "what waits here is held until the records that let this machine in have arrived"
WAITS_FOR_UPGRADE = "a record that this machine sent earlier can not be read by this version here"
WAITS_FOR_PLACE = "the place has a record of this machine that it does not show at the moment"
WAITS_FOR_OWN = (
    "this store is an older copy, and the place does not show all that this machine sent since: nothing"
    " is sent until it does; if that never comes, leave the circle and join it again"
)


@dataclass(slots=True)
class Outgoing:
    """The stream of this device."""

    circle: str
    keys: DeviceKeys
    log: SharedLog
    ledger: SharingLedger
    roster: Roster
    learn: Callable[[str, list[Event]], None]  # what one's own records say that the store forgot
    held: str = ""  # why nothing is sent, as a sentence
    _checked: int = 0  # up to which of one's own records the place was looked at closely

    def send(self, heads: Mapping[str, int]) -> int:
        """Everything that waits; how many records. Where a key is missing it is held."""
        own = self.keys.device
        self.held = ""
        if own in self.roster.removals:
            return 0
        if self.ledger.asked() is not None:
            return self._send_request()
        if own not in self.roster.present():
            self.held = WAITS_FOR_ROSTER
            return 0
        if heads.get(own, 0) > self.ledger.last_sent():
            self._recover_all()
        sent = 0
        while not self.held:
            # In order, and before what follows them: what an older version laid there is chained so.
            for first, last in self.ledger.to_seal_anew():
                if not self.lay_anew(first, last):
                    return sent
            batch = self._next()
            if batch is None:
                break
            sent += self._lay(batch)
        return sent

    def send_last(self, event: Event) -> bool:
        """Only this, and nothing that waits, under the newest key there is; whether it could be."""
        self.ledger.withhold()
        self.ledger.say([event])
        batch = self.ledger.assign(BATCH_BYTES)
        epoch = self._newest_held()
        return batch is not None and bool(epoch) and bool(self._lay(batch, epoch))

    def repair(self) -> int:
        """Lay down again those of one's own records that the place has lost; how many."""
        there = set(self.log.numbers(self.keys.device))
        lost = [(first, last) for first, last in self.ledger.own_records() if last not in there]
        return sum(self.lay_anew(first, last) for first, last in lost)

    def clean(self) -> int:
        """Write over what somebody else put into this stream, a part of it at each call."""
        own, laid = self.keys.device, 0
        ours = {last: first for first, last in self.ledger.own_records()}
        entries = self.log.read(own, self._checked, _READ_AT_ONCE)
        for entry in entries:
            if entry.number in ours and not self._is_ours(entry):
                laid += self.lay_anew(ours[entry.number], entry.number)
            elif covering := [one for one in ours.items() if one[1] <= entry.number < one[0]]:
                laid += self.lay_anew(covering[0][1], covering[0][0])
        last = self.ledger.last_sent()
        reached = entries[-1].number if entries else last
        self._checked = 0 if reached >= last else reached
        return laid

    def lay_anew(self, first: int, last: int, epoch: str = "") -> bool:
        """Seal these of one's own records again, as one; whether that could be."""
        batch = self.ledger.went_out(first, last)
        sealed = self._sealed(batch, first, epoch)
        if sealed is None:
            return False
        record, laid = sealed
        self.log.replace(self.keys.device, first, last, record)
        self.ledger.sealed_anew(laid)
        return True

    def _next(self) -> Batch | None:
        return self.ledger.assigned() or self.ledger.assign(BATCH_BYTES)

    def _send_request(self) -> int:
        """The first record asks to be let in; what else there is waits for the keys."""
        self.held = WAITS_FOR_ENTRY
        if self.ledger.last_sent():
            return 0
        batch = self.ledger.assigned() or self.ledger.assign(1)  # one event: the hello
        return 0 if batch is None else self._lay(batch)

    def _lay(self, batch: Batch, epoch: str = "") -> int:
        """Lay a batch into the place; how many records that took: 0 where it is held, or was there."""
        sealed = self._sealed(batch, batch.number, epoch)
        if sealed is None:
            return 0
        own, (record, laid) = self.keys.device, sealed
        try:
            self.log.append(own, batch.number, record)
        except AlreadyExists:
            if self._recover() or self.held or not self._is_foreign(batch.number):
                return 0
            self.log.replace(own, batch.number, batch.number, record)
        self.ledger.sent(laid)
        return 1

    # Sealing

    def _sealed(self, batch: Batch, first: int, epoch: str = "") -> tuple[bytes, Laid] | None:
        """A batch as a record, and what the ledger is to keep of it; None where its key is missing."""
        content, links, digest = _content(batch)
        asked = self.ledger.asked()
        if asked is not None and not epoch:
            told = records.request_of(asked.invite)
        else:
            told = epoch or self._epoch_of(batch)
        if not told:
            self.held = WAITS_FOR_KEY
            return None
        header = Header(
            circle=self.circle,
            device=self.keys.device,
            number=batch.number,
            first=first,
            epoch=told,
            previous=batch.previous.hex(),
            digest=digest.hex(),
        )
        if asked is not None and not epoch:
            record = records.seal_request(content, header, asked.sealing_key, self.keys)
        else:
            record = records.seal(content, header, self.ledger.epoch_keys()[told], self.keys)
        return record, Laid(first, batch.number, digest, links)

    def _epoch_of(self, batch: Batch) -> str:
        """The newest epoch; of what brings its key, one whose key those it is for have already. "" where
        its key is not here.
        """
        keys = self.ledger.epoch_keys()
        told = {one.after for one in batch.events if isinstance(one, EpochKey)} & keys.keys()
        epoch = min(told, default=self.roster.epoch())
        return epoch if epoch in keys else ""

    def _newest_held(self) -> str:
        current, keys = self.roster.epoch(), self.ledger.epoch_keys()
        if current in keys:
            return current
        held = [one for one in self.roster.epochs if one in keys]
        return max(held, key=lambda one: (self.roster.epochs[one], one), default="")

    # What the place has of this stream and the store does not know

    def _recover_all(self) -> None:
        while self._recover():
            pass

    def _recover(self) -> bool:
        """Learn from one's own stream what this store does not know: that a batch had arrived before
        that was kept, or what was said since the copy that this store was restored from. Whether there
        was such a record.
        """
        own, last = self.keys.device, self.ledger.last_sent()
        for entry in self.log.read(own, last, 1):
            if not self._is_ours(entry):
                return False  # somebody else put it there: it is written over
            header = records.header_of(entry.sealed)
            if header.request:
                return False
            previous = self.ledger.digest(own, last).hex()
            if header.first > last + 1 or (header.is_chained and header.previous != previous):
                self.held = WAITS_FOR_OWN
                return False
            key = self.ledger.epoch_keys().get(header.epoch)
            if key is None:
                self.held = WAITS_FOR_KEY
                return False
            try:
                content = records.opened(entry.sealed, key)
            except InvalidInput as newer:
                self.held = f"{WAITS_FOR_UPGRADE}: {newer.message}"
                return False
            links = self._arrived(header, content)
            if links is not None:
                digest = bytes.fromhex(header.digest)
                self.ledger.sent(Laid(header.first, entry.number, digest, links))
            else:
                digest = bytes.fromhex(header.digest)
                self.ledger.recovered(
                    Recovered(header.first, entry.number, content.events, content.links, digest)
                )
                self.learn(own, list(content.events))
            return True
        return False

    def _arrived(self, header: Header, content: Content) -> dict[int, Link] | None:
        """The links of the batch that was assigned, where it is what that record holds."""
        batch = self.ledger.assigned()
        if batch is None or batch.number != header.number or content.covered != len(content.events):
            return None
        if encoded(batch.events) != encoded(content.events):
            return None
        here = [one.key for one in batch.items if one.event is not None]
        return dict(zip(here, content.links, strict=True)) if content.links else {}

    def _is_foreign(self, number: int) -> bool:
        """Whether somebody else put something in the place of a record; not where it is not shown."""
        for entry in self.log.read(self.keys.device, number - 1, 1):
            if entry.number == number:
                return not self._is_ours(entry) or bool(records.header_of(entry.sealed).request)
        self.held = WAITS_FOR_PLACE
        return False

    def _is_ours(self, entry: Entry) -> bool:
        try:
            header = records.header_of(entry.sealed)
            records.check_signature(entry.sealed, self.keys.signing_key)
        except InvalidInput:
            return False
        return (header.circle, header.device, header.number) == (
            self.circle,
            self.keys.device,
            entry.number,
        )


def _content(batch: Batch) -> tuple[Content, dict[int, Link], bytes]:
    """A batch as the content of a record, the links that are new, and the chain's digest after it."""
    events: list[Event] = []
    links: list[Link] = []
    otherwise: list[Event] = []  # they read otherwise than when they went out
    fresh: dict[int, Link] = {}
    for item in batch.items:
        event, link = item.event, item.link
        if not batch.digest and event is not None and link is None:
            link = fresh[item.key] = linked(lines_of(event)[0])
        if link is None:
            otherwise += [event] if event is not None else []
        elif (
            event is not None and link.salt and leaf_of(link.salt, lines_of(event)[0]) == link.leaf
        ):
            events.append(event)
            links.append(link)
        else:
            links.append(Link(b"", link.leaf))
            otherwise += [event] if event is not None else []
    digest = batch.digest or folded(batch.previous, (link.leaf for link in links))
    return Content([*events, *otherwise], links), fresh, digest
