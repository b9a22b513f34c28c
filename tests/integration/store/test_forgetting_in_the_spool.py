"""Words of a forgotten turn leave the spool's files; what else stands in them is delivered as it was."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from iai_mcp.core import dispatch
from iai_mcp.daemon.background_tasks import SpoolDrain
from iai_mcp.store import MemoryStore

Open = Callable[[], MemoryStore]


@pytest.fixture
def store(opened: Open) -> MemoryStore:
    return opened()


def spooled(store: MemoryStore, *lines: object, name: str = "s-1.jsonl") -> Path:
    path = store.directory / ".deferred-captures" / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    header = {"version": 1, "session_id": "s"}
    written = [line if isinstance(line, str) else json.dumps(line) for line in (header, *lines)]
    path.write_text("\n".join(written) + "\n")
    return path


def turn(text: str, **more: object) -> dict[str, object]:
    return {"text": text, "role": "user", **more}


def said(store: MemoryStore) -> list[str]:
    records = dispatch(store, "memory_timeline", {})["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]


def drain(store: MemoryStore) -> None:
    SpoolDrain(
        lambda header, events: dispatch(store, "capture_events", {**header, "events": events})
    ).drain_once()


def test_a_file_that_was_set_aside_keeps_only_what_was_not_forgotten(store: MemoryStore) -> None:
    aside = spooled(
        store,
        turn("the heron is hidden", id="1"),
        "half a line",
        turn("the stork is not", id="2"),
        name="failed/s-1.jsonl",
    )
    events = [turn("the heron is hidden", id="1"), turn("the stork is not", id="2")]
    dispatch(store, "capture_events", {"session_id": "s", "events": events})
    dispatch(store, "memory_forget", {"query": "heron"})
    lines = aside.read_text().splitlines()
    assert len(lines) == 3
    assert lines[1] == "half a line"
    assert json.loads(lines[2])["text"] == "the stork is not"
    assert aside.stat().st_mode & 0o777 == 0o600


def test_the_same_words_said_again_are_still_delivered_as_themselves(store: MemoryStore) -> None:
    dispatch(store, "capture_events", {"session_id": "s", "events": [turn("yes"), turn("no")]})
    dispatch(store, "memory_capture", {"text": "heron", "session_id": "t"})
    records = dispatch(store, "memory_timeline", {"session_id": "s"})["records"]
    assert isinstance(records, list)
    waiting = spooled(store, turn("yes"), turn("no"), turn("yes"), turn("yes"))
    dispatch(store, "memory_forget", {"ids": [records[0]["id"]]})
    assert len(waiting.read_text().splitlines()) == 4
    drain(store)
    assert sorted(said(store)) == ["heron", "no", "yes", "yes"]
    assert not waiting.exists()


def test_what_is_no_file_of_ours_is_left_alone(store: MemoryStore, tmp_path: Path) -> None:
    dispatch(store, "capture_events", {"session_id": "s", "events": [turn("heron", id="1")]})
    spool = spooled(store, turn("stork")).parent
    elsewhere = tmp_path / "mine.jsonl"
    lines = [{"version": 1, "session_id": "s"}, turn("heron", id="1")]
    elsewhere.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = elsewhere.read_text()
    (spool / "link.jsonl").symlink_to(elsewhere)
    (spool / "nowhere.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(spool / "pipe.jsonl")
    (spool / "directory.jsonl").mkdir()
    (spool / "noise.jsonl").write_bytes(os.urandom(4096))
    assert dispatch(store, "memory_forget", {"query": "heron"})["forgotten"] == 1
    assert elsewhere.read_text() == before


def test_a_file_with_a_line_longer_than_any_turn_is_named_and_left_alone(
    store: MemoryStore,
) -> None:
    aside = spooled(store, turn("the heron is hidden", id="1"), name="failed/s-1.jsonl")
    with aside.open("ab") as file:
        file.write(b"x")
        file.truncate(1 << 40)  # a hole, larger than all memory
        file.seek(0, os.SEEK_END)
        file.write(b"y" * (65 << 20))
    events = [turn("the heron is hidden", id="1")]
    dispatch(store, "capture_events", {"session_id": "s", "events": events})
    told = dispatch(store, "memory_forget", {"query": "heron"})
    assert isinstance(told["copies"], dict)
    assert [str(aside) in one for one in told["copies"]["not_reached"]] == [True]
