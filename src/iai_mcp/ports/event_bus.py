"""The need to tell others what happened."""

from collections.abc import Callable
from typing import Protocol

from iai_mcp.domain.agent_events import AgentEvent


class EventBus(Protocol):
    def publish(self, event: AgentEvent) -> None:
        """Tell every subscriber, in the order they subscribed, before this returns."""
        ...

    def subscribe(self, callback: Callable[[AgentEvent], None]) -> Callable[[], None]:
        """Hear of every later event; call what is returned to stop. Stopping twice is harmless."""
        ...
