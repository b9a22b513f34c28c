"""Records: a batch of events, compressed, sealed with the epoch's key, signed by its device.

    "iaiR" 1 | length of the header | header | sealed body | signature

The header is readable by the place (circle, device, numbers, epoch) and bound to the body, so that
no record can stand for another one. Every record has a key of its own, made from the epoch's key
and 32 random bytes, so that a record that is sealed anew repeats nothing.
"""

import json
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp import zstd
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import Event, Hello, decoded, encoded
from iai_mcp.sharing.keys import DeviceKeys, NotForUs, decrypt, derived, encrypt_once, is_signed

LARGEST = 64 << 20  # bytes of a sealed record
_LARGEST_BODY = 512 << 20
_LARGEST_HEADER = 4096
_LEVEL = 6
_START = struct.Struct(">4sBI")
_MAGIC, _VERSION = b"iaiR", 1
_SIGNATURE_BYTES = 64
_SALT_BYTES = 32


@dataclass(frozen=True, slots=True)
class Header:
    """Which record it is. It stands for the numbers `first` to `number` of its stream."""

    circle: str
    device: str
    number: int
    first: int
    epoch: str
    salt: str  # hexadecimal


class BadRecord(InvalidInput):
    """It is set aside; the sentence says why."""


def seal(
    events: Sequence[Event],
    header: Callable[[str], Header],
    epoch_key: bytes,
    keys: DeviceKeys,
) -> bytes:
    """One record; `header` is asked with the salt of this sealing."""
    salt = os.urandom(_SALT_BYTES)
    told = header(salt.hex())
    body = zstd.compress(encoded(events), level=_LEVEL)
    start = _written(told)
    sealed = encrypt_once(_record_key(epoch_key, told), body, start)
    return start + sealed + keys.sign(start + sealed)


def header_of(record: bytes) -> Header:
    """
    Raises:
        BadRecord: it is no record, or one of a newer version.
    """
    return _parsed(record)[0]


def opened(record: bytes, epoch_key: bytes, signing_key: bytes) -> list[Event]:
    """The events of a record that its device signed.

    Raises:
        BadRecord: it is damaged, forged, or not what its place in the stream says.
    """
    if not is_signed(signing_key, record[-_SIGNATURE_BYTES:], record[:-_SIGNATURE_BYTES]):
        raise BadRecord("the signature is not that of its device")
    return _unsealed(record, epoch_key)


def introduction(record: bytes, epoch_key: bytes) -> Hello:
    """The hello of a device that is not known yet: the record holds the key that it is signed with.

    Raises:
        BadRecord: there is none, or it is not its device's own.
    """
    for event in _unsealed(record, epoch_key):
        if isinstance(event, Hello):
            opened(record, epoch_key, event.signing_key)
            return event
    raise BadRecord("its device did not introduce itself")


def _unsealed(record: bytes, epoch_key: bytes) -> list[Event]:
    header, length = _parsed(record)
    start, sealed = record[:length], record[length:-_SIGNATURE_BYTES]
    try:
        body = decrypt(_record_key(epoch_key, header), sealed, start)
    except NotForUs as wrong:
        raise BadRecord("it can not be opened with the circle's key") from wrong
    return decoded(_unpacked(body))


def _record_key(epoch_key: bytes, header: Header) -> bytes:
    context = (header.circle, header.device, str(header.number), str(header.first), header.epoch)
    parts = (one.encode() for one in context)
    return derived(epoch_key, "record", *parts, salt=bytes.fromhex(header.salt))


def _written(header: Header) -> bytes:
    names = Header.__dataclass_fields__
    text = json.dumps({name: getattr(header, name) for name in names}, separators=(",", ":"))
    return _START.pack(_MAGIC, _VERSION, len(text)) + text.encode("ascii")


def _parsed(record: bytes) -> tuple[Header, int]:
    """The header and how many bytes there are in front of the body."""
    if len(record) < _START.size + _SIGNATURE_BYTES:
        raise BadRecord("it is too short for a record: it is cut off, or not a record")
    magic, version, size = _START.unpack_from(record)
    if magic != _MAGIC:
        raise BadRecord("it is not a record")
    if version != _VERSION:
        raise BadRecord("a newer version of iai-mcp wrote it: upgrade iai-mcp here")
    length = _START.size + size
    if size > _LARGEST_HEADER or len(record) < length + _SIGNATURE_BYTES:
        raise BadRecord("it is cut off")
    try:
        header = _checked(json.loads(record[_START.size : length]))
    except (ValueError, TypeError, RecursionError) as broken:
        raise BadRecord("its header is damaged") from broken
    return header, length


def _checked(raw: dict[str, object]) -> Header:
    header = Header(**raw)  # type: ignore[arg-type]  # each field is looked at below
    texts = (header.circle, header.device, header.epoch, header.salt)
    if not all(isinstance(one, str) for one in texts):
        raise ValueError("a name that is no text")
    if any(type(one) is not int for one in (header.number, header.first)):
        raise ValueError("a number that is none")
    if not 1 <= header.first <= header.number or len(bytes.fromhex(header.salt)) != _SALT_BYTES:
        raise ValueError("out of range")
    return header


def _unpacked(body: bytes) -> bytes:
    reader = zstd.ZstdDecompressor()
    try:
        data = reader.decompress(body, max_length=_LARGEST_BODY + 1)
    except zstd.ZstdError as broken:
        raise BadRecord("its body is damaged") from broken
    if len(data) > _LARGEST_BODY:
        raise BadRecord("its body is larger than any that is written")
    if not reader.eof:
        raise BadRecord("its body is cut short")
    return data
