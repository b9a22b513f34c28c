"""Names that come with a turn hold no secret either: who spoke, where, on which branch, in which session."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

TOKEN = "ghp_" + "q7Xk2PzL9vRt4MwY8sBn3HdJ6fGc5TaE1uWo"[:36]
OTHER = "ghp_" + TOKEN.removeprefix("ghp_")[::-1]
MARKED = "[secret:github-token]"
NAMES = ("speaker", "branch", "host", "agent_id", "agent_name", "role", "session_id")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


def records(store: MemoryStore, **filters: object) -> list[dict[str, object]]:
    found = dispatch(store, "memory_timeline", filters)["records"]
    assert isinstance(found, list)
    return found


def deliver(store: MemoryStore, *events: Mapping[str, object], **call: object) -> dict[str, object]:
    given: dict[str, object] = {"session_id": "s1", **call, "events": list(events)}
    return dispatch(store, "capture_events", given)


def stored_bytes(store: MemoryStore) -> str:
    """Everything that any table holds, as text."""
    with store.database.reading() as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return "".join(repr(list(db.execute(f'SELECT * FROM "{table}"'))) for table in tables)


def test_no_name_of_an_event_is_stored_with_a_secret_in_it(store: MemoryStore) -> None:
    event = {"text": "hello there", "project": f"shop-{TOKEN}"}
    deliver(store, event | dict.fromkeys(NAMES, f"x-{TOKEN}"))
    (record,) = records(store)
    assert TOKEN not in repr(record)
    assert record["session_id"] == record["role"] == record["speaker"] == f"x-{MARKED}"
    assert record["project"] == f"shop-{MARKED}"
    assert TOKEN not in stored_bytes(store)


def test_no_name_of_a_memory_by_hand_is_stored_with_a_secret_in_it(store: MemoryStore) -> None:
    given = {"text": "hello there", "project": f"shop-{TOKEN}"}
    dispatch(store, "memory_capture", given | dict.fromkeys(NAMES, f"x-{TOKEN}"))
    assert len(records(store)) == 1
    assert TOKEN not in stored_bytes(store)


def test_what_the_call_says_for_all_its_events_is_cleaned_too(
    store: MemoryStore, tmp_path: Path
) -> None:
    place = tmp_path / TOKEN / "shop"
    place.mkdir(parents=True)
    deliver(store, {"text": "hello there"}, session_id=TOKEN, host=TOKEN, cwd=str(place))
    (record,) = records(store)
    assert record["project"] == str(tmp_path / MARKED / "shop")
    assert TOKEN not in stored_bytes(store)


def test_a_record_in_the_form_of_an_export_has_clean_names(store: MemoryStore) -> None:
    record = {"id": "0f8fad5b-d9cb-469f-a165-70867728950e", "text": "hello", "ts": "2025-01-01"}
    names = ("session_id", "host", "agent", "agent_id", "branch", "speaker", "role", "project")
    given = record | dict.fromkeys(names, f"x-{TOKEN}")
    assert dispatch(store, "import_records", {"records": [given]})["inserted"] == 1
    assert TOKEN not in stored_bytes(store)


def test_the_same_turn_delivered_again_is_still_one(store: MemoryStore) -> None:
    turn = {"text": "hello there", "id": "m1"}
    assert deliver(store, turn, session_id=TOKEN)["inserted"] == 1
    assert deliver(store, turn, session_id=TOKEN)["duplicates"] == 1
    assert deliver(store, {"text": "hello there"}, session_id=TOKEN)["inserted"] == 1
    assert deliver(store, {"text": "hello there"}, session_id=TOKEN)["duplicates"] == 1


def test_sessions_that_differ_only_in_the_secret_lose_no_turn_to_each_other(
    store: MemoryStore,
) -> None:
    turn = {"text": "hello there", "id": "m1"}
    assert deliver(store, turn, session_id=TOKEN)["inserted"] == 1
    assert deliver(store, turn, session_id=OTHER)["inserted"] == 1


@pytest.mark.parametrize("name", ["session_id", "host", "agent", "role", "project"])
def test_whoever_asks_with_the_name_as_it_was_finds_what_was_stored(
    store: MemoryStore, name: str
) -> None:
    as_captured = {"agent": "agent_name"}.get(name, name)
    deliver(store, {"text": "a word about lighthouses", as_captured: TOKEN}, {"text": "other"})
    assert [one["text"] for one in records(store, **{name: TOKEN})] == ["a word about lighthouses"]
    hits = dispatch(store, "memory_recall", {"cue": "lighthouses", name: TOKEN})["hits"]
    assert isinstance(hits, list)
    assert hits[0]["text"] == "a word about lighthouses"
    about = {} if name in ("session_id", "project") else {"query": "lighthouses"}
    forgotten = dispatch(store, "memory_forget", {name: TOKEN} | about)
    assert forgotten["forgotten"] == 1


def test_a_project_whose_path_holds_a_secret_is_found_from_within_it(
    store: MemoryStore, tmp_path: Path
) -> None:
    place = tmp_path / TOKEN / "shop"
    (place / ".git").mkdir(parents=True)
    (place / "src").mkdir()
    deliver(store, {"text": "we decided to use sqlite, not postgres"}, cwd=str(place))
    found = records(store, project=str(place / "src"))
    assert [one["text"] for one in found] == ["we decided to use sqlite, not postgres"]
    told = dispatch(store, "session_start_payload", {"cwd": str(place), "session_id": "new"})
    assert "sqlite" in str(told["text"])
    assert TOKEN not in str(told["text"])


def test_a_private_project_whose_path_holds_a_secret_stays_private(
    store: MemoryStore, tmp_path: Path
) -> None:
    place = tmp_path / TOKEN / "shop"
    place.mkdir(parents=True)
    deliver(store, {"text": "a word about lighthouses"}, cwd=str(place))
    dispatch(store, "project_privacy", {"project": str(place), "private": True})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert records(store, cwd=str(elsewhere)) == []
    assert len(records(store, cwd=str(place))) == 1
    assert TOKEN not in stored_bytes(store)
    visit = {"text": "from a visitor", "project": str(place), "visitor": True}
    outside = dispatch(store, "memory_capture", visit | {"cwd": str(elsewhere)})
    assert outside["status"] == "skipped"
    assert "private" in str(outside["reason"])
    assert dispatch(store, "memory_capture", visit | {"cwd": str(place)})["status"] == "inserted"


def test_the_journal_keeps_no_secret_of_a_session(store: MemoryStore) -> None:
    deliver(store, {"text": "we decided to use sqlite, not postgres"}, project="shop")
    dispatch(store, "session_start_payload", {"project": "shop", "session_id": TOKEN})
    dispatch(store, "session_exit", {"session_id": TOKEN})
    shown = dispatch(store, "injections", {"session_id": TOKEN})["injections"]
    assert isinstance(shown, list)
    store.later(lambda: None)
    assert TOKEN not in repr(dispatch(store, "events_query", {}))


@pytest.mark.parametrize(
    "name",
    [
        "550e8400-e29b-41d4-a716-446655440000",
        "rollout-2026-01-05T10-00-00-019a3f2b-7c1d-7f00-8a6b-1c2d3e4f5a6b",
        "feature/rotate-api-keys-2026",
        "fix/token-refresh-v2",
        "claude-code",
        "Key Account Manager 2",
        "/home/ann/work/secret-santa-2024",
        "ses_01HXYZ7Q8R9S0T1V2W3X4Y5Z6A",
    ],
)
def test_ordinary_names_stay_as_they_are(store: MemoryStore, name: str) -> None:
    deliver(store, {"text": "hello there", "branch": name, "speaker": name}, session_id=name)
    (record,) = records(store)
    assert record["session_id"] == record["speaker"] == record["branch"] == name
