"""What an agent may forget over MCP by itself, and where a person has to confirm it."""

from collections.abc import Callable

import pytest
from tests.support.answers import Json

from iai_mcp.core import dispatch
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.store import MemoryStore


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    store = opened()
    events = [{"text": f"heron number {n}", "id": str(n)} for n in range(60)]
    dispatch(store, "capture_events", {"session_id": "many", "events": events})
    dispatch(store, "capture_events", {"session_id": "few", "events": events[:50]})
    return store


def test_an_agent_forgets_a_few_and_a_person_many(store: MemoryStore) -> None:
    with pytest.raises(InvalidInput, match="iai-mcp forget") as refused:
        dispatch(store, "memory_forget", {"session_id": "many", "visitor": True})
    assert "60 memories" in str(refused.value)
    assert store.memories.count() == 110
    few = dispatch(store, "memory_forget", {"session_id": "few", "visitor": True})
    assert few["forgotten"] == 50
    assert dispatch(store, "memory_forget", {"session_id": "many"})["forgotten"] == 60


def test_a_dry_run_of_an_agent_shows_samples_and_counts(store: MemoryStore) -> None:
    asked = {"query": "heron", "visitor": True, "dry_run": True}
    told: Json = dispatch(store, "memory_forget", asked)
    assert told["matches"] == 110
    assert [shown["sample"] for shown in told["records"]][:2] == [
        "heron number 0",
        "heron number 1",
    ]
    assert len(told["records"]) == 5
    assert told["projects"] == {"": 110}
