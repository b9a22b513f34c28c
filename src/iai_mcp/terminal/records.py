"""What the files of a session say, read without asking its holder.

Named tuples, not dataclasses: `session list` has 150 ms, and dataclasses alone take a tenth.
"""

import json
import os
from typing import TYPE_CHECKING, NamedTuple

from iai_mcp.boot_clock import boot_id
from iai_mcp.terminal import layout

if TYPE_CHECKING:
    from iai_mcp.domain.agents.terminal import TerminalSession, TerminalSize

_STARTING_SECONDS = 15.0  # a holder that has no lock by then never will


class Owner(NamedTuple):
    """Whose session it is; all None for a plain shell."""

    agent_id: str | None = None
    agent_name: str | None = None
    profile_id: str | None = None
    host: str | None = None
    project: str | None = None


class SessionRecord(NamedTuple):
    """One session as its files tell it.

    `status` is a phase, or `lost`: it was running when the machine or its holder went down. `head` is
    how many bytes an ended one has printed, `machine` the other machine it is on, as `ssh://…`: what such
    a one's files are called means nothing here. `unreachable` ones may run, for all that is known.
    """

    id: str
    label: Owner
    command: str
    cwd: str
    rows: int
    cols: int
    started_ms: int
    socket: str
    status: str
    source: str
    since_ms: int
    exit_code: int | None = None
    signal: int | None = None
    ended_ms: int | None = None
    holder: int | None = None
    child: int | None = None
    rebooted: bool = False
    head: int | None = None
    machine: str | None = None

    @property
    def alive(self) -> bool:
        return self.status not in ("exited", "lost")

    @property
    def kind(self) -> str | dict[str, str]:
        """`{"agent": ID}`, or `"shell"`."""
        return {"agent": self.label.agent_id} if self.label.agent_id else "shell"

    @property
    def size(self) -> "TerminalSize":
        from iai_mcp.domain.agents.terminal import TerminalSize

        return TerminalSize(self.rows, self.cols)

    def as_session(self) -> "TerminalSession":
        """The value the use cases know; a lost session has ended, and nobody saw how."""
        from iai_mcp.domain.agents.terminal import (
            SessionLabel,
            SessionPhase,
            SessionStatus,
            TerminalSession,
        )

        phase = SessionPhase(self.status) if self.alive else SessionPhase.EXITED
        return TerminalSession(
            id=self.id,
            label=SessionLabel(*self.label),
            status=SessionStatus(phase, self.exit_code),
            size=self.size,
            started_ms=self.started_ms,
        )


def read_all() -> list[SessionRecord]:
    """Every session that was not pruned, oldest first. Damaged ones are left out."""
    try:
        names = os.listdir(layout.sessions_dir())
    except FileNotFoundError:
        return []
    boot = boot_id()
    records = [
        record for name in names if "." not in name and (record := read(name, boot)) is not None
    ]
    return sorted(records, key=lambda record: (record.started_ms, record.id))


def read(session_id: str, boot: str | None = None) -> SessionRecord | None:
    """One session, or None when there is no such thing."""
    directory = os.path.join(layout.sessions_dir(), session_id)
    meta = _object(os.path.join(directory, "meta.json"))
    if meta is None:
        return None
    state = _object(os.path.join(directory, "state.json")) or {}
    status = _text(state, "status") or "starting"
    if status not in ("exited", "lost") and not holder_lives(directory, starting=not state):
        # It may have ended between the two looks: its last word counts.
        state = _object(os.path.join(directory, "state.json")) or {}
        status = "exited" if _text(state, "status") == "exited" else "lost"
    current = boot_id() if boot is None else boot
    return SessionRecord(
        id=session_id,
        label=Owner(
            agent_id=_text(meta, "agent_id"),
            agent_name=_text(meta, "agent_name"),
            profile_id=_text(meta, "profile"),
            host=_text(meta, "host"),
            project=_text(meta, "project"),
        ),
        command=_text(meta, "command") or "",
        cwd=_text(meta, "cwd") or "",
        rows=_number(meta, "rows") or 24,
        cols=_number(meta, "cols") or 80,
        started_ms=_number(meta, "started") or 0,
        socket=_text(meta, "socket") or "",
        status=status,
        source=_text(state, "source") or "guess",
        since_ms=_number(state, "since") or _number(meta, "started") or 0,
        exit_code=_number(state, "exit_code"),
        signal=_number(state, "signal") or None,
        ended_ms=_number(state, "ended"),
        holder=_number(state, "holder"),
        child=_number(state, "child"),
        rebooted=status == "lost" and _text(meta, "boot") != current,
        head=_number(state, "head"),
    )


def saved_status(directory: str) -> str | None:
    """What the state that was written last says, whether or not its holder lives."""
    return _text(_object(os.path.join(directory, "state.json")) or {}, "status")


def holder_lives(directory: str, *, starting: bool = False) -> bool:
    """Whether a process holds the session's lock; the kernel lets go of it however that ends."""
    try:
        descriptor = os.open(os.path.join(directory, "lock"), os.O_RDWR)
    except FileNotFoundError:
        return starting and _is_young(directory)
    try:
        os.lockf(descriptor, os.F_TEST, 0)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return starting and _is_young(directory)


def _is_young(directory: str) -> bool:
    import time

    try:
        return time.time() - os.stat(directory).st_mtime < _STARTING_SECONDS
    except FileNotFoundError:
        return False


def _object(path: str) -> dict[str, object] | None:
    try:
        with open(path, encoding="utf-8") as source:
            value = json.load(source)
    except (OSError, ValueError):
        return None  # absent, or cut off by a crash: the same as not there
    return value if isinstance(value, dict) else None


def _text(fields: dict[str, object], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


def _number(fields: dict[str, object], name: str) -> int | None:
    value = fields.get(name)
    return value if isinstance(value, int) else None
