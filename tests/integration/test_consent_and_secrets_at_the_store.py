"""What reaches the store, whoever delivers it: no secrets, nothing private, nothing unwanted."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from iai_mcp.capture import consent
from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

TOKEN = "ghp_" + "q7Xk2PzL9vRt4MwY8sBn3HdJ6fGc5TaE1uWo"[:36]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


def deliver(store: MemoryStore, *events: Mapping[str, object], **call: object) -> dict[str, object]:
    return dispatch(store, "capture_events", {"session_id": "s1", "events": list(events), **call})


def texts(store: MemoryStore) -> list[object]:
    records = dispatch(store, "memory_timeline", {})["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]


def moment(seconds: float) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()


def test_no_secret_reaches_the_store_by_any_way_in(store: MemoryStore) -> None:
    dispatch(
        store,
        "memory_capture",
        {"text": f"the token is {TOKEN}", "meta": {"note": f"token {TOKEN}", "n": 1}},
    )
    deliver(store, {"text": f"use {TOKEN}", "cue": f"use {TOKEN}"})
    first = dispatch(store, "memory_timeline", {})["records"]
    assert isinstance(first, list)
    dispatch(store, "memory_contradict", {"id": first[0]["id"], "new_fact": f"it is now {TOKEN}"})
    records = dispatch(store, "memory_timeline", {})["records"]
    assert isinstance(records, list)
    assert len(records) == 3
    assert TOKEN not in repr(records)
    assert records[0]["meta"] == {"note": "token [secret:github-token]", "n": 1}


def test_a_record_in_the_form_of_an_export_is_redacted_too(store: MemoryStore) -> None:
    record = {
        "id": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "text": f"the token is {TOKEN}",
        "ts": "2025-01-01T00:00:00Z",
        "meta": {"note": TOKEN},
    }
    assert dispatch(store, "import_records", {"records": [record]})["inserted"] == 1
    assert TOKEN not in repr(dispatch(store, "memory_timeline", {}))


def test_a_private_span_is_cut_out_and_an_all_private_turn_is_skipped(store: MemoryStore) -> None:
    counts = deliver(
        store, {"text": "a <private>b</private> c"}, {"text": "<private>all of it</private>"}
    )
    assert (counts["inserted"], counts["skipped"]) == (1, 1)
    assert texts(store) == ["a [private] c"]
    answer = dispatch(store, "memory_capture", {"text": "<private>x</private>"})
    assert answer["status"] == "skipped"
    assert "private" in str(answer["reason"])


def test_a_place_with_an_ignore_file_is_not_remembered(store: MemoryStore, tmp_path: Path) -> None:
    hidden = tmp_path / "diary/2024"
    hidden.mkdir(parents=True)
    (tmp_path / "diary/.iai-ignore").touch()
    counts = deliver(
        store, {"text": "dear diary"}, {"text": "work", "cwd": "/srv"}, cwd=str(hidden)
    )
    assert (counts["inserted"], counts["skipped"]) == (1, 1)
    assert texts(store) == ["work"]
    answer = dispatch(store, "memory_capture", {"text": "dear diary", "project": str(hidden)})
    assert answer["status"] == "skipped"
    assert ".iai-ignore" in str(answer["reason"])


def test_a_project_on_the_list_is_not_remembered(store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "data/never-capture").write_text("clients-*\n~/taxes\n")
    counts = deliver(
        store,
        {"text": "one", "project": "clients-acme"},
        {"text": "two", "cwd": str(tmp_path / "taxes/2024")},
        {"text": "three", "project": "shop"},
    )
    assert (counts["inserted"], counts["skipped"]) == (1, 2)
    assert texts(store) == ["three"]


def test_a_pause_begins_no_later_than_it_was_asked_for(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: 1_700_000_000.0006)
        consent.pause()
        assert consent.paused_since() == 1_700_000_000.0
        clock.setattr(time, "time", lambda: 1_700_000_009.0004)
        consent.resume()
    assert consent.pauses() == [(1_700_000_000.0, 1_700_000_009.001)]


def test_a_pause_keeps_out_what_was_said_in_it_and_nothing_else(store: MemoryStore) -> None:
    consent.pause()
    counts = deliver(
        store,
        {"text": "said before, drained late", "ts": moment(-60)},
        {"text": "said during the pause", "ts": moment(1)},
        {"text": "said at no known time"},
    )
    assert (counts["inserted"], counts["skipped"]) == (1, 2)
    assert dispatch(store, "memory_capture", {"text": "by hand"})["status"] == "skipped"

    began = consent.paused_since()
    assert began is not None
    during = datetime.fromtimestamp(began, UTC).isoformat()
    consent.resume()
    deliver(
        store,
        {"text": "arrives after the pause", "ts": during},
        {"text": "said after the pause", "ts": moment(60)},
    )
    assert texts(store) == ["said before, drained late", "said after the pause"]


def test_what_a_hook_put_aside_before_a_pause_counts_as_said_then(store: MemoryStore) -> None:
    put_aside = moment(-5)
    consent.pause()
    counts = deliver(store, {"text": "no time of its own"}, deferred_at=put_aside)
    assert counts["inserted"] == 1
