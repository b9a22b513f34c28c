"""What every `EventBus` promises."""

import json
from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.event_bus import FakeEventBus

from iai_mcp.adapters.agent_world import JournalEventBus
from iai_mcp.domain.agents.events import AgentCreated, AgentEvent, AgentLaunched
from iai_mcp.ports.agent_world import EventBus


@pytest.fixture(params=["fake", "journal"])
def bus(request: pytest.FixtureRequest, tmp_path: Path) -> EventBus:
    if request.param == "fake":
        return FakeEventBus()
    return JournalEventBus(lambda: str(tmp_path / "data"), FakeClock())


def test_subscribers_hear_every_event_in_order(bus: EventBus) -> None:
    heard: list[tuple[str, AgentEvent]] = []
    bus.subscribe(lambda event: heard.append(("first", event)))
    bus.subscribe(lambda event: heard.append(("second", event)))
    event = AgentCreated("a", "/p")
    bus.publish(event)

    assert heard == [("first", event), ("second", event)]


def test_who_stopped_listening_hears_nothing(bus: EventBus) -> None:
    heard: list[AgentEvent] = []
    stop = bus.subscribe(heard.append)
    stop()
    stop()
    bus.publish(AgentCreated("a", "/p"))

    assert heard == []


def test_the_journal_holds_one_private_line_per_event(tmp_path: Path) -> None:
    bus = JournalEventBus(lambda: str(tmp_path), FakeClock(7))
    bus.publish(AgentLaunched("a", "s"))
    bus.publish(AgentCreated("b", "/p"))

    journal = tmp_path / "agent-events.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert lines == [
        {"event": "AgentLaunched", "ts_ms": 7, "agent_id": "a", "session_id": "s"},
        {"event": "AgentCreated", "ts_ms": 7, "agent_id": "b", "project": "/p"},
    ]
    assert journal.stat().st_mode & 0o777 == 0o600
