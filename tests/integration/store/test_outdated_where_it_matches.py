"""What no longer holds is named beside the hits where it matches the cue, and under nothing else."""

from collections.abc import Iterator

import pytest
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

OLD = "From now on, end all function names with '_y'."
NEW = "From now on, end all function names with '_x'."
TIMEOUT = "The checkout times out because the payment gateway waits for a lock."


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    """With a model: where little was said, all of it is among the nearest."""
    made = MemoryStore(load_embedder=FakeEmbedder)
    made.embedder.wait(10)
    yield made
    made.close()


def say(store: MemoryStore, day: int, text: str, project: str = "/p") -> None:
    at = f"2026-01-{day:02}T09:00:00Z"
    event = {"text": text, "role": "user", "ts": at}
    call = {"session_id": f"{project}{day}", "events": [event], "project": project}
    dispatch(store, "capture_events", call)
    while store.backlog.page():
        continue


def outdated(store: MemoryStore, cue: str, **more: object) -> list[str]:
    told = dispatch(store, "memory_recall", {"cue": cue, **(more or {"project": "/p"})})
    assert isinstance(told["anti_hits"], list)
    return [hit["text"] for hit in told["anti_hits"]]


def test_an_outdated_rule_is_not_named_under_a_question_about_something_else(
    store: MemoryStore,
) -> None:
    say(store, 1, OLD)
    say(store, 2, NEW)
    say(store, 3, TIMEOUT)

    assert outdated(store, "why does the checkout time out?") == []
    assert outdated(store, "how do function names end?") == [OLD]


def test_a_correction_is_named_where_it_matches_and_not_elsewhere(store: MemoryStore) -> None:
    old = "The database listens on port 5432."
    say(store, 1, old)
    say(store, 2, TIMEOUT)
    records = dispatch(store, "memory_timeline", {"project": "/p"})["records"]
    assert isinstance(records, list)
    port = next(one["id"] for one in records if one["text"] == old)
    dispatch(store, "memory_contradict", {"id": port, "new_fact": "The port is 5433."})

    assert outdated(store, "which port does the database use?") == [old]
    assert outdated(store, "why does the checkout time out?") == []


def test_what_is_outdated_elsewhere_is_not_named_here_without_what_took_its_place(
    store: MemoryStore,
) -> None:
    say(store, 1, OLD, "/q")
    say(store, 2, NEW, "/q")
    for day in range(3, 9):
        say(store, day, f"How function names end was told on page {day}.")

    cue = "how do function names end?"
    on_page_five = "what was told on page 5 of how function names end?"
    assert outdated(store, on_page_five, cwd="/p") == []
    assert outdated(store, cue, project="/q") == [OLD]
