"""However much there is, an answer has the size that a line can carry, and says that there is more."""

from collections.abc import Callable

import pytest

from iai_mcp.core import dispatch
from iai_mcp.ports.journal import Event
from iai_mcp.protocol.codes import MAX_LINE
from iai_mcp.protocol.messages import encode
from iai_mcp.store import MemoryStore

Open = Callable[[], MemoryStore]
ROWS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO memories (id, at, session, role, tier, ts, speaker, host, agent_id, agent_name, branch,
    valid_from, cue, meta, text)
SELECT randomblob(16), i, 's', 'user', 'episodic', '2026-01-01T00:00:00Z', '', '', '', '', '', i,
    '', '', ? || i FROM n
"""


@pytest.fixture
def store(opened: Open) -> MemoryStore:
    return opened()


def fill(store: MemoryStore, count: int, text: str) -> None:
    with store.database.writing() as db:
        db.execute(ROWS, (count, text))


def test_forgetting_names_a_hundred_thousand_and_counts_the_rest(store: MemoryStore) -> None:
    fill(store, 120_000, "turn ")
    told = dispatch(store, "memory_forget", {"session_id": "s", "dry_run": True})
    assert isinstance(told["ids"], list)
    assert (len(told["ids"]), told["matches"], told["more"]) == (100_000, 120_000, True)
    assert told["forgotten"] == 0
    few = dispatch(store, "memory_forget", {"ids": told["ids"][:3], "dry_run": True})
    assert (few["ids"], few["matches"]) == (told["ids"][:3], 3)
    assert "more" not in few


def test_a_timeline_of_everything_comes_in_pages(store: MemoryStore) -> None:
    fill(store, 60_000, "turn ")
    page = dispatch(store, "memory_timeline", {"limit": 100_000})
    assert len(encode(page)) <= MAX_LINE
    assert isinstance(page["records"], list)
    records = page["records"]
    while "more" in page:
        page = dispatch(store, "memory_timeline", {"limit": 100_000, "cursor": page["more"]})
        assert isinstance(page["records"], list)
        records = page["records"] + records
    assert [one["text"] for one in records] == [f"turn {n}" for n in range(1, 60_001)]


def test_pages_of_an_export_fit_whatever_their_records_are_made_of(store: MemoryStore) -> None:
    fill(store, 200, '"\\\x01' * 50_000)
    after: object = 0
    count = 0
    while after is not None:
        page = dispatch(store, "export_page", {"after": after, "limit": 5000})
        assert len(encode(page)) <= MAX_LINE
        assert isinstance(page["records"], list)
        count += len(page["records"])
        after = page["next"]
    assert count == 200


def test_the_newest_events_are_told_as_far_as_they_fit(store: MemoryStore) -> None:
    events = [Event("thing", {"number": n, "note": "x" * 3000}, n) for n in range(6000)]
    store.journal.record_events(events, "position", "")
    told = dispatch(store, "events_query", {"kind": "thing", "limit": 10_000})
    assert len(encode(told)) <= MAX_LINE
    assert isinstance(told["events"], list)
    assert told["more"] is True
    assert told["count"] == len(told["events"]) > 4000
    assert told["events"][-1]["data"]["number"] == 5999


def test_what_was_injected_is_told_by_its_beginning(store: MemoryStore) -> None:
    text = "the heron waits " * 100_000
    stored = dispatch(store, "memory_capture", {"text": text, "session_id": "s"})
    sources = [{"id": stored["record_id"], "why": "latest words"}] * 20
    data = {"moment": "prompt", "session_id": "t", "project": "", "tokens": 9, "sources": sources}
    for at in range(1000):
        store.journal.record_event("injection", data, at)
    told = dispatch(store, "injections", {"limit": 1000})
    assert len(encode(told)) <= MAX_LINE
    assert isinstance(told["injections"], list)
    assert told["more"] is True
    shown = told["injections"][0]["sources"][0]["text"]
    assert text.startswith(shown)
    assert len(shown) < 10_000
