"""Terminals without programs. `log` keeps what was done in which order."""

from collections.abc import Callable, Sequence

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import (
    SessionLabel,
    SessionPhase,
    SessionStatus,
    TerminalSession,
    TerminalSize,
)
from iai_mcp.domain.errors import IaiError, NotFound


class FakePty:
    """`PtyPort` and `Sessions`. `refuses` is raised by the next spawn, `deaf` by the next write."""

    def __init__(self) -> None:
        self.spawned: dict[str, SpawnSpec] = {}
        self.typed: dict[str, bytes] = {}
        self.log: list[str] = []
        self.refuses: IaiError | None = None
        self.deaf: IaiError | None = None
        self._sessions: dict[str, TerminalSession] = {}
        self._listeners: dict[str, list[Callable[[bytes], None]]] = {}

    def spawn(
        self,
        spec: SpawnSpec,
        size: TerminalSize,
        *,
        session_id: str | None = None,
        detached: bool = True,
        label: SessionLabel | None = None,
    ) -> str:
        if self.refuses is not None:
            raise self.refuses
        name = session_id or f"session-{len(self.spawned) + 1}"
        self.spawned[name] = spec
        self.typed[name] = b""
        self.log.append("spawn")
        status = SessionStatus(SessionPhase.RUNNING)
        self._sessions[name] = TerminalSession(name, label or SessionLabel(), status, size, 1)
        return name

    def _known(self, session_id: str) -> TerminalSession:
        try:
            return self._sessions[session_id]
        except KeyError as absent:
            raise NotFound(f"there is no session '{session_id}'") from absent

    def write(self, session_id: str, data: bytes) -> None:
        self._known(session_id)
        if self.deaf is not None:
            raise self.deaf
        self.log.append("write")
        self.typed[session_id] += data

    def resize(self, session_id: str, size: TerminalSize) -> None:
        self._known(session_id)

    def subscribe_output(
        self, session_id: str, callback: Callable[[bytes], None]
    ) -> Callable[[], None]:
        self._known(session_id)
        listeners = self._listeners.setdefault(session_id, [])
        listeners.append(callback)
        return lambda: listeners.remove(callback) if callback in listeners else None

    def kill(self, session_id: str) -> int | None:
        old = self._known(session_id)
        status = SessionStatus(SessionPhase.EXITED, 129)
        self._sessions[session_id] = TerminalSession(
            old.id, old.label, status, old.size, old.started_ms
        )
        self.log.append("kill")
        return 129

    def all(self) -> Sequence[TerminalSession]:
        return tuple(self._sessions.values())
