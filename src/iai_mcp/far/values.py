"""Values of the ports as JSON and back. Whatever comes in is checked by the values themselves."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from iai_mcp.domain import errors
from iai_mcp.domain.agent_profiles import AgentProfile, Detection, parse_injection
from iai_mcp.domain.errors import IaiError, InvalidInput, RemoteFailed
from iai_mcp.domain.launching import SpawnSpec
from iai_mcp.domain.terminals import (
    Phase,
    SessionLabel,
    SessionStatus,
    TerminalSession,
    TerminalSize,
)
from iai_mcp.domain.worktrees import Difference, Merged, Standing
from iai_mcp.far.wire import Json
from iai_mcp.terminal.records import Owner, SessionRecord


class Fields:
    """A JSON object from the other side, asked for one field at a time."""

    def __init__(self, fields: Mapping[str, object]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise InvalidInput(f"the other side sent no text as '{name}'")
        return value

    def optional(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def number(self, name: str) -> int:
        value = self._fields.get(name)
        if not isinstance(value, int):
            raise InvalidInput(f"the other side sent no number as '{name}'")
        return value

    def optional_number(self, name: str) -> int | None:
        return None if self._fields.get(name) is None else self.number(name)

    def seconds(self, name: str) -> float | None:
        value = self._fields.get(name)
        return float(value) if isinstance(value, int | float) else None

    def flag(self, name: str) -> bool:
        return self._fields.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(str(each) for each in self._list(name))

    def objects(self, name: str) -> "list[Fields]":
        return [Fields(each) for each in self._list(name) if isinstance(each, dict)]

    def below(self, name: str) -> "Fields":
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise InvalidInput(f"the other side sent no object as '{name}'")
        return Fields(value)

    def strings(self, name: str) -> dict[str, str]:
        return {str(key): str(value) for key, value in self.below(name).all().items()}

    def data(self, name: str) -> bytes:
        try:
            return base64.b64decode(self.text(name), validate=True)
        except binascii.Error as bad:
            raise InvalidInput(f"the other side sent no bytes as '{name}'") from bad

    def all(self) -> Mapping[str, object]:
        return self._fields

    def _list(self, name: str) -> Sequence[object]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise InvalidInput(f"the other side sent no list as '{name}'")
        return value


def data_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


_ERRORS: dict[str, type[IaiError]] = {
    kind.code: kind
    for kind in (
        errors.InvalidInput,
        errors.NotFound,
        errors.AlreadyExists,
        errors.NotInstalled,
        errors.Busy,
        errors.Conflict,
        errors.IoFailed,
        errors.DiskFull,
        errors.ReadOnly,
        errors.PtyFailed,
        errors.RemoteFailed,
        errors.TimedOut,
    )
}


def error_of(fields: Fields) -> IaiError:
    """What the other side refused, as the error that it would have been here."""
    return _ERRORS.get(fields.text("code"), RemoteFailed)(fields.text("message"))


def error_json(error: IaiError) -> Json:
    return {"code": error.code, "message": error.message}


def spec_json(spec: SpawnSpec) -> Json:
    """What starting needs of it: its files were written before."""
    return {
        "command": spec.command,
        "args": list(spec.args),
        "cwd": spec.cwd,
        "env": dict(spec.env),
    }


def spec_of(fields: Fields) -> SpawnSpec:
    return SpawnSpec(
        fields.text("command"), fields.texts("args"), fields.text("cwd"), fields.strings("env")
    )


def size_of(fields: Fields) -> TerminalSize:
    return TerminalSize(fields.number("rows"), fields.number("cols"))


def label_of(fields: Fields) -> SessionLabel:
    names = ("agent_id", "agent_name", "profile_id", "host", "project")
    return SessionLabel(*(fields.optional(name) for name in names))


def session_json(session: TerminalSession) -> Json:
    return {
        "id": session.id,
        "label": asdict(session.label),
        "phase": session.status.phase.value,
        "exit_code": session.status.exit_code,
        "size": asdict(session.size),
        "started_ms": session.started_ms,
    }


def session_of(fields: Fields) -> TerminalSession:
    return TerminalSession(
        id=fields.text("id"),
        label=label_of(fields.below("label")),
        status=SessionStatus(Phase(fields.text("phase")), fields.optional_number("exit_code")),
        size=size_of(fields.below("size")),
        started_ms=fields.number("started_ms"),
    )


def record_json(record: SessionRecord) -> Json:
    return {**record._asdict(), "label": record.label._asdict()}


def record_of(fields: Fields, machine: str) -> SessionRecord:
    owner = label_of(fields.below("label"))
    return SessionRecord(
        id=fields.text("id"),
        label=Owner(owner.agent_id, owner.agent_name, owner.profile_id, owner.host, owner.project),
        command=fields.text("command"),
        cwd=fields.text("cwd"),
        rows=fields.number("rows"),
        cols=fields.number("cols"),
        started_ms=fields.number("started_ms"),
        socket="",
        status=fields.text("status"),
        source=fields.text("source"),
        since_ms=fields.number("since_ms"),
        exit_code=fields.optional_number("exit_code"),
        signal=fields.optional_number("signal"),
        ended_ms=fields.optional_number("ended_ms"),
        rebooted=fields.flag("rebooted"),
        head=fields.optional_number("head"),
        machine=machine,
    )


def profile_json(profile: AgentProfile) -> Json:
    return {**asdict(profile), "injection": str(profile.injection)}


def profile_of(fields: Fields) -> AgentProfile:
    return AgentProfile(
        id=fields.text("id"),
        name=fields.text("name"),
        command=fields.text("command"),
        injection=parse_injection(fields.text("injection")),
        args=fields.texts("args"),
        detect=fields.optional("detect"),
        cwd_template=fields.text("cwd_template"),
        host=fields.optional("host"),
        install=fields.optional("install"),
    )


def detection_of(fields: Fields) -> Detection:
    return Detection(
        profile_id=fields.text("profile_id"),
        installed=fields.flag("installed"),
        path=fields.optional("path"),
        version=fields.optional("version"),
        problem=fields.optional("problem"),
    )


def standing_of(fields: Fields) -> Standing:
    return Standing(
        fields.texts("uncommitted"), fields.texts("untracked"), fields.number("unmerged")
    )


def difference_of(fields: Fields) -> Difference:
    return Difference(
        fields.text("branch"),
        fields.text("into"),
        fields.number("commits"),
        standing_of(fields.below("standing")),
        fields.text("text"),
    )


def merged_of(fields: Fields) -> Merged:
    return Merged(
        fields.text("branch"), fields.text("into"), fields.number("commits"), fields.text("commit")
    )
