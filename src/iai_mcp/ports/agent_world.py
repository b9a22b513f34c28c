"""The needs of agents around them: programs to start, the shared memory, who listens, time, names."""

from collections.abc import Callable, Sequence
from typing import Protocol

from iai_mcp.domain.agents.events import AgentEvent
from iai_mcp.domain.agents.host_wiring import HostTraits, Invocation
from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.profile import AgentProfile, Detection


class AgentRuntime(Protocol):
    """Finds agent programs, and knows how to start them."""

    def find(self, profile: AgentProfile) -> str | None:
        """The path of the profile's program on this person's PATH; None: not installed."""
        ...

    def detect(self, profiles: Sequence[AgentProfile]) -> Sequence[Detection]:
        """Run every profile's detect command, all at once, none for longer than a few seconds.

        In the order given. A program that hangs or fails is a `problem`, never an exception.
        """
        ...

    def traits(self, profile: AgentProfile) -> HostTraits:
        """What the profile's program needs from a launch. Pure."""
        ...

    def types_prompt(self, profile: AgentProfile, launch: Invocation) -> bool:
        """Whether the first prompt has to be typed, because the program takes none. Pure."""
        ...

    def prepare_invocation(self, profile: AgentProfile, launch: Invocation, cwd: str) -> SpawnSpec:
        """What to start, with which arguments, variables and files. Pure: nothing is touched."""
        ...

    def record_trust(self, profile: AgentProfile, project: str) -> None:
        """Tell the program that the person trusts `project`, where it only believes its own files.

        Called when the person has said so, and never otherwise.
        """
        ...


class SharedMemory(Protocol):
    """The memory daemon as a launch sees it. A launch never depends on it."""

    def is_up(self) -> bool: ...

    def session_start(self, project: str, agent_id: str, session_id: str) -> str | None:
        """What an agent should know as it starts, or None while the daemon is down."""
        ...


class EventBus(Protocol):
    """Tells others what happened."""

    def publish(self, event: AgentEvent) -> None:
        """Tell every subscriber, in the order they subscribed, before this returns."""
        ...

    def subscribe(self, callback: Callable[[AgentEvent], None]) -> Callable[[], None]:
        """Hear of every later event; call what is returned to stop. Stopping twice is harmless."""
        ...


class MillisecondClock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...


class IdGenerator(Protocol):
    def new(self) -> str:
        """An id never given before: letters, digits and dashes, fit for a file name."""
        ...
