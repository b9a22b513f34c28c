"""The spool drains into the store: each turn once, nothing lost, nothing in the way of the rest."""

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.integration.capture.conftest import Machine

from iai_mcp.adapters import spool_drain as drain_module
from iai_mcp.capture import spool, write_deferred_captures
from iai_mcp.daemon.background_tasks import SpoolDrain
from iai_mcp.domain.errors import Busy, InvalidInput
from iai_mcp.protocol.compact_json import dumps

Event = dict[str, object]


class Store:
    """Keeps turns by their identity, like the real one, and fails when told to."""

    def __init__(self) -> None:
        self.turns: dict[tuple[object, ...], Event] = {}
        self.calls: list[tuple[Event, int]] = []
        self.failure: Exception | None = None
        self.refusals = 0

    def take(self, header: Event, events: list[Event]) -> Event:
        if self.failure is not None:
            self.refusals += 1
            raise self.failure
        self.calls.append((header, len(events)))
        before = len(self.turns)
        for event in events:
            words = (event.get("role"), event["text"], event.get("occurrence"))
            self.turns.setdefault((header["session_id"], event.get("id") or words), event)
        inserted = len(self.turns) - before
        return {"inserted": inserted, "duplicates": len(events) - inserted}

    @property
    def texts(self) -> list[object]:
        return [event["text"] for event in self.turns.values()]


def put(session: str, *texts: str, **more: object) -> Path:
    events = [{"text": text, "role": "user", "id": text} | more for text in texts]
    return Path(spool.write({"session_id": session}, [dumps(e).encode() for e in events]))


@pytest.fixture
def store(machine: Machine) -> Store:
    return Store()


@pytest.fixture
def drain(store: Store) -> SpoolDrain:
    return SpoolDrain(store.take)


def test_files_are_drained_oldest_first_and_removed(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    newer, older = put("b", "second"), put("a", "first")
    os.utime(older, (1, 1))

    done = drain.drain_once()

    assert store.texts == ["first", "second"]
    assert (done.files, done.inserted) == (2, 2)
    assert not newer.exists()
    assert machine.spooled() == []


def test_a_transcript_spooled_twice_is_stored_once(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    path = machine.transcript(turns=5)

    first = write_deferred_captures("s-1", path)
    second = write_deferred_captures("s-1", path, "/home/ann/shop")
    done = drain.drain_once()

    assert first != second
    assert (done.inserted, done.duplicates) == (5, 5)
    assert store.calls[1][0]["cwd"] == "/home/ann/shop"


def test_the_same_words_twice_in_one_file_are_two_turns_however_often_delivered(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    lines = [dumps({"text": "yes", "role": "user"}).encode()] * 3
    for _ in range(2):
        spool.write({"session_id": "s-1"}, lines)

    drain.drain_once()

    assert len(store.turns) == 3


def test_long_files_are_stored_in_batches(store: Store, drain: SpoolDrain) -> None:
    put("s-1", *(f"turn {n}" for n in range(450)))

    drain.drain_once()

    assert [count for _, count in store.calls] == [200, 200, 50]


def test_turns_of_other_sessions_in_a_file_are_stored_under_theirs(
    store: Store, drain: SpoolDrain
) -> None:
    events = [
        {"text": f"t{n}", "id": str(n), "role": "user", "session_id": s}
        for n, s in enumerate("aabb")
    ]
    spool.write({"session_id": "main"}, [dumps(e).encode() for e in events])

    drain.drain_once()

    assert [(header["session_id"], count) for header, count in store.calls] == [("a", 2), ("b", 2)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the first line is not a header"),
        (b"\xff\xfe\x00\n", "the first line is not a header"),
        (b'{"version": 2, "session_id": "s"}\n', "version 2 is not understood"),
        (b'{"version": 1}\n', "the header names no session"),
    ],
)
def test_what_can_not_be_read_is_set_aside_with_its_reason(
    machine: Machine, store: Store, drain: SpoolDrain, content: bytes, reason: str
) -> None:
    good = put("s-1", "fine")
    bad = machine.spool / "bad-1.jsonl"
    bad.write_bytes(content)

    done = drain.drain_once()

    shelf = machine.spool / "failed"
    assert store.texts == ["fine"]
    assert not good.exists()
    assert (shelf / "bad-1.jsonl").read_bytes() == content
    assert reason in (shelf / "bad-1.jsonl.reason").read_text()
    assert (shelf / "bad-1.jsonl.reason").stat().st_mode & 0o777 == 0o600
    assert shelf.stat().st_mode & 0o777 == 0o700
    assert done.set_aside == 1
    assert drain.counts() == {"waiting": 0, "set_aside": 1}


def test_good_turns_of_a_damaged_file_are_stored_and_the_file_is_kept(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    path = put("s-1", "before", "after")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b'{"text": 5}\n' + lines[2] + b'{"text": "ha')

    drain.drain_once()

    assert store.texts == ["before", "after"]
    reason = (machine.spool / "failed" / f"{path.name}.reason").read_text()
    assert reason == "line 3 is not a turn\nline 5 is not a turn\n"


def test_two_files_of_one_name_are_both_set_aside(machine: Machine, drain: SpoolDrain) -> None:
    for content in (b"one", b"two"):
        machine.spool.mkdir(parents=True, exist_ok=True)
        (machine.spool / "bad-1.jsonl").write_bytes(content)
        drain.drain_once()

    kept = {p.read_bytes() for p in (machine.spool / "failed").glob("*.jsonl")}
    assert kept == {b"one", b"two"}


def test_a_directory_in_the_spool_is_set_aside(machine: Machine, drain: SpoolDrain) -> None:
    (machine.spool / "x-1.jsonl").mkdir(parents=True)

    assert drain.drain_once().set_aside == 1
    assert (machine.spool / "failed" / "x-1.jsonl").is_dir()


@pytest.mark.parametrize("kind", ["dangling", "link", "loop", "pipe", "socket"])
def test_what_is_no_regular_file_is_set_aside_and_holds_nobody_up(
    machine: Machine, store: Store, drain: SpoolDrain, kind: str
) -> None:
    after = put("after", "drained all the same")
    odd = machine.spool / "odd.jsonl"
    elsewhere = machine.root / "elsewhere.jsonl"
    elsewhere.write_text('{"version": 1, "session_id": "s"}\n{"text": "not ours to read"}\n')
    if kind == "pipe":
        os.mkfifo(odd)
    elif kind == "socket":
        short = machine.socket.parent / "s"
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(short))
        short.rename(odd)
    else:
        odd.symlink_to({"dangling": Path("nowhere"), "link": elsewhere, "loop": odd}[kind])
    os.utime(odd, (1, 1), follow_symlinks=False)

    done = drain.drain_once()

    assert (done.files, done.set_aside) == (1, 1)
    assert drain.counts() == {"waiting": 0, "set_aside": 1}
    assert "regular file" in (machine.spool / "failed/odd.jsonl.reason").read_text()
    assert store.texts == ["drained all the same"]
    assert not after.exists()
    assert elsewhere.exists()


def test_a_busy_store_leaves_everything_for_later(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    files = [put("a", "one"), put("b", "two")]
    store.failure = Busy("the store is busy")

    done = drain.drain_once()
    assert done.waiting == 2
    assert all(file.exists() for file in files)
    assert drain.counts() == {"waiting": 2, "set_aside": 0}

    store.failure = None
    drain.drain_once()
    assert sorted(map(str, store.texts)) == ["one", "two"]


def test_turns_that_the_store_calls_invalid_are_set_aside(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    put("a", "one")
    store.failure = InvalidInput("the text was blank")

    assert drain.drain_once().set_aside == 1
    assert "blank" in next((machine.spool / "failed").glob("*.reason")).read_text()


def test_a_bug_in_the_store_neither_loses_a_file_nor_blocks_the_others(
    machine: Machine, store: Store
) -> None:
    def poisoned(header: Event, events: list[Event]) -> Event:
        if header["session_id"] == "bad":
            raise ZeroDivisionError
        return store.take(header, events)

    bad, _ = put("bad", "poison"), put("good", "fine")
    os.utime(bad, (1, 1))
    drain = SpoolDrain(poisoned)

    passes = [drain.drain_once() for _ in range(drain_module.ATTEMPTS)]

    assert [p.set_aside for p in passes] == [0] * (drain_module.ATTEMPTS - 1) + [1]
    assert store.texts == ["fine"]
    assert "ZeroDivisionError" in (machine.spool / "failed" / f"{bad.name}.reason").read_text()


def test_half_written_files_are_left_alone_and_old_ones_cleaned(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    put("s-1", "whole")
    young, old = machine.spool / ".a-1.jsonl.tmp", machine.spool / ".b-1.jsonl.tmp"
    young.write_text('{"version": 1, "session_id": "x"}\n{"text": "half')
    old.write_text("")
    os.utime(old, (1, 1))

    drain.drain_once()

    assert store.texts == ["whole"]
    assert young.exists()
    assert not old.exists()


def test_what_the_hook_had_no_time_to_read_is_read_by_the_daemon(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    path = machine.transcript(turns=5)
    first = len(path.read_text().splitlines(keepends=True)[0])
    rest = {"path": str(path), "host": "claude-code", "start": first, "carry": {}}
    gone = {"path": str(machine.root / "gone.jsonl"), "host": "claude-code", "start": 0}
    spool.write({"session_id": "s-1", "unread": [rest]}, [])
    spool.write({"session_id": "s-2", "unread": [gone]}, [])

    done = drain.drain_once()

    assert [str(t)[:6] for t in store.texts] == ["turn 1", "turn 2", "turn 3", "turn 4"]
    assert "unread" not in store.calls[0][0]
    assert done.set_aside == 1, "a transcript that is gone is a loss that must show"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def test_the_watcher_drains_at_start_and_whenever_something_appears(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    put("a", "before the start")

    def arrived(number: int) -> bool:
        return len(store.texts) == number

    async def watch() -> float:
        stop = asyncio.Event()
        task = asyncio.create_task(drain.run(stop))
        await until(partial(arrived, 1))
        longest = 0.0
        for number in range(3):
            put("b", f"while it runs {number}")
            began = time.monotonic()
            await until(partial(arrived, number + 2))
            longest = max(longest, time.monotonic() - began)
        stop.set()
        await asyncio.wait_for(task, 5)
        return longest

    assert asyncio.run(watch()) < 1.5
    assert machine.spooled() == []


def test_the_watcher_tries_again_when_the_store_recovers(
    machine: Machine, store: Store, drain: SpoolDrain
) -> None:
    async def watch() -> None:
        stop = asyncio.Event()
        store.failure = OSError(28, "No space left on device")
        task = asyncio.create_task(drain.run(stop))
        put("a", "patient")
        await until(lambda: store.refusals > 0)
        assert drain.counts()["waiting"] == 1
        store.failure = None
        await until(lambda: store.texts == ["patient"])
        stop.set()
        await asyncio.wait_for(task, 5)

    asyncio.run(watch())
    assert machine.spooled() == []


def test_a_stop_waits_for_the_batch_in_hand_and_no_longer(machine: Machine) -> None:
    put("s-1", *(f"turn {n}" for n in range(1000)))
    started, release = threading.Event(), threading.Event()
    calls: list[int] = []

    def slow(header: Event, events: list[Event]) -> Event:
        calls.append(len(events))
        started.set()
        assert release.wait(10)
        return {"inserted": len(events)}

    async def watch() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(SpoolDrain(slow).run(stop))
        await until(started.is_set)
        stop.set()
        asyncio.get_running_loop().call_later(0.2, release.set)
        await task

    asyncio.run(asyncio.wait_for(watch(), 20))

    assert len(calls) < 5
    assert len(machine.spooled()) == 1


def test_many_writers_never_share_a_file(machine: Machine) -> None:
    path = machine.transcript(turns=2)
    processes = [machine.start("--no-spawn", "--session-id", "one", str(path)) for _ in range(12)]
    results = [json.loads(process.communicate(timeout=60)[0]) for process in processes]

    assert len({result["path"] for result in results}) == 12
    assert len(machine.spooled()) == 12
    assert [p for p in machine.spool.iterdir() if p.name.startswith(".")] == []
