"""Values of the ports as JSON and back. Whatever comes in is checked by the values themselves."""

from dataclasses import asdict

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.profile import AgentProfile, Detection, parse_injection
from iai_mcp.domain.agents.terminal import (
    SessionLabel,
    SessionPhase,
    SessionStatus,
    TerminalSession,
    TerminalSize,
)
from iai_mcp.domain.agents.worktrees import CheckoutState, Difference, MergeResult
from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.wire import Json


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
        status=SessionStatus(
            SessionPhase(fields.text("phase")), fields.optional_number("exit_code")
        ),
        size=size_of(fields.below("size")),
        started_ms=fields.moment("started_ms"),
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


def standing_of(fields: Fields) -> CheckoutState:
    return CheckoutState(
        fields.texts("uncommitted"),
        fields.texts("untracked"),
        fields.number("unmerged"),
        fields.texts("nested"),
    )


def difference_of(fields: Fields) -> Difference:
    return Difference(
        fields.text("branch"),
        fields.text("into"),
        fields.number("commits"),
        standing_of(fields.below("standing")),
        fields.text("text"),
    )


def merged_of(fields: Fields) -> MergeResult:
    return MergeResult(
        fields.text("branch"), fields.text("into"), fields.number("commits"), fields.text("commit")
    )
