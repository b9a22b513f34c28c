"""Records: a batch of events, compressed, sealed with the epoch's key, signed by its device.

    "iaiR" 2 | length of the header | header | sealed body | signature

The header is readable by the place (circle, device, numbers, epoch, chain) and bound to the body, so
that no record can stand for another one. Every record has a key of its own, made from the epoch's key
and 32 random bytes, so that a record that is sealed anew repeats nothing.

The body is a line with the record's part of the chain, then the events. Version 1, which has neither
that line nor a chain in the header, is still read.
"""

import base64
import json
import os
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from iai_mcp import zstd
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.event_chain import SALT_BYTES, Link, folded, leaf_of, steps
from iai_mcp.domain.shared_events import (
    DIGEST_BYTES,
    MEMBERSHIP,
    Event,
    Hello,
    lines_of,
    parsed,
)
from iai_mcp.sharing.keys import (
    DeviceKeys,
    NotForUs,
    decrypt,
    derived,
    encrypt_once,
    is_signed,
    sealed_for,
)

_LARGEST_BODY = 16 << 20
LARGEST = _LARGEST_BODY + (1 << 16)  # bytes of a sealed record
_LARGEST_HEADER = 4096
_LEVEL = 6
_START = struct.Struct(">4sBI")
_MAGIC, _VERSION = b"iaiR", 2
_SIGNATURE_BYTES = 64
_SALT_BYTES = 32
_ID = re.compile(r"[0-9a-f]{32}\Z")
# What a compressed body may ask to be kept in memory: 32 MB.
_WINDOW = {int(zstd.DecompressionParameter.window_log_max): 25}
_REQUEST = "request "  # then the name of the invitation: what stands for the epoch in such a record


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Which record it is. It stands for the numbers `first` to `number` of its stream."""

    circle: str
    device: str
    number: int
    first: int
    epoch: str
    salt: str = ""  # hexadecimal
    previous: str = ""  # digest of the chain before it, hexadecimal; "" before the first event
    digest: str = ""  # the same after it; "" in records of version 1
    membership: bool = False  # whether any of its events is about membership

    @property
    def is_chained(self) -> bool:
        return bool(self.digest)

    @property
    def request(self) -> str:
        """The invitation that it asks to join with; "" for every other record."""
        return self.epoch[len(_REQUEST) :] if self.epoch.startswith(_REQUEST) else ""


@dataclass(frozen=True, slots=True)
class Content:
    """Events and their places in the chain.

    The links with a salt are those of the first events, in order; the others are of events that are
    not there any more. Events behind those with a link are not covered by the chain: they read
    otherwise today than when they went out.
    """

    events: Sequence[Event]
    links: Sequence[Link] = ()

    @property
    def covered(self) -> int:
        """How many events the chain covers."""
        return sum(bool(link.salt) for link in self.links)

    def until(self, previous: bytes, digest: bytes) -> list[Event] | None:
        """The covered events up to where the chain has that digest; None where it never has."""
        if previous == digest:
            return []
        count = 0
        for link, step in zip(
            self.links, steps(previous, (link.leaf for link in self.links)), strict=True
        ):
            count += bool(link.salt)
            if step == digest:
                return list(self.events[:count])
        return None


class BadRecord(InvalidInput):
    """It is set aside; the sentence says why."""


def request_of(invite: str) -> str:
    """What stands for the epoch in the record of a device that asks to join."""
    return _REQUEST + invite


def seal(content: Content, header: Header, epoch_key: bytes, keys: DeviceKeys) -> bytes:
    """One record, under the epoch's key."""

    def encrypted(start: bytes, told: Header, body: bytes) -> bytes:
        return encrypt_once(_record_key(epoch_key, told), body, start)

    return _sealed(content, header, keys, encrypted)


def seal_request(content: Content, header: Header, sealing_key: bytes, keys: DeviceKeys) -> bytes:
    """One record that only the owner of that public key opens."""
    return _sealed(
        content, header, keys, lambda start, _, body: sealed_for(sealing_key, body, start)
    )


def _sealed(
    content: Content,
    header: Header,
    keys: DeviceKeys,
    encrypted: Callable[[bytes, Header, bytes], bytes],
) -> bytes:
    told = Header(
        **{
            **{name: getattr(header, name) for name in _NAMES},
            "salt": os.urandom(_SALT_BYTES).hex(),
            "membership": any(isinstance(one, MEMBERSHIP) for one in content.events),
        }
    )
    body = zstd.compress(_body(content), level=_LEVEL)
    start = _written(told)
    sealed = encrypted(start, told, body)
    return start + sealed + keys.sign(start + sealed)


def header_of(record: bytes) -> Header:
    """
    Raises:
        BadRecord: it is no record, or one of a newer version.
    """
    return _parsed(record)[0]


def check_signature(record: bytes, signing_key: bytes) -> None:
    """
    Raises:
        BadRecord: its device did not sign it.
    """
    if not is_signed(signing_key, record[-_SIGNATURE_BYTES:], record[:-_SIGNATURE_BYTES]):
        raise BadRecord("the signature is not that of its device")


def opened(record: bytes, epoch_key: bytes) -> Content:
    """What is in a record; who asks has looked at its signature.

    Raises:
        BadRecord: it is damaged, forged, or not what its place in the stream says.
    """
    header, length = _parsed(record)
    start, sealed = record[:length], record[length:-_SIGNATURE_BYTES]
    try:
        body = decrypt(_record_key(epoch_key, header), sealed, start)
    except NotForUs as wrong:
        raise BadRecord("it can not be opened with the circle's key") from wrong
    return _content(header, body)


def introduction(record: bytes, epoch_key: bytes) -> Hello:
    """The hello of a device that is not known yet: the record holds the key that it is signed with.

    Raises:
        BadRecord: there is none, or it is not its device's own.
    """
    return _hello(record, opened(record, epoch_key))


def opened_request(record: bytes, keys: DeviceKeys) -> Hello:
    """The hello of a device that asks to join.

    Raises:
        BadRecord: it is not for this device, or not its device's own.
    """
    header, length = _parsed(record)
    start, sealed = record[:length], record[length:-_SIGNATURE_BYTES]
    try:
        body = keys.opened(sealed, start)
    except NotForUs as wrong:
        raise BadRecord("it asks somebody else") from wrong
    return _hello(record, _content(header, body))


def _hello(record: bytes, content: Content) -> Hello:
    for event in content.events:
        if isinstance(event, Hello):
            check_signature(record, event.signing_key)
            return event
    raise BadRecord("its device did not introduce itself")


def _body(content: Content) -> bytes:
    entries = [_coded(link.salt or link.leaf) for link in content.links]
    lines = [json.dumps(entries, separators=(",", ":")).encode()]
    lines += [line for event in content.events for line in lines_of(event) if line]
    return b"\n".join(lines)


def _content(header: Header, body: bytes) -> Content:
    data = _unpacked(body)
    if not header.is_chained:
        return Content([event for _, event in parsed(data)])
    head, _, rest = data.partition(b"\n")
    try:
        entries = [base64.urlsafe_b64decode(one) for one in json.loads(head)]
    except (ValueError, TypeError, RecursionError) as broken:
        raise BadRecord("its part of the chain is damaged") from broken
    events = parsed(rest)
    lines = iter(events)
    links = []
    for entry in entries:
        if len(entry) == DIGEST_BYTES:
            links.append(Link(b"", entry))
        elif len(entry) == SALT_BYTES and (line := next(lines, None)) is not None:
            links.append(Link(entry, leaf_of(entry, line[0])))
        else:
            raise BadRecord("its part of the chain is damaged")
    content = Content([event for _, event in events], links)
    digest = folded(bytes.fromhex(header.previous), (link.leaf for link in links))
    if digest != bytes.fromhex(header.digest):
        raise BadRecord("its events are not those of its chain")
    return content


def _coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")


_NAMES = tuple(Header.__dataclass_fields__)


def _record_key(epoch_key: bytes, header: Header) -> bytes:
    context = (header.circle, header.device, str(header.number), str(header.first), header.epoch)
    parts = (one.encode() for one in context)
    return derived(epoch_key, "record", *parts, salt=bytes.fromhex(header.salt))


def _written(header: Header) -> bytes:
    told = {name: getattr(header, name) for name in _NAMES}
    text = json.dumps({name: one for name, one in told.items() if one}, separators=(",", ":"))
    return _START.pack(_MAGIC, _VERSION, len(text)) + text.encode("ascii")


def _parsed(record: bytes) -> tuple[Header, int]:
    """The header and how many bytes there are in front of the body."""
    if len(record) < _START.size + _SIGNATURE_BYTES:
        raise BadRecord("it is too short for a record: it is cut off, or not a record")
    magic, version, size = _START.unpack_from(record)
    if magic != _MAGIC:
        raise BadRecord("it is not a record")
    if not 1 <= version <= _VERSION:
        raise BadRecord("a newer version of iai-mcp wrote it: upgrade iai-mcp here")
    length = _START.size + size
    if size > _LARGEST_HEADER or len(record) < length + _SIGNATURE_BYTES:
        raise BadRecord("it is cut off")
    try:
        header = _checked(json.loads(record[_START.size : length]), version)
    except (ValueError, TypeError, RecursionError) as broken:
        raise BadRecord("its header is damaged") from broken
    return header, length


def _checked(raw: Mapping[str, object], version: int) -> Header:
    header = Header(**raw)  # type: ignore[arg-type]  # each field is looked at below
    texts = (
        header.circle,
        header.device,
        header.epoch,
        header.salt,
        header.previous,
        header.digest,
    )
    if not all(isinstance(one, str) for one in texts) or type(header.membership) is not bool:
        raise ValueError("a name that is no text")
    if not all(map(_ID.match, (header.circle, header.device, header.request or header.epoch))):
        raise ValueError("a name that is none")
    if any(type(one) is not int for one in (header.number, header.first)):
        raise ValueError("a number that is none")
    in_range = 1 <= header.first <= header.number < 10**18
    if not in_range or len(bytes.fromhex(header.salt)) != _SALT_BYTES:
        raise ValueError("out of range")
    sizes = [len(bytes.fromhex(one)) for one in (header.previous, header.digest)]
    if sizes[0] not in (0, DIGEST_BYTES) or sizes[1] != (DIGEST_BYTES if version > 1 else 0):
        raise ValueError("a chain that is none")
    return header


def _unpacked(body: bytes) -> bytes:
    reader = zstd.ZstdDecompressor(options=_WINDOW)
    try:
        data = reader.decompress(body, max_length=_LARGEST_BODY + 1)
    except zstd.ZstdError as broken:
        raise BadRecord("its body is damaged") from broken
    if len(data) > _LARGEST_BODY:
        raise BadRecord("its body is larger than any that is written")
    if not reader.eof:
        raise BadRecord("its body is cut short")
    return data
