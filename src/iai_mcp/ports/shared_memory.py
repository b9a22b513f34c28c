"""The need of a launch to know what the shared memory has to say."""

from typing import Protocol


class SharedMemory(Protocol):
    """The memory daemon as a launch sees it. A launch never depends on it."""

    def is_up(self) -> bool: ...

    def session_start(self, project: str, agent_id: str, session_id: str) -> str | None:
        """What an agent should know as it starts, or None while the daemon is down."""
        ...
