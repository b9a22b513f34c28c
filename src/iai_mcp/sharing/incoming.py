"""The streams of the other devices: only signed records without gaps are heard, and each as it is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import (
    EpochKey,
    Event,
    Hello,
    Removed,
    Said,
    Seen,
    without_vectors,
)
from iai_mcp.ports.shared_log import UNKNOWN_AT_ONCE, Entry, SharedLog
from iai_mcp.ports.sharing_ledger import Heard, SetAside, SharingLedger
from iai_mcp.sharing import records
from iai_mcp.sharing.keys import KEY_BYTES, DeviceKeys, NotForUs, epoch_of
from iai_mcp.sharing.records import BadRecord, Content, Header
from iai_mcp.sharing.roster import Cut, Roster

_READ_AT_ONCE = 64  # records, of a megabyte at most
_HELD_AT_ONCE = 1000  # events: a bound for memory
_TRIED_AGAIN = 256  # records that were set aside

NO_KEY = "the key of its epoch has not come here"
REWRITTEN = (
    "it does not continue what was heard of this device: its stream was written anew, or its store put"
    " back to an older copy; let it leave the circle and join again"
)
REMOVED_AND_REWRITTEN = (
    "its device was removed, and its stream is not what it was then: records were changed after that, or"
    " have not arrived"
)
OLDER_VERSION = (
    "an older version of iai-mcp wrote it behind records of this one: upgrade iai-mcp there"
)
# What an event that passed all bounds may still do to whoever applies it.
_NOT_APPLICABLE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)


class MissingKey(BadRecord):
    """The key of a record's epoch is not here yet."""


@dataclass(slots=True)
class _Stream:
    """How far one stream was heard, while it is read."""

    device: str
    cursor: int
    digest: bytes  # of the chain there; b"" if not known
    lacks: bool = False  # whether the record that follows has not arrived, though later ones have

    def passed(self, header: Header) -> None:
        self.cursor, self.digest = header.number, bytes.fromhex(header.digest)


_Signed = tuple[Entry, Header]


@dataclass(slots=True)
class Incoming:
    """What the others say."""

    circle: str
    keys: DeviceKeys
    log: SharedLog
    ledger: SharingLedger
    roster: Roster
    # As the last look found the place: records that could not be heard, devices that have a stream there
    # and do not belong, and those that ask another one to be let in.
    behind: int = 0
    strangers: Sequence[str] = ()
    asking: dict[str, str] = field(default_factory=dict)
    news: bool = False  # whether anything was heard beside how far others heard
    # Streams that can not be heard further now: because of what lies in the way, or of a key.
    _foreign: dict[str, SetAside] = field(default_factory=dict)
    _waiting: dict[str, SetAside] = field(default_factory=dict)
    _epoch_keys: dict[str, bytes] = field(default_factory=dict)
    _looked_at: dict[str, tuple[int, int]] = field(default_factory=dict)
    _sought: dict[str, tuple[int, int]] = field(default_factory=dict)
    _scanned: dict[str, tuple[object, ...]] = field(default_factory=dict)
    _tried: bool = False

    def hear(self, heads: Mapping[str, int]) -> int:
        """All that has arrived; how many records. Who comes to belong by that is heard in the same go."""
        heard = 0
        if not self._tried:
            heard, self._tried = self._try_again(), True
        if self.keys.device not in self.roster.removals:
            while more := self._hear_all(heads):
                heard += more
        self._look_around(heads)
        return heard

    def learn(self, device: str, events: Sequence[Event]) -> None:
        """What is about membership holds at once; keys that are for this device are kept."""
        self.roster.hear(device, events)
        self._keep_keys(events, are_counted=True)

    def _keep_keys(self, events: Sequence[Event], *, are_counted: bool) -> None:
        """Keys that are for this device. Of events that may not count only those that prove themselves:
        the epoch follows from the key.
        """
        own, keys = self.keys.device, {}
        for event in events:
            if isinstance(event, EpochKey) and own in event.sealed:
                try:
                    key = self.keys.opened(event.sealed[own], key_context(self.circle, event.epoch))
                except NotForUs:
                    continue  # whoever sealed it made a mistake; another member will give it
                if epoch_of(key) == event.epoch or (are_counted and len(key) == KEY_BYTES):
                    keys[event.epoch] = key
        if keys.keys() - self.ledger.epoch_keys().keys():
            self.ledger.keep_epoch_keys(keys)

    def _look_around(self, heads: Mapping[str, int]) -> None:
        own, present = self.keys.device, self.roster.present()
        cursors, devices = self.ledger.cursors(), self.roster.devices()
        self.asking = {
            one: by for one, by in self.asking.items() if one in heads and one not in devices
        }
        self.strangers = sorted(set(heads) - set(devices) - {own} - set(self.asking))
        waiting = [
            device
            for device, head in heads.items()
            if device in present and device != own and head > cursors.get(device, 0)
        ]
        self.behind = sum(
            sum(number > cursors.get(device, 0) for number in self.log.numbers(device))
            for device in waiting
        )
        self.ledger.blocked(list((self._foreign | self._waiting).values()))

    def _hear_all(self, heads: Mapping[str, int]) -> int:
        self._foreign.clear()
        self._waiting.clear()
        self._meet(heads)
        cursors = self.ledger.cursors()
        behind = {
            device: cursors.get(device, 0)
            for device in sorted(set(self.roster.devices()) - {self.keys.device})
            if heads.get(device, 0) > cursors.get(device, 0)
        }
        wanted = {one: at for one, at in behind.items() if one not in self.roster.removals}
        heard, later = self._hear_present(wanted, heads)
        if not heard and later:  # each is removed by what another of them says
            first = min(later)
            heard, _ = self._hear_present({first: wanted[first]}, heads)
        gone = [one for one in behind if one in self.roster.removals]
        heard += sum(self._hear_removed(device, heads[device]) for device in gone)
        return heard or self._seek_keys(heads)

    # Those who belong

    def _hear_present(
        self, wanted: Mapping[str, int], heads: Mapping[str, int]
    ) -> tuple[int, set[str]]:
        """How many were heard, and which streams wait because somebody says that their device was
        removed: that is heard before their words.
        """
        pages = self._pages(wanted, heads)
        page = next(pages, {})
        later, opened = self._look_ahead(page)
        if len(wanted) > 1 and (further := next(pages, None)) is not None:
            for one in chain([further], pages):
                later |= self._look_ahead(one)[0]
            pages = self._pages(wanted, heads)
            page, opened = next(pages, {}), {}
        later &= wanted.keys() if len(wanted) > 1 else set()
        heard = 0
        while page:
            for device, part in page.items():
                if (
                    device not in self._waiting
                    and device not in later | self.roster.removals.keys()
                ):
                    heard += self._take(device, part, opened)
            page = next(pages, {})
            _, opened = self._look_ahead(page)
        return heard, later

    def _seek_keys(self, heads: Mapping[str, int]) -> int:
        """Where a stream waits for a key: look for it also in streams of devices that are not known yet,
        because what waits may be what says that they belong, and in what devices that were removed said
        behind what counts here: others may have heard it, and sealed under that key. How many were
        found.
        """
        if not self._waiting:
            return 0
        before = len(self.ledger.epoch_keys())
        unheard = sorted(set(heads) - set(self.roster.present()) - {self.keys.device})
        fresh = [one for one in unheard if self._sought.get(one) != (heads[one], before)]
        for device in fresh[:UNKNOWN_AT_ONCE]:
            self._sought[device] = (heads[device], before)
            for entry in self.log.read(device, self.ledger.cursor(device), _READ_AT_ONCE):
                try:
                    header = self._checked(device, entry)
                    if header.membership:
                        self._keep_keys(self._opened(entry, header).events, are_counted=False)
                except InvalidInput:
                    continue
        return len(self.ledger.epoch_keys()) - before

    def _pages(
        self, wanted: Mapping[str, int], heads: Mapping[str, int]
    ) -> Iterator[dict[str, list[_Signed]]]:
        """What follows in these streams, a portion of all of them at a time."""
        streams = {device: self._stream(device) for device in wanted}
        # All of them are asked for at once: of fifty devices each has said a little.
        while wanted and (found := self.log.read_all(wanted, _READ_AT_ONCE)):
            signed = {
                device: list(self._signed(streams[device], page)) for device, page in found.items()
            }
            yield signed
            # A whole portion that is not signed ends it: whoever can write there can write any number.
            wanted = {
                device: found[device][-1].number if device in found else at
                for device, at in wanted.items()
                if not streams[device].lacks
                and (
                    device not in found
                    or (signed[device] and found[device][-1].number < heads[device])
                )
            }

    def _look_ahead(
        self, parts: Mapping[str, Sequence[_Signed]]
    ) -> tuple[set[str], dict[tuple[str, int], Content]]:
        """The devices that these records remove, and the records that were opened for that. Keys in
        them are kept; nothing else counts before its turn comes.
        """
        removed: set[str] = set()
        opened: dict[tuple[str, int], Content] = {}
        progress = True
        while progress:  # one may bring the key of another
            progress = False
            for device, part in parts.items():
                for entry, header in part:
                    about = header.membership or not header.is_chained
                    if not about or (device, entry.number) in opened:
                        continue
                    try:
                        content = self._opened(entry, header)
                    except InvalidInput:
                        continue  # it is told when its turn comes
                    opened[device, entry.number] = content
                    self._keep_keys(content.events, are_counted=False)
                    removed |= {
                        one.device
                        for one in content.events
                        if isinstance(one, Removed) and one.device != device
                    }
                    progress = True
        return removed, opened

    def _take(
        self, device: str, part: Sequence[_Signed], opened: Mapping[tuple[str, int], Content]
    ) -> int:
        """Merge records that follow each other; how many. One whose key is missing waits."""
        stream, found, heard = self._stream(device), [], 0
        for entry, header in part:
            if header.first > stream.cursor + 1:
                break
            try:
                content = opened.get((device, entry.number)) or self._opened(entry, header)
                self._check_overlap(stream, header, content)
                events, why = content.events, ""
            except MissingKey as missing:
                if not header.request:  # its device was let in and has not seen that yet
                    why = missing.message
                    self._waiting[device] = SetAside(device, entry.number, why, passed=False)
                break
            except InvalidInput as bad:
                events, why = [], bad.message
            digest = bytes.fromhex(header.digest)
            found.append(Heard(header.first, entry.number, events, digest, why))
            stream.passed(header)
            heard += 1
            self.news = self.news or any(not isinstance(one, Seen) for one in events)
            if sum(len(one.events) for one in found) > _HELD_AT_ONCE:
                self._merge(device, found)
        self._merge(device, found)
        return heard

    def _merge(self, device: str, found: list[Heard]) -> None:
        """Many small records at once: a transaction for each would take longer than what is in it.

        What can not be applied is set aside, whatever is the matter with it.
        """
        records_heard, found[:] = list(found), []
        if not records_heard:
            return
        try:
            self.ledger.hear(device, records_heard)
        except _NOT_APPLICABLE as refused:
            if len(records_heard) > 1:
                for one in records_heard:
                    self._merge(device, [one])
                return
            why = f"it can not be applied ({type(refused).__name__})"
            records_heard = [replace(records_heard[0], events=(), why=why)]
            self.ledger.hear(device, records_heard)
        for one in records_heard:
            self.learn(device, one.events)

    def _try_again(self) -> int:
        """How many of those that were set aside could be heard; a newer version may read more."""
        heard = 0
        for aside in [one for one in self.ledger.set_aside() if one.passed][:_TRIED_AGAIN]:
            for entry in self.log.read(aside.device, aside.number - 1, 1):
                try:
                    header = self._checked(aside.device, entry)
                    signing_key = self.roster.device(aside.device).signing_key
                    records.check_signature(entry.sealed, signing_key)
                    digest = self.ledger.digest(aside.device, aside.number)
                    if entry.number != aside.number or header.digest != digest.hex():
                        continue
                    content = self._opened(entry, header)
                except (InvalidInput, KeyError):
                    continue
                found = [Heard(header.first, entry.number, content.events, digest)]
                self._merge(aside.device, found)
                heard += 1
        return heard

    # Those who were removed

    def _hear_removed(self, device: str, head: int) -> int:
        """Up to where it was removed, and only what its chain says it had said by then."""
        cuts, stream = self.roster.cuts(device), self._stream(device)
        chained = [cut for cut in cuts if cut.digest]
        if not chained:
            return self._hear_unchained(device, cuts[0].last)
        if max(cut.last for cut in chained) <= stream.cursor:
            return 0
        looked = (head, stream.cursor, *chained)
        rewritten = SetAside(device, stream.cursor + 1, REMOVED_AND_REWRITTEN, passed=False)
        if self._scanned.get(device) == looked:
            self._waiting[device] = rewritten
            return 0
        try:
            target, path = self._reached(device, {cut.digest: cut for cut in chained})
            if target is None or target.digest == stream.digest:
                self._scanned[device] = looked
                self._waiting[device] = rewritten
                return 0
            return self._take_until(device, target, path)
        except MissingKey as missing:
            self._waiting[device] = SetAside(
                device, stream.cursor + 1, missing.message, passed=False
            )
            return 0

    def _chained(self, device: str) -> Iterator[tuple[Header, Content | None, str]]:
        """The records that the chain leads to from what was heard; None and why for what can not be
        applied. Whoever can write there may have laid down others beside them.

        Raises:
            MissingKey: the key of the next one is not here.
        """
        at = self._stream(device)
        for entry, header in self._all_signed(self._stream(device)):
            content, why = None, ""
            try:
                content = self._opened(entry, header)
                self._check_overlap(at, header, content)
            except MissingKey:
                raise
            except InvalidInput as bad:
                if header.first <= at.cursor:
                    return  # it stands for some that were read, and may say something else
                why = bad.message
            if not header.is_chained:
                return
            at.passed(header)
            yield header, content, why

    def _reached(
        self, device: str, cuts: Mapping[bytes, Cut]
    ) -> tuple[Cut | None, Collection[str]]:
        """The furthest of these cuts that the stream comes to, without a change on the way, and the
        digests of the records on the way.
        """
        stream, path = self._stream(device), set()
        found = cuts.get(stream.digest)
        try:
            for header, content, _ in self._chained(device):
                path.add(header.digest)
                if content is None:  # it is set aside; the chain goes on over it
                    passed = [one for one in cuts if one.hex() == header.digest]
                else:
                    self._keep_keys(content.events, are_counted=False)  # of what follows
                    previous = bytes.fromhex(header.previous)
                    passed = [one for one in cuts if content.until(previous, one) is not None]
                found = max(
                    [cuts[one] for one in passed] + ([found] if found else []), default=None
                )
        except MissingKey:
            if found is None:
                raise
        return found, path

    def _take_until(self, device: str, target: Cut, path: Collection[str]) -> int:
        found: list[Heard] = []
        heard = 0
        for header, content, why in self._chained(device):
            if header.digest not in path:
                break  # the place shows something else than a moment ago
            events: Sequence[Event] = ()
            if content is None:
                is_last = header.digest == target.digest.hex()
            else:
                until = content.until(bytes.fromhex(header.previous), target.digest)
                is_last = until is not None
                # Vectors are not covered by the chain: they are made here.
                covered = content.events[: content.covered] if until is None else until
                events = [without_vectors(one) if isinstance(one, Said) else one for one in covered]
            digest = target.digest if is_last else bytes.fromhex(header.digest)
            number = max(target.last, header.first) if is_last else header.number
            found.append(Heard(header.first, number, events, digest, why))
            heard += 1
            if is_last or len(found) >= _READ_AT_ONCE:
                self._merge(device, found)
            if is_last:
                break
        self._merge(device, found)
        return heard

    def _hear_unchained(self, device: str, last: int) -> int:
        """A stream of an older version counts by its numbers: it has no chain."""
        stream, heard = self._stream(device), 0
        for entry, header in self._all_signed(stream):
            if entry.number > last:
                break
            took = self._take(device, [(entry, header)], {})
            if not took:
                break
            heard += took
        return heard

    # Reading

    def _stream(self, device: str) -> _Stream:
        cursor = self.ledger.cursor(device)
        return _Stream(device, cursor, self.ledger.digest(device, cursor))

    def _all_signed(self, stream: _Stream) -> Iterator[_Signed]:
        at = stream.cursor
        while page := self.log.read(stream.device, at, _READ_AT_ONCE):
            before = stream.cursor
            yield from self._signed(stream, page)
            at = page[-1].number
            if stream.cursor == before:
                return

    def _signed(self, stream: _Stream, page: Sequence[Entry]) -> Iterator[_Signed]:
        """The records that follow what was heard, without a gap. What else lies there is passed over:
        it may stand before a record that does follow. The first of it is remembered.
        """
        device = stream.device
        for entry in page:
            try:
                header = self._checked(device, entry)
                if entry.number <= stream.cursor:
                    continue
                if header.first > stream.cursor + 1:
                    stream.lacks = True
                    return
                records.check_signature(entry.sealed, self.roster.device(device).signing_key)
                self._check_chain(stream, header)
            except InvalidInput as bad:
                odd = SetAside(device, entry.number, bad.message, passed=False)
                self._foreign.setdefault(device, odd)
                continue
            self._foreign.pop(device, None)
            stream.passed(header)
            yield entry, header

    def _check_chain(self, stream: _Stream, header: Header) -> None:
        if not stream.digest:
            return
        if not header.is_chained:
            raise BadRecord(OLDER_VERSION)
        if header.first == stream.cursor + 1:
            known: bytes = stream.digest
        else:
            known = self.ledger.digest(stream.device, header.first - 1)
        if known and bytes.fromhex(header.previous) != known:
            raise BadRecord(REWRITTEN)

    def _check_overlap(self, stream: _Stream, header: Header, content: Content) -> None:
        """A record that stands for some that were heard has to go through what they came to."""
        overlaps = stream.digest and header.first <= stream.cursor < header.number
        if overlaps and content.until(bytes.fromhex(header.previous), stream.digest) is None:
            raise BadRecord(REWRITTEN)

    def _meet(self, heads: Mapping[str, int]) -> None:
        """Of devices that are not known only the hello is looked at, of some at a time."""
        named = {one for meant in self.roster.verdicts.values() for one in meant}
        keys = len(self.ledger.epoch_keys())
        unknown = sorted(
            (one for one in set(heads) - set(self.roster.hellos) - {self.keys.device}),
            key=lambda one: (one not in named, one in self._looked_at, one),
        )
        fresh = [
            one for one in unknown if one in named or self._looked_at.get(one) != (heads[one], keys)
        ][:UNKNOWN_AT_ONCE]
        if not fresh:
            return
        for device, (entry,) in self.log.read_all(
            dict.fromkeys(fresh, 0), len(fresh), each=1
        ).items():
            self._looked_at[device] = (heads[device], keys)
            try:
                header = self._checked(device, entry)
                if header.request:
                    self._meet_guest(device, entry, header)
                else:
                    hello = records.introduction(entry.sealed, self._epoch_key(header))
                    self.roster.hear(device, [hello])
                    self.asking.pop(device, None)
            except InvalidInput:
                continue  # shown as a stranger

    def _meet_guest(self, device: str, entry: Entry, header: Header) -> None:
        """A device that asks to be let in; only the one that invited it can read that."""
        inviters = [by for name, by in self.roster.invites if name == header.request]
        if not inviters:
            return
        if self.keys.device in inviters:
            hello = records.opened_request(entry.sealed, self.keys)
            self._check_request(hello, header.request)
            self.roster.hear(device, [hello])
        else:
            self.asking[device] = inviters[0]

    def _check_request(self, hello: Hello, invite: str) -> None:
        if hello.invite != invite:
            raise BadRecord("it names two invitations")

    def _checked(self, device: str, entry: Entry) -> Header:
        header = records.header_of(entry.sealed)
        if (header.circle, header.device, header.number) != (self.circle, device, entry.number):
            raise BadRecord("it belongs to another place of the log")
        return header

    def _opened(self, entry: Entry, header: Header) -> Content:
        content = records.opened(entry.sealed, self._epoch_key(header))
        for event in content.events:
            leaves = isinstance(event, Removed) and event.device == header.device
            if leaves and isinstance(event, Removed) and event.last > header.number:
                raise BadRecord("its device leaves at a number that it has not come to")
        return content

    def _epoch_key(self, header: Header) -> bytes:
        key = self._epoch_keys.get(header.epoch)
        if key is None:
            self._epoch_keys = dict(self.ledger.epoch_keys())
            key = self._epoch_keys.get(header.epoch)
        if key is None:
            raise MissingKey(NO_KEY)
        return key


def key_context(circle: str, epoch: str) -> bytes:
    """What the key of an epoch is bound to when it is sealed for a device."""
    return f"{circle} {epoch}".encode()
