"""Of what was said several times, an answer names those other places that the question is about."""

from collections.abc import Callable

import pytest
from tests.support.answers import Json, ask

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

TEXT = "We agreed that the gadget cache is flushed every night at three by the cron job."
# session: (day, host, who said it)
SAID = {
    "s1": (1, "claude-code", "user"),
    "s2": (2, "codex", "user"),
    "s3": (3, "claude-code", "user"),
    "s4": (4, "codex", "assistant"),
}


@pytest.fixture
def store(opened: Callable[[], MemoryStore]) -> MemoryStore:
    """One in which sleep has folded them."""
    store = opened()
    for session, (day, host, role) in SAID.items():
        turn = {"role": role, "text": TEXT, "id": session, "ts": f"2026-03-0{day}T10:00:00Z"}
        given = {"session_id": session, "host": host, "cwd": "/shop", "events": [turn]}
        dispatch(store, "capture_events", given)
    store.sleep.run()
    return store


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({}, {"s1", "s2", "s3", "s4"}),
        ({"as_of": "2026-03-02T12:00:00Z"}, {"s1", "s2"}),
        ({"host": "codex"}, {"s2", "s4"}),
        ({"session_id": "s2"}, {"s2"}),
        ({"since": "2026-03-03T00:00:00Z"}, {"s3", "s4"}),
        ({"until": "2026-03-03T00:00:00Z"}, {"s1", "s2"}),
        ({"role": "user"}, {"s1", "s2", "s3"}),
        ({"machine": "elsewhere"}, set()),
    ],
)
def test_only_places_that_the_question_is_about_are_named(
    store: MemoryStore, about: Json, named: set[str]
) -> None:
    hits = ask(store, "memory_recall", cue="gadget cache flushed every night", **about)["hits"]
    places = [one["session_id"] for hit in hits for one in (hit, *hit.get("also", ()))]

    assert set(places) == named
