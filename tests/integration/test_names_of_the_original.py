"""Names, messages and behaviour that programs written against the original iai-mcp rely on."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.test_socket_server import ask, served
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome

from iai_mcp import concurrency, core, socket_server
from iai_mcp.concurrency import ProcessLock
from iai_mcp.socket_server import SocketServer

LISTENING = 3


def request(method: str = "topology", **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, **more}


def test_the_codes_and_the_idle_default_have_their_names() -> None:
    assert (
        socket_server.ERR_PARSE_ERROR,
        socket_server.ERR_INVALID_REQUEST,
        socket_server.ERR_METHOD_NOT_FOUND,
        socket_server.ERR_INVALID_PARAMS,
        socket_server.ERR_DAEMON_INTERNAL,
        socket_server.IDLE_SECS_DEFAULT,
    ) == (-32700, -32600, -32601, -32602, -32001, 1800)
    assert SocketServer(None).idle_secs == socket_server.IDLE_SECS_DEFAULT


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ([], "request must be a JSON object"),
        ({"id": 1, "method": "topology"}, "jsonrpc must be '2.0'"),
        ({"jsonrpc": "1.0", "id": 1, "method": "topology"}, "jsonrpc must be '2.0'"),
        ({"jsonrpc": "2.0", "method": "topology"}, "id required and non-null"),
        ({"jsonrpc": "2.0", "id": None, "method": "topology"}, "id required and non-null"),
        ({"jsonrpc": "2.0", "id": 1}, "method must be a string"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, "method must be a string"),
        (request(params="x"), "params must be object or array"),
        (request(params=None), "params must be object or array"),
    ],
)
def test_a_wrong_envelope_is_refused_in_the_same_words(message: object, problem: str) -> None:
    assert socket_server._validate_jsonrpc_envelope(message) == (False, problem)
    error = served(SocketServer(None), lambda path: ask(path, message))["error"]
    assert (error["code"], error["message"]) == (-32600, problem)


def test_a_right_envelope_is_accepted() -> None:
    several: list[object] = [{}, [], {"a": 1}]
    for params in several:
        assert socket_server._validate_jsonrpc_envelope(request(params=params)) == (True, None)
    assert socket_server._validate_jsonrpc_envelope(request()) == (True, None)


def answer_of(
    monkeypatch: pytest.MonkeyPatch, dispatch: Callable[..., object], **more: object
) -> Json:
    monkeypatch.setattr(core, "dispatch", dispatch)
    return served(SocketServer(None), lambda path: ask(path, request("anything", **more)))


def test_a_replaced_dispatch_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def replaced(store: object, method: str, params: object) -> dict[str, object]:
        seen.append((store, method, params))
        return {"mine": True}

    assert answer_of(monkeypatch, replaced, params={"a": 1})["result"] == {"mine": True}
    assert answer_of(monkeypatch, replaced, params=[])["result"] == {"mine": True}
    assert answer_of(monkeypatch, replaced)["result"] == {"mine": True}
    assert seen == [(None, "anything", {"a": 1}), (None, "anything", {}), (None, "anything", {})]


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (KeyError("cue"), -32602, "missing required param: 'cue'"),
        (TypeError("k must be an int"), -32602, "k must be an int"),
        (ValueError("what somebody said"), -32001, "anything failed inside (ValueError)"),
        (core.UnknownMethodError("anything"), -32601, "unknown method 'anything'"),
    ],
)
def test_what_dispatch_raises_has_its_code(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, code: int, message: str
) -> None:
    def failing(*_: object) -> object:
        raise raised

    error = answer_of(monkeypatch, failing)["error"]
    assert (error["code"], error["message"]) == (code, message)


def test_no_params_and_an_empty_list_are_the_same() -> None:
    several: list[object] = [None, [], {}]
    for params in several:
        with pytest.raises(Exception, match="no store"):
            core.dispatch(None, "topology", params)


@pytest.mark.parametrize("wired", [{"lock": True}, {"state": True}, {}])
def test_the_control_plane_needs_lock_and_state(tmp_path: Path, wired: dict[str, bool]) -> None:
    server = SocketServer(
        None,
        lock=ProcessLock(tmp_path / "l") if "lock" in wired else None,
        state={"fsm_state": "WAKE"} if "state" in wired else None,
    )
    answer = served(server, lambda path: ask(path, {"type": "status"}))
    assert (answer["ok"], answer["reason"]) == (False, "control_plane_unwired")


def test_every_line_moves_the_time_of_last_activity(tmp_path: Path) -> None:
    server = SocketServer(None, lock=ProcessLock(tmp_path / "l"), state={})
    seen = [server.last_activity_ts]

    async def talk(path: Path) -> None:
        for message in ({"type": "status"}, request("no_such"), "no request", request()):
            await ask(path, message)
            seen.append(server.last_activity_ts)

    served(server, talk)
    assert sorted(set(seen)) == seen


def test_a_control_message_can_be_dispatched_by_hand() -> None:
    state: dict[str, object] = {"fsm_state": "SLEEP"}

    def by_hand(message: dict[str, object]) -> dict[str, object]:
        return asyncio.run(concurrency._dispatch_socket_request(message, None, None, state))

    assert by_hand({"type": "status"}) == {
        "ok": True,
        "last_sleep": None,
        "state": "SLEEP",
        "scheduler_paused": False,
    }
    assert by_hand({"type": "pause"})["paused"] is True
    assert by_hand({"type": "status"})["scheduler_paused"] is True
    assert by_hand({"type": "force_wake", "ts": "now"})["reason"] == "wake_queued"
    assert by_hand({"type": "force_wake"})["reason"] == "invalid_message"
    assert state["fsm_state"] == "SLEEP"


def test_the_server_uses_a_replaced_control_dispatch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def broken(*_: object) -> dict[str, object]:
        raise RuntimeError("broken")

    monkeypatch.setattr(concurrency, "_dispatch_socket_request", broken)
    server = SocketServer(None, lock=ProcessLock(tmp_path / "l"), state={})
    answer = served(server, lambda path: ask(path, {"type": "status"}))
    assert (answer["ok"], answer["reason"]) == (False, "control_plane_error")


@contextlib.contextmanager
def listening_on_three() -> Iterator[str]:
    """A listening socket as descriptor 3, as a service manager hands one over."""
    path = str(Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock")
    try:
        kept: int | None = os.dup(LISTENING)
    except OSError:
        kept = None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        os.dup2(listener.fileno(), LISTENING)
        try:
            yield path
        finally:
            if kept is not None:
                os.dup2(kept, LISTENING)
                os.close(kept)
            else:
                with contextlib.suppress(OSError):
                    os.close(LISTENING)


@pytest.mark.parametrize(
    ("count", "pid"), [(None, None), ("1", "999999"), ("0", "own"), ("foo", "own"), ("1", "x")]
)
def test_no_socket_is_inherited_where_none_was_meant_for_us(
    monkeypatch: pytest.MonkeyPatch, count: str | None, pid: str | None
) -> None:
    for name, value in (("LISTEN_FDS", count), ("LISTEN_PID", pid)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, str(os.getpid()) if value == "own" else value)
    assert socket_server._inherit_launchd_socket() is None


def test_an_inherited_socket_does_not_block_and_is_the_one_that_was_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    with listening_on_three() as path:
        inherited = socket_server._inherit_launchd_socket()
        assert inherited is not None
        assert inherited.getsockname() == path
        assert inherited.getblocking() is False
        inherited.detach()


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    yield made
    made.remove()


def over_stdio(home: ScratchHome, *lines: object) -> list[Json]:
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.core"],
        env=home.environment,
        input="".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def talk_over_stdio(home: ScratchHome) -> None:
    said = {"text": "The port of heron is 5433.", "session_id": "s"}
    stored, found, missing, unknown, broken, envelope = over_stdio(
        home,
        request("memory_capture", params=said),
        request("memory_timeline", params=[]),
        request("memory_recall", params={}),
        request("no_such_method"),
        "no json\n",
        {"id": 1},
    )
    assert stored["result"]["status"] == "inserted"
    assert [each["text"] for each in found["result"]["records"]] == [said["text"]]
    assert missing["error"]["message"] == "missing required param: 'cue'"
    assert [answer["error"]["code"] for answer in (missing, unknown, broken, envelope)] == [
        -32602,
        -32601,
        -32700,
        -32600,
    ]
    assert (stored["id"], broken["id"]) == (7, None)


def test_core_serves_lines_on_stdin_and_stdout(home: ScratchHome) -> None:
    talk_over_stdio(home)


def test_core_asks_the_daemon_where_one_serves_the_store(home: ScratchHome) -> None:
    daemon = DaemonProcess(home).start()
    try:
        talk_over_stdio(home)
    finally:
        daemon.stop()


def test_core_says_in_one_sentence_that_another_process_holds_the_store(home: ScratchHome) -> None:
    home.store.mkdir(parents=True)
    lock = ProcessLock(home.store / ".lock")
    assert lock.try_acquire_exclusive()
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.core"],
        env=home.environment,
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lock.close()
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert f"pid {os.getpid()}" in done.stderr
