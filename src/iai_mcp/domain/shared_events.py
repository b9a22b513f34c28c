"""The events that devices of a circle exchange, how they are written down, and their bounds."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, TypeVar, get_origin, get_type_hints

from iai_mcp.domain.errors import InvalidInput

IDENTITY_BYTES = 16
DIGEST_BYTES = 24  # of the chain that the events of a stream form
SEALED_KEY_BYTES = 80  # the key of an epoch, sealed for one device
LONGEST_TEXT = 8 << 20  # bytes of a turn that is shared
EARLIEST, LATEST = -62_000_000_000_000_000, 253_000_000_000_000_000  # the years 5 and 9987
_MOST_EVENTS = 20_000  # of one record


def device_id(signing_key: bytes, sealing_key: bytes) -> str:
    """A device is its public keys: nobody can pass for it without the private ones."""
    return hashlib.blake2b(signing_key + sealing_key, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn, under the identity it has on every machine."""

    type: ClassVar[str] = "said"

    identity: bytes
    project: str  # its id within the circle
    session_id: str
    role: str
    text: str
    at: int  # microseconds
    speaker: str = ""
    tier: str = "episodic"
    cue: str = ""
    host: str = ""
    agent_id: str = ""
    agent_name: str = ""
    branch: str = ""
    meta: str = ""  # canonical JSON, "" when there is none
    model: str = ""  # whose vectors travel along, "" for none
    vector: bytes = b""  # a 32-bit scale, then a byte per number
    # The memory's other vectors as `ports.vectors.CodedParts` has them: the scales, then the bytes.
    parts: bytes = b""
    topics: int = 0
    context: bool = False
    whole: bool = False  # whether these are all: who has the same model makes none


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgot:
    """A turn is to be gone everywhere, whether it arrived or not."""

    type: ClassVar[str] = "forgot"

    identity: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """From `at` on another turn says what holds; `by` is empty where that was taken back."""

    type: ClassVar[str] = "superseded"

    identity: bytes
    by: bytes
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    type: ClassVar[str] = "pinned"

    identity: bytes
    pinned: bool
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectNamed:
    """A project of the circle, and by what other machines know their own checkout of it."""

    type: ClassVar[str] = "project"

    project: str
    name: str
    remote: str = ""
    root_commit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first word of a device. `proof` shows that it was invited; the founder needs none. Who lets
    a device in passes its hello on.
    """

    type: ClassVar[str] = "hello"

    member: str
    machine: str
    signing_key: bytes
    sealing_key: bytes
    invite: str = ""
    proof: bytes = b""

    @property
    def device(self) -> str:
        return device_id(self.signing_key, self.sealing_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Whoever can sign with this key may join, once and until then."""

    type: ClassVar[str] = "invited"

    invite: str
    key: bytes
    member: str  # "" leaves the name to who joins
    expires: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Of the devices that came with one invitation, this one was meant. It has the keys of `epochs`."""

    type: ClassVar[str] = "admitted"

    invite: str
    device: str
    epochs: bytes = b""  # 16 bytes each


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What this device wrote after `last` does not count. `digest` is that of its chain there."""

    type: ClassVar[str] = "removed"

    device: str
    last: int
    at: int
    digest: bytes = b""  # empty where its stream has no chain: an older version wrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochKey:
    """The key of an epoch, sealed for each device by itself."""

    type: ClassVar[str] = "epoch"

    epoch: str
    began: int
    after: str = ""  # the epoch that this very event is sealed under, where not its own
    sealed: Mapping[str, bytes] = field(default_factory=dict)
    without: bytes = b""  # devices that were removed when it began: 16 bytes each


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """How far a device heard the others: for each a number and the digest of its chain there."""

    type: ClassVar[str] = "seen"

    heads: Mapping[str, bytes]  # 8 bytes of the number, then the digest


Event = (
    Said
    | Forgot
    | Superseded
    | Pinned
    | ProjectNamed
    | Hello
    | Invited
    | Admitted
    | Removed
    | EpochKey
    | Seen
)
MEMBERSHIP = (Hello, Invited, Admitted, Removed, EpochKey)
_KINDS: tuple[type[Event], ...] = (
    Said,
    Forgot,
    Superseded,
    Pinned,
    ProjectNamed,
    Hello,
    Invited,
    Admitted,
    Removed,
    EpochKey,
    Seen,
)
_BY_TYPE: Mapping[str, type[Event]] = {kind.type: kind for kind in _KINDS}
_T = TypeVar("_T")


class NewerEvent(InvalidInput):
    """A version of iai-mcp that is newer than this one wrote it."""


def encoded(events: Iterable[Event]) -> bytes:
    """One JSON object a line; what has its default is left out. See `lines_of`."""
    return b"\n".join(line for event in events for line in lines_of(event) if line)


def lines_of(event: Event) -> tuple[bytes, bytes]:
    """An event as its line, and the line with its vectors, which may come later; b"" for none."""
    if not isinstance(event, Said) or not event.vector:
        return _line(_plain(event)), b""
    vectors = {name: _as_json(getattr(event, name)) for name in _VECTORS}
    return _line(_plain(without_vectors(event))), _line({"type": _VECTORS_LINE, **vectors})


def without_vectors(said: Said) -> Said:
    return replace(said, model="", vector=b"", parts=b"", topics=0, context=False, whole=False)


def decoded(data: bytes) -> list[Event]:
    """The events of `encoded`; see `parsed`."""
    return [event for _, event in parsed(data)]


def parsed(data: bytes) -> list[tuple[bytes, Event]]:
    """The events of `encoded`, each with its line.

    Raises:
        NewerEvent: one is of a kind that this version does not know.
        InvalidInput: it is none, or a field is out of its bounds.
    """
    found: list[tuple[bytes, Event]] = []
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            raw = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as broken:
            raise InvalidInput("a record that is shared holds no events") from broken
        if isinstance(raw, dict) and raw.get("type") == _VECTORS_LINE:
            if not found:
                raise InvalidInput("vectors in a record belong to no turn")
            before, said = found[-1]
            found[-1] = (before, _with_vectors(said, raw))
            continue
        if len(found) >= _MOST_EVENTS:
            raise InvalidInput("a record that is shared holds too many events")
        event = _event(raw)
        _check(event, escapes=b"\\u" in line)
        found.append((line, event))
    return found


_VECTORS = ("model", "vector", "parts", "topics", "context", "whole")
_VECTORS_LINE = "vectors"


def _line(raw: Mapping[str, object]) -> bytes:
    text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _with_vectors(said: Event, raw: Mapping[str, object]) -> Said:
    if not isinstance(said, Said):
        raise InvalidInput("vectors in a record belong to no turn")
    read = dict(_readers_of(Said.type))
    values = {name: read[name](raw[name]) for name in _VECTORS if name in raw}
    make: Callable[..., Said] = replace
    made = make(said, **values)
    _check(made, escapes=True)
    return made


def _plain(event: Event) -> dict[str, object]:
    told: dict[str, object] = {"type": event.type}
    for one in fields(event):
        value = getattr(event, one.name)
        if value != one.default:
            told[one.name] = _as_json(value)
    return told


def _as_json(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return {name: _as_json(one) for name, one in value.items()}
    return value


def _event(raw: object) -> Event:
    if not isinstance(raw, dict):
        raise InvalidInput("an event that is shared must be an object")
    kind = _BY_TYPE.get(str(raw.get("type")))
    if kind is None:
        raise NewerEvent("an event of a kind that this version does not know: upgrade iai-mcp here")
    values = {name: read(raw[name]) for name, read in _readers_of(kind.type) if name in raw}
    make: Callable[..., Event] = kind
    try:
        event = make(**values)
    except TypeError as missing:
        raise InvalidInput("an event that is shared lacks a field") from missing
    if len(getattr(event, "identity", bytes(IDENTITY_BYTES))) != IDENTITY_BYTES:
        raise InvalidInput("an event that is shared names no memory")
    return event


@cache
def _readers_of(type_name: str) -> tuple[tuple[str, Callable[[object], object]], ...]:
    kind = _BY_TYPE[type_name]
    hints = get_type_hints(kind)
    types = {one.name: hints[one.name] for one in fields(kind)}
    return tuple((name, _READERS[get_origin(hint) or hint]) for name, hint in types.items())


def _typed(kind: type[_T]) -> Callable[[object], _T]:
    def read(value: object) -> _T:
        if type(value) is not kind:
            raise InvalidInput(f"a field of a shared event must be of type {kind.__name__}")
        return value

    return read


def _bytes(value: object) -> bytes:
    try:
        return base64.b64decode(_typed(str)(value), validate=True)
    except ValueError as broken:
        raise InvalidInput("a field of a shared event is not base64") from broken


def _by_name(value: object) -> dict[str, bytes]:
    return {str(name): _bytes(one) for name, one in _typed(dict)(value).items()}


_READERS: Mapping[object, Callable[[object], object]] = {
    str: _typed(str),
    int: _typed(int),
    bool: _typed(bool),
    bytes: _bytes,
    Mapping: _by_name,
}


_HEX = re.compile(r"[0-9a-f]{32}\Z")
_LONGEST: Mapping[str, int] = {
    "text": LONGEST_TEXT,
    "cue": 1 << 20,
    "meta": 1 << 16,
    "vector": 1 << 16,
    "parts": 8 << 20,
}
_LONGEST_FIELD = 4096
_MOST_DEVICES = 4096
_HIGHEST = 10**18  # numbers of records are below


def _check(event: Event, *, escapes: bool) -> None:
    """
    Raises:
        InvalidInput: a field is out of its bounds.
    """
    for one in fields(event):
        value = getattr(event, one.name)
        if isinstance(value, str):
            if len(value) > _LONGEST.get(one.name, _LONGEST_FIELD):
                raise InvalidInput(f"the field {one.name} of a shared event is too long")
            if escapes and not _is_text(value):
                raise InvalidInput(f"the field {one.name} of a shared event is no text")
        elif isinstance(value, bytes):
            if len(value) > _LONGEST.get(one.name, _LONGEST_FIELD * 16):
                raise InvalidInput(f"the field {one.name} of a shared event is too long")
        elif type(value) is int and not EARLIEST <= value <= LATEST:
            raise InvalidInput(f"the field {one.name} of a shared event is out of range")
    is_sound = _SOUND.get(type(event))
    if is_sound is not None and not is_sound(event):
        raise InvalidInput(f"an event of the kind {event.type!r} has a field that can not be")


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # half of a character that takes two
        return False
    return True


def _is_name(name: str) -> bool:
    return len(name) <= 64 and name.isprintable()


def _is_by_device(values: Mapping[str, bytes], size: int) -> bool:
    return 0 < len(values) <= _MOST_DEVICES and all(
        _HEX.match(device) and len(value) == size for device, value in values.items()
    )


_SOUND: Mapping[type[Event], Callable[[Any], bool]] = {
    Hello: lambda one: (
        _is_name(one.member)
        and bool(one.member)
        and _is_name(one.machine)
        and len(one.signing_key) == len(one.sealing_key) == 32
        and (not one.invite or bool(_HEX.match(one.invite)))
    ),
    Invited: lambda one: (
        bool(_HEX.match(one.invite)) and len(one.key) == 32 and _is_name(one.member)
    ),
    Admitted: lambda one: (
        bool(_HEX.match(one.invite) and _HEX.match(one.device)) and len(one.epochs) % 16 == 0
    ),
    Removed: lambda one: (
        bool(_HEX.match(one.device))
        and 0 <= one.last < _HIGHEST
        and len(one.digest) in (0, DIGEST_BYTES)
    ),
    EpochKey: lambda one: (
        bool(_HEX.match(one.epoch))
        and (not one.after or bool(_HEX.match(one.after)))
        and one.began >= 0
        and len(one.without) % 16 == 0
        and _is_by_device(one.sealed, SEALED_KEY_BYTES)
    ),
    Seen: lambda one: (
        _is_by_device(one.heads, 8 + DIGEST_BYTES)
        and all(int.from_bytes(head[:8], "big") < _HIGHEST for head in one.heads.values())
    ),
    Superseded: lambda one: len(one.by) in (0, IDENTITY_BYTES),
    Said: lambda one: 0 <= one.topics <= 1000,
}
