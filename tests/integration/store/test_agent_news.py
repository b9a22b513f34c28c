"""What agents and sessions wrote down arrives in the memory's journal, once, whatever happens."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.answers import ask

from iai_mcp.adapters import journal_import
from iai_mcp.adapters.sqlite import journal as sqlite_journal
from iai_mcp.core import dispatch
from iai_mcp.daemon.service import follow_agent_news
from iai_mcp.domain.errors import DiskFull
from iai_mcp.store import MemoryStore

Open = Callable[[], MemoryStore]


def write(store: MemoryStore, *sessions: str, name: str = "agent-events.jsonl") -> None:
    with (store.directory / name).open("a") as out:
        for session in sessions:
            fields = {"event": "SessionExited", "ts_ms": 5, "session_id": session, "exit_code": 0}
            out.write(json.dumps(fields) + "\n")


def told(store: MemoryStore) -> list[object]:
    events = dispatch(store, "events_query", {"kind": "SessionExited"})["events"]
    assert isinstance(events, list)
    return [event["data"]["session_id"] for event in events]


def test_who_asks_for_events_sees_what_just_happened(opened: Open) -> None:
    store = opened()
    write(store, "a")
    assert told(store) == ["a"]

    write(store, "b")

    assert told(store) == ["a", "b"]
    event = ask(store, "events_query", kind="SessionExited", limit=1)["events"][0]
    assert event["ts"].startswith("1970-01-01T00:00:00.005")
    assert event["data"] == {"session_id": "b", "exit_code": 0}


def test_a_restart_neither_loses_nor_repeats(opened: Open) -> None:
    store = opened()
    write(store, "a")
    assert told(store) == ["a"]
    store.close()
    write(store, "b")

    assert told(opened()) == ["a", "b"]


def test_a_journal_that_was_moved_aside_is_read_to_its_end_first(opened: Open) -> None:
    store = opened()
    write(store, "a")
    assert told(store) == ["a"]
    write(store, "b")
    (store.directory / "agent-events.jsonl").rename(store.directory / "agent-events.jsonl.old")
    write(store, "c")

    assert told(store) == ["a", "b", "c"]
    assert told(opened()) == ["a", "b", "c"]


def test_moved_aside_twice_everything_that_is_left_arrives(opened: Open) -> None:
    store = opened()
    write(store, "a")
    assert told(store) == ["a"]
    path = store.directory / "agent-events.jsonl"
    path.unlink()
    write(store, "b", name="agent-events.jsonl.old")
    write(store, "c")

    assert told(store) == ["a", "b", "c"]


def test_half_a_line_waits_for_its_end_and_rubbish_is_passed(opened: Open) -> None:
    store = opened()
    path = store.directory / "agent-events.jsonl"
    path.write_bytes(b'\xff\n[]\n{"event": 1}\n{"event": "X", "ts_ms": 9e99}\n{"event": "SessionE')
    assert told(store) == []

    with path.open("a") as out:
        out.write('xited", "ts_ms": 1, "session_id": "a"}\n')

    assert told(store) == ["a"]


def test_a_store_that_takes_nothing_takes_it_the_next_time(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened()
    write(store, "a")

    def full(*_: object) -> None:
        raise DiskFull("no space")

    with monkeypatch.context() as patched:
        patched.setattr(store.journal, "record_events", full)
        assert told(store) == []

    assert told(store) == ["a"]


def test_the_daemon_takes_it_in_by_itself(opened: Open) -> None:
    store = opened()

    async def watch() -> None:
        stop = asyncio.Event()
        task = asyncio.ensure_future(follow_agent_news(store.agent_news, stop))
        write(store, "a")
        async with asyncio.timeout(20):
            while not store.journal.events("SessionExited", None, 1):
                await asyncio.sleep(0.01)
            stop.set()
            await task

    asyncio.run(watch())


def test_changes_of_status_do_not_push_out_other_events(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_journal, "_KEPT_CHANGES", 5)
    store = opened()
    store.journal.record_event("backup", {}, 1)
    path = Path(store.directory, "agent-events.jsonl")
    for n in range(20):
        fields = {"event": "SessionStatusChanged", "ts_ms": n, "status": "idle"}
        with path.open("a") as out:
            out.write(json.dumps(fields) + "\n")
        store.agent_news.gather()

    assert len(store.journal.events("SessionStatusChanged", None, 100)) == 5
    assert len(store.journal.events("backup", None, 100)) == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "SessionExited", "ts_ms": 5, "session_id": "\\ud800"}',
        '{"event": "\\udcff", "ts_ms": 5}',
        '{"event": "SessionExited", "ts_ms": 5, "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_a_line_that_can_not_be_kept_does_not_hold_up_the_others(opened: Open, line: str) -> None:
    store = opened()
    write(store, "a")
    with (store.directory / "agent-events.jsonl").open("a") as out:
        out.write(line + "\n")
    write(store, "b")

    assert [name for name in told(store) if name in ("a", "b")] == ["a", "b"]


def test_another_machine_is_believed_only_what_is_told_of_its_sessions(opened: Open) -> None:
    lines = [
        {"event": "SessionExited", "ts_ms": 5, "session_id": "a", "exit_code": 0, "more": "x"},
        {"event": "SessionExited", "ts_ms": 5, "session_id": "b" * 1000},
        {"event": "SessionExited", "ts_ms": 5, "session_id": ["c"]},
        {"event": "backup_made", "ts_ms": 5, "session_id": "d"},
        "nonsense",
    ]
    said = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    places: list[str] = []

    def read(place: str) -> tuple[bytes, str]:
        places.append(place)
        return (said, "here") if place != "here" else (b"", place)

    store = opened()
    for _ in range(2):
        journal_import.take_from(store.journal, "ssh://far", read)

    (event,) = ask(store, "events_query", kind="SessionExited")["events"]
    assert event["data"] == {"session_id": "a", "exit_code": 0, "machine": "ssh://far"}
    assert ask(store, "events_query", kind="backup_made")["events"] == []
    assert places == ["", "here", "here"]


def test_a_machine_that_never_comes_to_an_end_is_left_for_the_next_time(opened: Open) -> None:
    journal_import.take_from(
        opened().journal, "ssh://far", lambda place: (b"nonsense\n", place + "x")
    )
