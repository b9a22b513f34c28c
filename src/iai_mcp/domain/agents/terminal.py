"""Terminal sessions as values: how large, of what kind, in what state."""

from dataclasses import dataclass
from enum import StrEnum

from iai_mcp.domain.errors import InvalidInput

LARGEST = 65_535  # struct winsize holds unsigned 16-bit numbers


@dataclass(frozen=True, slots=True)
class TerminalSize:
    """Rows and columns of characters."""

    rows: int = 24
    cols: int = 80

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= LARGEST and 1 <= self.cols <= LARGEST):
            raise InvalidInput(
                f"a terminal has 1 to {LARGEST} rows and columns, not {self.rows}x{self.cols}"
            )


@dataclass(frozen=True, slots=True)
class SessionLabel:
    """Whose terminal it is. All empty: a plain shell of nobody in particular."""

    agent_id: str | None = None
    agent_name: str | None = None
    profile_id: str | None = None
    host: str | None = None
    project: str | None = None


class SessionPhase(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    IDLE = "idle"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """The phase, and for an ended program its exit code (None: nobody saw it end)."""

    phase: SessionPhase
    exit_code: int | None = None

    def __post_init__(self) -> None:
        if self.exit_code is not None and self.phase is not SessionPhase.EXITED:
            raise InvalidInput(
                f"only an ended session has an exit code, and this one is {self.phase}"
            )

    @property
    def alive(self) -> bool:
        return self.phase is not SessionPhase.EXITED


@dataclass(frozen=True, slots=True)
class TerminalSession:
    """One program in one terminal. `id` is the one its PTY gave it."""

    id: str
    label: SessionLabel
    status: SessionStatus
    size: TerminalSize
    started_ms: int

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise InvalidInput("a terminal session has an id, and this one was blank")

    @property
    def kind(self) -> str | dict[str, str]:
        """`{"agent": ID}`, or `"shell"`."""
        return {"agent": self.label.agent_id} if self.label.agent_id else "shell"
