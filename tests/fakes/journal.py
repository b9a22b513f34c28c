"""`Journal` in memory."""

from collections.abc import Mapping, Sequence

from iai_mcp.domain.instants import iso
from iai_mcp.ports.journal import Event


class FakeJournal:
    def __init__(self) -> None:
        self._events: list[Event] = []
        self._settings: dict[str, str] = {}

    def record_event(self, kind: str, data: Mapping[str, object], at: int) -> None:
        self._events.append(Event(kind, dict(data), at))

    def record_events(self, events: Sequence[Event], name: str = "", value: str = "") -> None:
        self._events += events
        if name:
            self._settings[name] = value

    def events(self, kind: str, since: int | None, limit: int) -> list[dict[str, object]]:
        found = [
            {"id": number, "ts": iso(event.at), "kind": event.kind, "data": dict(event.data)}
            for number, event in enumerate(self._events, 1)
            if kind in ("", event.kind) and (since is None or event.at >= since)
        ]
        return found[-limit:]

    def setting(self, name: str) -> str | None:
        return self._settings.get(name)

    def set_setting(self, name: str, value: str) -> None:
        self._settings[name] = value

    def settings(self) -> dict[str, str]:
        return dict(self._settings)
