"""What happened and what was set: events for people and programs, small settings that persist."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class Event(NamedTuple):
    """Something that happened, at a moment in microseconds."""

    kind: str
    data: Mapping[str, object]
    at: int


class Journal(Protocol):
    """Kept beside the memories. Every call is safe from any thread."""

    def record_event(self, kind: str, data: Mapping[str, object], at: int) -> None:
        """Add an event. `data` never holds what people said."""
        ...

    def record_events(self, events: Sequence[Event], name: str = "", value: str = "") -> None:
        """Add events that happened elsewhere and set a setting, if one is named; all or nothing."""
        ...

    def events(self, kind: str, since: int | None, limit: int) -> list[dict[str, object]]:
        """The newest `limit` events of a kind ("" for all), oldest first."""
        ...

    def setting(self, name: str) -> str | None: ...

    def set_setting(self, name: str, value: str) -> None: ...

    def settings(self) -> dict[str, str]: ...
