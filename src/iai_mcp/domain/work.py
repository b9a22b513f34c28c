"""What an agent did: commands, edits, and what it looked at.

As with turns, a `Work` is what arrives and may hold secrets; a `CleanWork` may be stored.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from iai_mcp.domain.commands import has_failed
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import Instant
from iai_mcp.domain.memories import (
    NewTurn,
    Provenance,
    encodable,
    redacted_provenance,
    turn_identity,
)
from iai_mcp.domain.telling import telling

Kind = Literal["command", "edit", "looked"]
KINDS: tuple[Kind, ...] = ("command", "edit", "looked")
ACTIONS = ("created", "changed", "deleted", "moved")

_LONGEST = 4096  # characters of one text; hooks send less
_MOST_NAMES = 12
_MOST_LOOKS = 40
_LARGEST = 1 << 31

_SHARED_DIRECTORIES = ("", "/tmp", "/var/tmp", "/private/tmp", "/root", "/home", "/Users")  # noqa: S108 - named, not written to


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was run, or (`rejected`) that a person did not let run."""

    command: str
    exit: int | None = None  # None: the host does not say
    cwd: str = ""
    seconds: float | None = None
    output: str = ""  # the lines that tell
    failed: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to one file, without what it says.

    `path` is as seen from the project, or from `root` where that is another place.
    """

    path: str
    action: str = "changed"
    added: int = 0
    removed: int = 0
    names: tuple[str, ...] = ()
    root: str = ""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was read or searched for."""

    paths: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


Done = Command | Edit | Looked


_UNIQUE = 16  # letters: hosts' ids of this length are unique, whatever session repeats them


@dataclass(frozen=True, slots=True)
class NewWork:
    """Something that was done, as it is delivered: what a turn has, and what was done."""

    told: NewTurn
    done: Done
    served: str = ""  # the host's id of the turn that it served

    def identities(self, salt: bytes, occurrence: int = 0) -> tuple[bytes, ...]:
        """What makes this tool call itself: its id, in whatever session it stands."""
        told = self.told
        identity = turn_identity(
            salt,
            "" if len(told.id) >= _UNIQUE else told.session_id,
            turn_id=told.id and f"tool {told.id}",
            role="tool",
            text=told.text,
            occurrence=occurrence if told.occurrence is None else told.occurrence,
        )
        return (identity,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Something that was done, as it arrived. It may hold secrets: it is never stored."""

    identity: bytes
    at: Instant
    done: Done
    note: str = ""  # what the agent said it was for
    turn: bytes | None = None  # the identity of the request that it served, where it is known
    provenance: Provenance

    @property
    def kind(self) -> Kind:
        return kind_of(self.done)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanWork(Work):
    """Work whose secrets were replaced by markers: the only kind a store accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Work as it is stored. `key` orders by arrival; `id` is what the world calls it."""

    key: int
    id: str
    at: Instant
    done: Done
    note: str = ""
    turn: bytes | None = None
    provenance: Provenance

    @property
    def kind(self) -> Kind:
        return kind_of(self.done)


def kind_of(done: Done) -> Kind:
    match done:
        case Command():
            return "command"
        case Edit():
            return "edit"
        case Looked():
            return "looked"
        case _:
            assert_never(done)


def text_of(done: Done, note: str = "") -> str:
    """What is shown of it, and searched."""
    match done:
        case Command():
            text = done.command
        case Edit():
            text = " ".join((done.action, done.path, *done.names))
        case Looked():
            text = " ".join((*done.paths, *done.queries))
        case _:
            assert_never(done)
    return f"{note}\n{text}" if note else text


def note_in(text: str, done: Done) -> str:
    """What an event's text says beside what was done: its note."""
    plain = text_of(done)
    return "" if text == plain else text.removesuffix(plain).rstrip("\n")[:_LONGEST]


def read_done(kind: str, raw: object) -> Done:
    """The `work` of an event.

    Raises:
        InvalidInput: it is no work of that kind.
    """
    if not isinstance(raw, dict):
        raise InvalidInput("work must be an object")
    if kind == "command":
        return _command(raw)
    if kind == "edit":
        action = raw.get("action")
        return Edit(
            _text(raw, "path", needed=True),
            action if isinstance(action, str) and action in ACTIONS else "changed",
            _count(raw, "added"),
            _count(raw, "removed"),
            _texts(raw, "names", _MOST_NAMES),
            _text(raw, "root"),
        )
    if kind == "looked":
        return Looked(_texts(raw, "paths", _MOST_LOOKS), _texts(raw, "queries", _MOST_LOOKS))
    raise InvalidInput(f"kind must be one of {', '.join(KINDS)}, not {kind[:40]!r}")


def _command(raw: Mapping[str, object]) -> Command:
    status, seconds = raw.get("exit"), raw.get("seconds")
    known = isinstance(status, int) and not isinstance(status, bool) and abs(status) < _LARGEST
    command = _text(raw, "command", needed=True)
    output = _text(raw, "output")
    code = status if known and isinstance(status, int) else None
    rejected = raw.get("rejected") is True
    took = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 1e9
    return Command(
        command,
        code,
        _text(raw, "cwd"),
        float(seconds) if took and isinstance(seconds, int | float) else None,
        output,
        not rejected and (raw.get("failed") is True or has_failed(command, code, output)),
        rejected,
    )


def clean_work(work: Work, redact: Callable[[str], str]) -> CleanWork:
    """The same with every text redacted, and of what was printed only the lines that tell."""
    return CleanWork(
        identity=work.identity,
        at=work.at,
        done=_redacted(work.done, redact),
        note=redact(work.note),
        turn=work.turn,
        provenance=redacted_provenance(work.provenance, redact),
    )


def _redacted(done: Done, redact: Callable[[str], str]) -> Done:
    match done:
        case Command():
            command = redact(done.command)
            output = telling(redact(done.output), command, failed=done.failed)
            return replace(done, command=command, cwd=redact(done.cwd), output=output)
        case Edit():
            names = tuple(map(redact, done.names))
            return replace(done, path=redact(done.path), names=names, root=redact(done.root))
        case Looked():
            return Looked(tuple(map(redact, done.paths)), tuple(map(redact, done.queries)))
        case _:
            assert_never(done)


def within_project(done: Done, cwd: str, project: str) -> Done:
    """An edit's path as seen from its project, or from where its session began: from the outer one
    that it lies in. Who begins a session elsewhere names files as seen from its directory."""
    if not isinstance(done, Edit):
        return done
    root = done.root or cwd
    path = done.path if done.path.startswith("/") or not root else f"{root.rstrip('/')}/{done.path}"
    places = sorted((one.rstrip("/") for one in (project, root) if one.startswith("/")), key=len)
    around = [one for one in places if one and path.startswith(f"{one}/") and "/../" not in path]
    if not around:
        return replace(done, path=path, root="")
    seen_from = "" if around[0] == project.rstrip("/") else around[0]
    return replace(done, path=path.removeprefix(f"{around[0]}/"), root=seen_from)


def is_within(path: str, directory: str) -> bool:
    """Whether a path is that directory or lies in it, by its letters."""
    return f"{path.rstrip('/')}/".startswith(f"{directory.rstrip('/')}/")


def is_shared_directory(path: str) -> bool:
    """Whether a directory belongs to no project: the root, homes and places for temporary files."""
    plain = path.rstrip("/")
    return plain in _SHARED_DIRECTORIES or plain.rpartition("/")[0] in ("/home", "/Users")


def whole_path(done: Edit, project: str) -> str:
    """Where the file is, as far as that is known."""
    root = done.root or project
    inside = not done.path.startswith("/") and root.startswith("/")
    return f"{root.rstrip('/')}/{done.path}" if inside else done.path


def details_of(done: Done) -> dict[str, object]:
    """What belongs to it on the wire, under `work`."""
    match done:
        case Command():
            told: dict[str, object] = {"command": done.command, "exit": done.exit}
            more = {"cwd": done.cwd, "seconds": done.seconds, "output": done.output}
            told |= {key: value for key, value in more.items() if value not in ("", None)}
            flags = {"failed": done.failed, "rejected": done.rejected}
            return told | {key: True for key, value in flags.items() if value}
        case Edit():
            return {
                "path": done.path,
                "action": done.action,
                "added": done.added,
                "removed": done.removed,
                "names": list(done.names),
                **({"root": done.root} if done.root else {}),
            }
        case Looked():
            return {"paths": list(done.paths), "queries": list(done.queries)}
        case _:
            assert_never(done)


def _text(raw: Mapping[str, object], name: str, *, needed: bool = False) -> str:
    value = raw.get(name)
    text = encodable(value[:_LONGEST]) if isinstance(value, str) else ""
    if needed and not text.strip():
        raise InvalidInput(f"work must say its {name}")
    return text


def _texts(raw: Mapping[str, object], name: str, most: int) -> tuple[str, ...]:
    value = raw.get(name)
    texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    return tuple(encodable(one[:_LONGEST]) for one in texts[:most])


def _count(raw: Mapping[str, object], name: str) -> int:
    value = raw.get(name)
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST
    return value if known and isinstance(value, int) else 0
