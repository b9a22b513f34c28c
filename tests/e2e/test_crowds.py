"""Clients that flood, vanish or send huge things: what the others notice of them."""

import contextlib
import json
import socket
import sys
import threading

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, Line, until
from tests.support.home import ScratchHome


def _capture(number: int, session: str, text: str = "") -> bytes:
    params = {"text": f"{session} {number} {text}", "session_id": session}
    message = {"jsonrpc": "2.0", "id": number, "method": "memory_capture", "params": params}
    return json.dumps(message).encode() + b"\n"


def _open_session(line: Line) -> None:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    line.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})


def _tool_call(number: int, text: str, session: str) -> Json:
    params = {"name": "memory_capture", "arguments": {"text": text, "session_id": session}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _stored(daemon: DaemonProcess, session: str) -> int:
    return len(daemon.call("memory_timeline", session_id=session, limit=10_000)["records"])


def test_one_who_asks_once_is_answered_in_the_midst_of_anothers_flood(
    daemon: DaemonProcess,
) -> None:
    asked, answered, stop = 20_000, [0], threading.Event()
    with daemon.line() as flood, daemon.line() as other:

        def read() -> None:
            for _ in range(asked):
                flood.receive()
                answered[0] += 1

        def write() -> None:
            flood.send_raw(b'{"type": "status"}\n' * asked)
            stop.set()

        threads = [threading.Thread(target=work) for work in (read, write)]
        for thread in threads:
            thread.start()
        passed = []
        until(lambda: answered[0] > 100, "the flood is being answered")
        while answered[0] < asked // 2:
            before = answered[0]
            assert other.ask({"type": "status"})["ok"]
            passed.append(answered[0] - before)
        for thread in threads:
            thread.join()
    assert len(passed) > 20
    assert sorted(passed)[len(passed) // 2] < 200


def test_what_one_who_left_had_asked_for_is_not_done_for_nobody(home: ScratchHome) -> None:
    daemon = DaemonProcess(home, IAI_MCP_WORKERS="2").start()
    try:
        with daemon.line() as busy:
            busy.send_raw(b"".join(_capture(n, "busy", "word " * 200_000) for n in range(3)))
            with daemon.line() as gone:
                gone.send_raw(b"".join(_capture(n, "gone") for n in range(1000)))
            assert all(busy.receive()["result"]["status"] == "inserted" for _ in range(3))
        until(lambda: daemon.ask({"type": "status"})["active_connections"] == 1, "all are gone")
        # Those in hand when it left are finished.
        assert _stored(daemon, "gone") <= 20
        assert daemon.call("memory_capture", text="and on", session_id="s")["status"] == "inserted"
    finally:
        daemon.stop()


def test_what_an_mcp_session_had_asked_for_before_it_left_is_not_done_either(
    home: ScratchHome,
) -> None:
    daemon = DaemonProcess(home, IAI_MCP_WORKERS="2").start()
    try:
        with daemon.line() as busy:
            with daemon.line() as gone:
                _open_session(gone)
                busy.send_raw(b"".join(_capture(n, "busy", "word " * 200_000) for n in range(3)))
                for number in range(1, 500):
                    gone.send(_tool_call(number, f"gone {number}", "gone"))
            assert all(busy.receive()["result"]["status"] == "inserted" for _ in range(3))
        until(lambda: daemon.ask({"type": "status"})["active_connections"] == 1, "all are gone")
        assert _stored(daemon, "gone") <= 70  # what the session had taken in when it left
    finally:
        daemon.stop()


def test_one_who_only_stops_sending_gets_every_answer(daemon: DaemonProcess) -> None:
    with daemon.line() as line:
        line.send_raw(b"".join(_capture(n, "half closed") for n in range(200)))
        line._socket.shutdown(socket.SHUT_WR)
        answers = [line.receive() for _ in range(200)]
        assert line.at_end()
    assert {answer["id"] for answer in answers} == set(range(200))
    assert _stored(daemon, "half closed") == 200


@pytest.mark.skipif(sys.platform != "linux", reason="only /proc tells what another process holds")
def test_thirty_who_are_in_the_middle_of_a_long_line_take_no_more_memory_than_one(
    fresh_daemon: DaemonProcess,
) -> None:
    before = _resident(fresh_daemon)
    line = _capture(1, "long", "word " * 2_000_000)[:-1]
    lines = [fresh_daemon.line() for _ in range(30)]
    sent = dict.fromkeys(lines, 0)
    try:
        for one in lines:
            one._socket.setblocking(False)
        before_that = -1
        while sum(sent.values()) > before_that:  # until nobody is read any more
            before_that = sum(sent.values())
            for one in lines:
                with contextlib.suppress(BlockingIOError):
                    while sent[one] < len(line):
                        sent[one] += one._socket.send(line[sent[one] : sent[one] + 65_536])
            for _ in range(20):
                assert fresh_daemon.ask({"type": "status"})["ok"]
        # What is loaded after the start is part of it; thirty lines would be 300.
        assert _resident(fresh_daemon) - before < 150
    finally:
        for one in lines:
            one.close()


def test_large_calls_of_an_mcp_session_are_answered_one_after_the_other(
    daemon: DaemonProcess,
) -> None:
    with daemon.line() as session:
        _open_session(session)
        for number in range(1, 4):
            session.send(_tool_call(number, f"mcp {number} " + "word " * 100_000, "large mcp"))
        assert {session.receive()["id"] for _ in range(3)} == {1, 2, 3}
    assert _stored(daemon, "large mcp") == 3


def _resident(daemon: DaemonProcess) -> float:
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
