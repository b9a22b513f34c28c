"""The lines of the socket: routing by shape, codes, limits, and nobody waiting for anybody."""

import json

import pytest
from tests.support.daemon import DaemonProcess

from iai_mcp.protocol.codes import MAX_LINE


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"{",
        b"",
        b"   ",
        b'{"a": NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'"\\ud8',
        b"1 2",
        b'{"jsonrpc": "2.0", "id": 1e999, "method": "topology"}',
    ],
)
def test_a_line_that_is_not_json_gets_a_parse_error_without_id(
    daemon: DaemonProcess, line: bytes
) -> None:
    with daemon.line() as conversation:
        conversation.send_raw(line + b"\n")
        answer = conversation.receive()
    assert answer["error"]["code"] == -32700
    assert answer["id"] is None


@pytest.mark.parametrize(
    ("message", "echoed"),
    [
        ({"jsonrpc": "1.0", "id": 4, "method": "topology"}, 4),
        ({"jsonrpc": "2.0", "method": "topology"}, None),
        ({"jsonrpc": "2.0", "id": None, "method": "topology"}, None),
        ({"jsonrpc": "2.0", "id": "x", "method": 5}, "x"),
        ({"jsonrpc": "2.0", "id": 5, "method": "topology", "params": "text"}, 5),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "topology"}, None),
        ([], None),
        (17, None),
        ({}, None),
        ({"type": "no such control"}, None),
        ({"type": "status", "jsonrpc": "2.0"}, None),
        ({"type": ["status"]}, None),
    ],
)
def test_json_that_is_no_request_is_refused_with_its_id(
    daemon: DaemonProcess, message: object, echoed: object
) -> None:
    answer = daemon.ask(message)
    assert answer["error"]["code"] == -32600
    assert answer["id"] == echoed


def test_an_unknown_method_is_named(daemon: DaemonProcess) -> None:
    answer = daemon.rpc("no_such_method")
    assert answer["error"] == {"code": -32601, "message": "unknown method 'no_such_method'"}


def test_a_missing_param_is_named(daemon: DaemonProcess) -> None:
    answer = daemon.rpc("memory_recall")
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"] == "missing required param: 'cue'"


def test_params_as_an_array_are_a_valid_request_with_bad_params(daemon: DaemonProcess) -> None:
    answer = daemon.ask({"jsonrpc": "2.0", "id": 1, "method": "memory_recall", "params": ["x"]})
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("identity", [1, 0, -5, 999999999999, 1.5, "some-id", ""])
def test_the_id_comes_back_unchanged(daemon: DaemonProcess, identity: object) -> None:
    answer = daemon.ask({"jsonrpc": "2.0", "id": identity, "method": "topology"})
    assert answer["id"] == identity
    assert "result" in answer


def test_a_line_beyond_the_limit_gets_one_parse_error_and_the_connection_goes_on(
    daemon: DaemonProcess,
) -> None:
    with daemon.line() as line:
        line.send_raw(b'{"type": "status", "x": "' + b"a" * MAX_LINE + b'"}\n')
        assert line.receive()["error"]["code"] == -32700
        assert line.ask({"type": "status"})["ok"]


def test_a_line_of_ten_megabytes_is_stored_whole(daemon: DaemonProcess) -> None:
    text = "größer " * 1_300_000
    result = daemon.call("memory_capture", text=text, session_id="large")
    assert result["status"] == "inserted"
    records = daemon.call("memory_timeline", session_id="large")["records"]
    assert records[0]["text"] == text


def test_an_answer_holds_what_a_line_can_carry_and_says_where_there_is_more(
    daemon: DaemonProcess,
) -> None:
    for n in range(3):
        daemon.call("memory_capture", text=f"{n}" + "x" * 7_000_000, session_id="too much")
    newest = daemon.call("memory_timeline", session_id="too much")
    oldest = daemon.call("memory_timeline", session_id="too much", cursor=newest["more"])
    records = [*oldest["records"], *newest["records"]]
    assert [record["text"][0] for record in records] == ["0", "1", "2"]
    assert "more" not in oldest


def test_several_requests_in_one_packet_are_all_answered(daemon: DaemonProcess) -> None:
    with daemon.line() as line:
        requests = [{"jsonrpc": "2.0", "id": n, "method": "topology"} for n in range(50)]
        line.send_raw(b"".join(json.dumps(r).encode() + b"\n" for r in requests))
        assert {line.receive()["id"] for _ in range(50)} == set(range(50))


def test_a_request_in_small_pieces_is_answered_once(daemon: DaemonProcess) -> None:
    with daemon.line() as line:
        for byte in b'{"jsonrpc":"2.0","id":3,"method":"topology"}\n':
            line.send_raw(bytes([byte]))
        assert line.receive()["id"] == 3


def test_a_slow_call_on_one_connection_does_not_delay_another(daemon: DaemonProcess) -> None:
    with daemon.line() as slow, daemon.line() as quick:
        events = [{"text": f"slow {n} " + "word " * 300, "role": "user"} for n in range(3000)]
        slow.send(
            {
                "jsonrpc": "2.0",
                "id": "slow",
                "method": "capture_events",
                "params": {"session_id": "slow", "events": events},
            }
        )
        # If the quick ones waited for the slow one, its answer would be there first.
        for _ in range(5):
            assert quick.ask({"type": "status"})["ok"]
            assert "result" in quick.ask({"jsonrpc": "2.0", "id": 1, "method": "topology"})
        assert slow.receive()["result"]["inserted"] == 3000


def test_a_client_that_floods_and_never_reads_holds_nobody_up(daemon: DaemonProcess) -> None:
    with daemon.line() as flood:
        flood._socket.setblocking(False)
        request = (
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "memory_timeline"}).encode() + b"\n"
        )
        sent = 0
        try:
            while sent < 50_000_000:
                sent += flood._socket.send(request * 1000)
        except BlockingIOError:
            assert sent > 0
        assert daemon.ask({"type": "status"})["ok"]


def test_text_travels_as_utf8_not_as_escapes(daemon: DaemonProcess) -> None:
    daemon.call("memory_capture", text="naïve 東京 🚀", session_id="utf8")
    with daemon.line() as line:
        line.send(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "memory_timeline",
                "params": {"session_id": "utf8"},
            }
        )
        assert "東京".encode() in line._file.readline()


def test_a_lone_surrogate_does_not_lose_the_turn(daemon: DaemonProcess) -> None:
    with daemon.line() as line:
        line.send_raw(
            b'{"jsonrpc":"2.0","id":1,"method":"memory_capture",'
            b'"params":{"text":"half \\ud83d emoji","session_id":"surrogate"}}\n'
        )
        assert line.receive()["result"]["status"] == "inserted"
    (record,) = daemon.call("memory_timeline", session_id="surrogate")["records"]
    assert record["text"].startswith("half ")


def test_a_request_without_a_newline_at_the_end_is_still_answered(daemon: DaemonProcess) -> None:
    import socket

    with daemon.line() as line:
        line.send_raw(b'{"type":"status"}')
        line._socket.shutdown(socket.SHUT_WR)
        assert line.receive()["ok"]
        assert line.at_end()


def test_nothing_is_sent_unasked(daemon: DaemonProcess) -> None:
    with daemon.line() as line:
        line._socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            line._socket.recv(1)


class TestControlPlane:
    def test_status_tells_what_the_contract_names(self, daemon: DaemonProcess) -> None:
        status = daemon.ask({"type": "status"})
        assert status["ok"] is True
        for name in ("version", "pid", "state", "uptime_sec", "records", "active_connections"):
            assert status[name] is not None
        assert status["scheduler_paused"] is False
        assert "last_sleep" in status

    @pytest.mark.parametrize(
        "message",
        [
            {"type": "user_initiated_sleep"},
            {"type": "user_initiated_sleep", "reason": "x"},
            {"type": "user_initiated_sleep", "reason": 1, "ts": "t"},
            {"type": "force_wake"},
            {"type": "force_rem", "ts": 5},
            {"type": "pause", "seconds": "ten"},
            {"type": "pause", "seconds": True},
            {"type": "session_open", "cwd": 5},
        ],
    )
    def test_a_missing_or_mistyped_field_is_an_invalid_message(
        self, daemon: DaemonProcess, message: object
    ) -> None:
        answer = daemon.ask(message)
        assert answer["ok"] is False
        assert answer["reason"] == "invalid_message"
        assert answer["error"]

    def test_requests_are_queued(self, daemon: DaemonProcess) -> None:
        wake = daemon.ask({"type": "force_wake", "ts": "2026-01-01T00:00:00Z"})
        rem = daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
        opened = daemon.ask({"type": "session_open"})
        assert (wake["ok"], wake["reason"]) == (True, "wake_queued")
        assert (rem["ok"], rem["reason"]) == (True, "rem_queued")
        assert (opened["ok"], opened["reason"]) == (True, "session_open_queued")

    def test_pause_and_resume_show_at_once(self, daemon: DaemonProcess) -> None:
        assert daemon.ask({"type": "pause", "seconds": 60})["paused"] is True
        assert daemon.ask({"type": "status"})["scheduler_paused"] is True
        assert daemon.ask({"type": "resume"})["paused"] is False
        assert daemon.ask({"type": "status"})["scheduler_paused"] is False
