"""An event bus that remembers what it was told."""

from collections.abc import Callable

from iai_mcp.domain.agents.events import AgentEvent


class FakeEventBus:
    def __init__(self) -> None:
        self.published: list[AgentEvent] = []
        self._subscribers: list[Callable[[AgentEvent], None]] = []

    def publish(self, event: AgentEvent) -> None:
        self.published.append(event)
        for subscriber in list(self._subscribers):
            subscriber(event)

    def subscribe(self, callback: Callable[[AgentEvent], None]) -> Callable[[], None]:
        self._subscribers.append(callback)

        def stop() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return stop
