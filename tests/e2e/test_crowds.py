"""Clients that flood, vanish or send huge things: what the others notice of them."""

import json
import socket
import threading

from tests.support.daemon import DaemonProcess, until


def _capture(number: int, session: str, text: str = "") -> bytes:
    params = {"text": f"{session} {number} {text}", "session_id": session}
    message = {"jsonrpc": "2.0", "id": number, "method": "memory_capture", "params": params}
    return json.dumps(message).encode() + b"\n"


def _stored(daemon: DaemonProcess, session: str) -> int:
    return len(daemon.call("memory_timeline", session_id=session, limit=10_000)["records"])


def test_one_who_asks_once_is_answered_in_the_midst_of_anothers_flood(daemon):
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


def test_what_one_who_left_had_asked_for_is_not_done_for_nobody(home):
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


def test_one_who_only_stops_sending_gets_every_answer(daemon):
    with daemon.line() as line:
        line.send_raw(b"".join(_capture(n, "half closed") for n in range(200)))
        line._socket.shutdown(socket.SHUT_WR)
        answers = [line.receive() for _ in range(200)]
        assert line.at_end()
    assert {answer["id"] for answer in answers} == set(range(200))
    assert _stored(daemon, "half closed") == 200
