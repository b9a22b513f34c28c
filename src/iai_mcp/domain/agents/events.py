"""What happened to agents and their sessions, in the past tense."""

from dataclasses import dataclass

from iai_mcp.domain.agents.terminal import SessionStatus


@dataclass(frozen=True, slots=True)
class AgentCreated:
    agent_id: str
    project: str


@dataclass(frozen=True, slots=True)
class AgentUpdated:
    agent_id: str
    project: str


@dataclass(frozen=True, slots=True)
class AgentDeleted:
    agent_id: str
    project: str


@dataclass(frozen=True, slots=True)
class AgentLaunched:
    agent_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class SessionStatusChanged:
    session_id: str
    status: SessionStatus


@dataclass(frozen=True, slots=True)
class SessionExited:
    session_id: str
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class SessionLost:
    """Its holder was killed, or the machine went down: nobody saw how its program ended."""

    session_id: str


AgentEvent = (
    AgentCreated
    | AgentUpdated
    | AgentDeleted
    | AgentLaunched
    | SessionStatusChanged
    | SessionExited
    | SessionLost
)
