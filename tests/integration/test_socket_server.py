"""`SocketServer` as other programs embed it: with or without a store, wired or not."""

import asyncio
import contextlib
import json
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from tests.support.answers import Json

from iai_mcp import core
from iai_mcp.concurrency import ProcessLock
from iai_mcp.core import UnknownMethodError, dispatch
from iai_mcp.daemon import socket_server
from iai_mcp.socket_server import SocketServer
from iai_mcp.store import MemoryStore

T = TypeVar("T")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    yield opened
    opened.close()


async def ask(path: Path, message: object) -> Json:
    reader, writer = await asyncio.open_unix_connection(str(path))
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()
    line = await asyncio.wait_for(reader.readline(), 20)
    writer.close()
    await writer.wait_closed()
    answer: Json = json.loads(line)
    return answer


def served(server: SocketServer, talk: Callable[[Path], Awaitable[T]]) -> T:
    async def story() -> T:
        path = Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock"
        task = asyncio.create_task(server.serve(socket_path=path))
        while not path.exists():
            await asyncio.sleep(0.005)
        try:
            return await talk(path)
        finally:
            server.shutdown_event.set()
            await asyncio.wait_for(task, 6)
            assert not path.exists()

    return asyncio.run(story())


def test_without_state_the_control_plane_says_that_it_is_unwired() -> None:
    answer = served(SocketServer(None), lambda path: ask(path, {"type": "status"}))
    assert answer["ok"] is False
    assert answer["reason"] == "control_plane_unwired"
    assert answer["error"]


def test_with_state_it_answers_and_only_leaves_requests(tmp_path: Path) -> None:
    state: dict[str, object] = {"fsm_state": "SLEEP"}
    server = SocketServer(None, lock=ProcessLock(tmp_path / "l"), state=state)
    message = {"type": "user_initiated_sleep", "reason": "tired", "ts": "2026-01-01T00:00:00Z"}
    answer = served(server, lambda path: ask(path, message))
    assert (answer["ok"], answer["reason"]) == (False, "already_sleeping")
    server = SocketServer(None, lock=ProcessLock(tmp_path / "l"), state=state)
    wake = {"type": "force_wake", "ts": "2026-01-01T00:00:00Z"}
    answer = served(server, lambda path: ask(path, wake))
    assert answer["reason"] == "wake_queued"
    assert state["fsm_state"] == "SLEEP"


def test_an_exception_in_the_control_plane_becomes_an_answer(tmp_path: Path) -> None:
    class Broken(dict[str, object]):
        def __contains__(self, _: object) -> bool:
            raise RuntimeError("no")

    server = SocketServer(None, lock=ProcessLock(tmp_path / "l"), state=Broken())
    answer = served(server, lambda path: ask(path, {"type": "status"}))
    assert (answer["ok"], answer["reason"]) == (False, "control_plane_error")


def test_methods_are_served_from_an_embedded_store(store: MemoryStore) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "memory_capture", "params": {"text": "hello"}}
    answer = served(SocketServer(store, idle_secs=99999), lambda path: ask(path, request))
    assert answer["result"]["status"] == "inserted"


def test_a_cancelled_serve_ends_idle_connections_too() -> None:
    async def story() -> None:
        path = Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock"
        server = SocketServer(None, idle_secs=99999, state={"fsm_state": "WAKE"})
        task = asyncio.create_task(server.serve(socket_path=path))
        while not path.exists():
            await asyncio.sleep(0.005)
        _, writer = await asyncio.open_unix_connection(str(path))
        while not server.active_connections:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 6)
        assert server.active_connections == 0
        writer.close()

    asyncio.run(story())


def test_the_defaults_are_what_others_rely_on(store: MemoryStore) -> None:
    server = SocketServer(store)
    assert server.idle_secs == 1800
    assert "status" in server.CONTROL_MSG_TYPES
    assert len(server.CONTROL_MSG_TYPES) == 7
    assert server.active_connections == 0
    assert server.last_activity_ts > 0
    assert not server.shutdown_event.is_set()


def test_watching_is_not_activity(store: MemoryStore) -> None:
    server = SocketServer(store, lock=ProcessLock(), state={})

    async def talk(path: Path) -> tuple[float, float]:
        before = server.last_use_ts
        await ask(path, {"type": "status"})
        for method in ("topology", "events_query", "doctor"):
            await ask(path, {"jsonrpc": "2.0", "id": 1, "method": method})
        watched = server.last_use_ts - before
        await ask(path, {"jsonrpc": "2.0", "id": 1, "method": "memory_timeline"})
        return watched, server.last_use_ts - before

    watched, asked = served(server, talk)
    assert watched == 0
    assert asked > 0


def test_dispatch_names_the_unknown_method() -> None:
    with pytest.raises(UnknownMethodError) as unknown:
        dispatch(None, "nothing", {})
    assert unknown.value.args[0] == "nothing"


@pytest.mark.parametrize("turns", range(6))
def test_who_was_accepted_at_the_last_moment_is_answered_and_the_others_stay_in_the_queue(
    store: MemoryStore, turns: int
) -> None:
    server = SocketServer(store)
    server.keep_listening = True
    path = Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock"
    clients: list[socket.socket] = []

    async def story() -> None:
        task = asyncio.create_task(server.serve(socket_path=path))
        while not path.exists():
            await asyncio.sleep(0.005)
        for _ in range(10):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(5)
            clients.append(client)
            client.connect(str(path))
            client.sendall(b'{"jsonrpc": "2.0", "id": 1, "method": "memory_timeline"}\n')
        for _ in range(turns):
            await asyncio.sleep(0)
        server.shutdown_event.set()
        await asyncio.wait_for(task, 6)

    asyncio.run(story())
    waiting = 0
    with socket.socket(fileno=server.handed_over) as queue, contextlib.suppress(BlockingIOError):
        queue.setblocking(False)
        while True:
            queue.accept()[0].close()
            waiting += 1
    answered = 0
    for client in clients:
        with client, contextlib.suppress(ConnectionError, TimeoutError):
            answered += b'"result"' in client.recv(1000)
    assert answered + waiting == len(clients)


def test_a_line_that_was_sent_whole_is_answered_even_while_the_daemon_ends() -> None:
    server = SocketServer(None)
    sent, answered = [0], [0]

    def talk(path: Path, talking: threading.Event) -> None:
        with socket.socket(socket.AF_UNIX) as client, client.makefile("rb") as answers:
            client.connect(str(path))
            with contextlib.suppress(ConnectionError):
                while True:
                    client.sendall(b'{"type": "status"}\n')
                    sent[0] += 1
                    talking.set()
                    if sent[0] > answered[0] + 50:
                        answered[0] += bool(answers.readline())
            answered[0] += len(answers.readlines())

    async def story() -> None:
        path = Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock"
        task = asyncio.create_task(server.serve(socket_path=path))
        while not path.exists():
            await asyncio.sleep(0.005)
        talking = threading.Event()
        talk_ends = asyncio.get_running_loop().run_in_executor(None, talk, path, talking)
        while not talking.is_set() or sent[0] < 250:
            await asyncio.sleep(0.005)
        server.shutdown_event.set()
        await asyncio.wait_for(task, 6)
        await asyncio.wait_for(talk_ends, 6)

    asyncio.run(story())
    assert sent[0] >= 250
    assert answered == sent


def test_a_call_that_takes_longer_than_an_ending_daemon_waits_is_told_so(
    monkeypatch: pytest.MonkeyPatch, store: MemoryStore
) -> None:
    began, may_end = threading.Event(), threading.Event()

    def slow(*_: object) -> dict[str, object]:
        began.set()
        may_end.wait(20)
        return {}

    monkeypatch.setattr(core, "dispatch", slow)
    monkeypatch.setattr(socket_server, "_DRAIN_SECONDS", 0.1)
    server = SocketServer(store)

    async def talk(path: Path) -> Json:
        request = {"jsonrpc": "2.0", "id": 7, "method": "capture_events", "params": {}}
        asking = asyncio.ensure_future(ask(path, request))
        await asyncio.to_thread(began.wait, 20)
        server.shutdown_event.set()
        return await asking

    try:
        answer = served(server, talk)
    finally:
        may_end.set()
    assert answer["id"] == 7
    assert answer["error"]["data"]["code"] == "BUSY"
    assert "again" in answer["error"]["message"]
