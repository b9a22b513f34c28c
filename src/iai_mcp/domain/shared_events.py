"""What devices that share memories tell each other, and how that is written down."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import ClassVar, TypeVar, get_origin, get_type_hints

from iai_mcp.domain.errors import InvalidInput

IDENTITY_BYTES = 16


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
    """The first word of a device. `proof` shows that it was invited; the founder needs none."""

    type: ClassVar[str] = "hello"

    member: str
    machine: str
    signing_key: bytes
    sealing_key: bytes
    invite: str = ""
    proof: bytes = b""


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
    """Of those who came with one invitation, this device is the one that was meant."""

    type: ClassVar[str] = "admitted"

    invite: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What this device wrote after `last` does not count."""

    type: ClassVar[str] = "removed"

    device: str
    last: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochKey:
    """The key of an epoch, sealed for each device by itself."""

    type: ClassVar[str] = "epoch"

    epoch: str
    began: int
    after: str = ""  # the epoch that this very event is sealed under, where not its own
    sealed: Mapping[str, bytes] = field(default_factory=dict)


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
)
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
)
_BY_TYPE: Mapping[str, type[Event]] = {kind.type: kind for kind in _KINDS}
_T = TypeVar("_T")


class NewerEvent(InvalidInput):
    """A version of iai-mcp that is newer than this one wrote it."""


def encoded(events: Iterable[Event]) -> bytes:
    """One JSON object a line; what has its default is left out."""
    lines = (json.dumps(_plain(one), ensure_ascii=False, separators=(",", ":")) for one in events)
    return "\n".join(lines).encode("utf-8", "replace")


def decoded(data: bytes) -> list[Event]:
    """The events of `encoded`.

    Raises:
        NewerEvent: one is of a kind that this version does not know.
        InvalidInput: it is none.
    """
    try:
        raw = [json.loads(line) for line in data.decode("utf-8").split("\n") if line]
    except (ValueError, RecursionError) as broken:
        raise InvalidInput("a record that is shared holds no events") from broken
    return [_event(one) for one in raw]


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


def _sealed(value: object) -> dict[str, bytes]:
    return {str(name): _bytes(one) for name, one in _typed(dict)(value).items()}


_READERS: Mapping[object, Callable[[object], object]] = {
    str: _typed(str),
    int: _typed(int),
    bool: _typed(bool),
    bytes: _bytes,
    Mapping: _sealed,
}
