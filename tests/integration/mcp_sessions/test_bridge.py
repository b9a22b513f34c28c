"""A bridge process between a host's pipes and a daemon that comes and goes."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.mcp_sessions.processes import BridgeProcess, StandinProcess
from tests.support.answers import Json

from iai_mcp.protocol.tools import FOR_MODELS

Start = Callable[..., BridgeProcess]
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def initialize() -> dict[str, object]:
    client = {"name": "host", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def recall(identity: int, cue: str = "port") -> dict[str, object]:
    params = {"name": "memory_recall", "arguments": {"cue": cue}}
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}


def content(answer: Json) -> Json:
    found: Json = answer["result"]["structuredContent"]
    return found


def opened(start_bridge: Start, **more: str) -> BridgeProcess:
    bridge = start_bridge(**more)
    bridge.say(initialize(), INITIALIZED)
    assert bridge.hear()["result"]["serverInfo"]["name"] == "iai-mcp"
    return bridge


def test_a_call_travels_to_the_daemon_and_back_with_its_caller(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = opened(start_bridge, IAI_MCP_AGENT_NAME="backend", IAI_MCP_PROJECT="/srv/app")
    bridge.say(recall(1, "Grüße, 世界"))
    hit = content(bridge.hear())["hits"][0]
    assert hit["text"] == "Grüße, 世界"
    assert hit["meta"]["agent_name"] == "backend"
    assert hit["meta"]["project"] == "/srv/app"
    assert hit["meta"]["cwd"] == str(Path.cwd())


def test_without_a_daemon_the_host_gets_handshake_and_tools_and_later_its_answers(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    bridge = opened(start_bridge)
    bridge.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, recall(2))
    assert len(bridge.hear()["result"]["tools"]) == len(FOR_MODELS)
    assert bridge.hear()["error"]["code"] == -32002

    daemon.start()
    bridge.say(recall(3))
    answer = bridge.hear()
    assert (answer["id"], content(answer)["hits"][0]["text"]) == (3, "port")


def test_a_daemon_killed_mid_call_is_reported_and_its_successor_used(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    first_pid = daemon.start()
    bridge = opened(start_bridge)
    bridge.say(recall(1, "slow"), recall(2))
    assert content(bridge.hear())["pid"] == first_pid
    daemon.kill()
    lost = bridge.hear()
    assert (lost["id"], lost["error"]["code"]) == (1, -32002)

    second_pid = daemon.start()
    for number in (3, 4):
        bridge.say(recall(number))
        answer = bridge.hear()
        assert (answer["id"], content(answer)["pid"]) == (number, second_pid)


def test_a_daemon_restarted_between_calls_is_not_noticed(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = opened(start_bridge)
    for number in range(1, 4):
        daemon.kill()
        pid = daemon.start()
        bridge.say(recall(number))
        answer = bridge.hear()
        assert (answer["id"], content(answer)["pid"]) == (number, pid)


def test_it_ends_with_its_stdin_after_the_last_answers(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = start_bridge()
    bridge.say(initialize(), INITIALIZED, recall(1, "pause"))
    bridge.write(json.dumps(recall(2)).encode())  # no newline: the last line counts all the same
    code, out, err = bridge.end()
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == [0, 1, 2]
    assert (code, err) == (0, b"")


def test_it_starts_no_daemon_and_leaves_no_process(
    env: dict[str, str], start_bridge: Start
) -> None:
    bridge = opened(start_bridge)
    bridge.say(recall(1))
    bridge.hear()
    children = Path(f"/proc/{bridge.process.pid}/task/{bridge.process.pid}/children")
    assert children.read_text() == ""
    assert not Path(env["IAI_DAEMON_SOCKET_PATH"]).exists()
    assert bridge.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_without_a_word(number: signal.Signals, start_bridge: Start) -> None:
    bridge = opened(start_bridge)
    bridge.process.send_signal(number)
    bridge.process.wait(10)
    assert bridge.process.stderr is not None
    assert bridge.process.stderr.read() == b""


def test_a_host_that_closed_our_stdout_ends_it_quietly(
    start_bridge: Start, bridge_command: tuple[str, ...]
) -> None:
    bridge = opened(start_bridge)
    assert bridge.process.stdout is not None
    bridge.process.stdout.close()
    if bridge_command[0] == "node":  # it can not poll its stdout and notices with the next answer
        bridge.say({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert bridge.process.wait(10) == 0
    assert bridge.process.stderr is not None
    assert bridge.process.stderr.read() == b""


def test_a_long_line_passes_whole_and_a_longer_one_is_refused(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = opened(start_bridge)
    cue = "é" * (3 * 1024 * 1024)
    line = json.dumps(recall(1, cue), ensure_ascii=False).encode()
    bridge.write(line + b"\n")
    assert content(bridge.hear())["hits"][0]["text"] == cue

    bridge.write(b"x" * (17 * 1024 * 1024) + b"\n")
    assert bridge.hear()["error"]["code"] == -32700
    bridge.say(recall(2))
    assert bridge.hear()["id"] == 2


def test_a_host_that_does_not_read_grows_nothing(
    daemon: StandinProcess, start_bridge: Start, bridge_command: tuple[str, ...]
) -> None:
    daemon.start()
    bridge = opened(start_bridge)
    before = bridge.resident_megabytes()
    assert bridge.process.stdin is not None
    os.set_blocking(bridge.process.stdin.fileno(), False)
    flood = b"".join(json.dumps(recall(n, "long")).encode() + b"\n" for n in range(1, 20_001))
    sent, stalled_at = 0, time.monotonic() + 1.0
    while sent < len(flood) and time.monotonic() < stalled_at:
        count = bridge.process.stdin.write(flood[sent : sent + 65536])
        if count:
            sent, stalled_at = sent + count, time.monotonic() + 1.0
    assert sent < len(flood)
    # The answers have 80 MB. V8 frees memory late, so Node gets more room than Python.
    allowed = 32 if bridge_command[0] == "node" else 8
    assert bridge.resident_megabytes() - before < allowed


BROKEN = [
    b"nonsense",
    b"{",
    b'{"a" 1}',
    b'{"a":1,}',
    b"{'a':1}",
    b"[1,",
    b'"unterminated',
    b'"\\q"',
    b'"\\ud8',
    b'"\x01"',
    b"-",
    b"1e",
    b"NaN",
    b"1 2",
    b"\xff\xfe",
    b"[" * 100_000,
]


def test_every_kind_of_broken_line_is_answered_and_the_bridge_lives_on(start_bridge: Start) -> None:
    bridge = start_bridge()
    for line in BROKEN:
        bridge.write(line + b"\n")
        answer = bridge.hear()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700), line[:20]
    assert bridge.end() == (0, b"", b"")


def test_a_number_too_long_for_any_language_is_answered(start_bridge: Start) -> None:
    bridge = start_bridge()
    bridge.write(b"1" * 5_000 + b"\n")
    assert bridge.hear()["error"]["code"] in (-32700, -32600)
    assert bridge.end() == (0, b"", b"")


def test_a_batch_is_refused_with_one_answer(daemon: StandinProcess, start_bridge: Start) -> None:
    daemon.start()
    bridge = opened(start_bridge)
    bridge.say([recall(1), recall(2)])
    answer = bridge.hear()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    bridge.say(recall(3))
    assert bridge.hear()["id"] == 3


def test_ids_of_both_kinds_stay_apart_and_notifications_get_no_answer(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    bridge = opened(start_bridge)
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    for up in (False, True):
        if up:
            daemon.start()
        bridge.say({**recall(1), "id": "1"}, progress, recall(1), recall(-7))
        assert sorted(map(repr, (bridge.hear()["id"] for _ in range(3)))) == ["'1'", "-7", "1"]
    code, out, err = bridge.end()
    assert (code, out, err) == (0, b"", b"")


def test_every_call_in_flight_is_answered_when_the_daemon_dies(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = opened(start_bridge)
    bridge.say(*(recall(number, "slow") for number in range(1, 31)), recall(31))
    assert bridge.hear()["id"] == 31
    daemon.kill()
    lost = [bridge.hear() for _ in range(30)]
    assert sorted(answer["id"] for answer in lost) == list(range(1, 31))
    assert {answer["error"]["code"] for answer in lost} == {-32002}
    daemon.start()
    bridge.say(recall(32))
    assert content(bridge.hear())["hits"][0]["text"] == "port"


def test_a_daemon_that_accepts_and_says_nothing_does_not_block_the_handshake(
    env: dict[str, str], start_bridge: Start
) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(env["IAI_DAEMON_SOCKET_PATH"])
        mute.listen()
        assert opened(start_bridge).process.poll() is None


def test_a_socket_path_that_is_too_long_is_named(start_bridge: Start) -> None:
    bridge = opened(start_bridge, IAI_DAEMON_SOCKET_PATH="/tmp/" + "x" * 200)
    bridge.say(recall(1))
    assert "IAI_DAEMON_SOCKET_PATH" in bridge.hear()["error"]["message"]


def test_twenty_bridges_share_one_daemon(daemon: StandinProcess, start_bridge: Start) -> None:
    pid = daemon.start()
    bridges = [start_bridge() for _ in range(20)]
    for bridge in bridges:
        bridge.say(initialize(), INITIALIZED, recall(1))
    for bridge in bridges:
        assert bridge.hear()["id"] == 0
        assert content(bridge.hear())["pid"] == pid


@pytest.mark.parametrize("bridge_command", ["python"], indirect=True)
def test_it_is_small_and_imports_nothing_heavy(start_bridge: Start) -> None:
    assert opened(start_bridge).resident_megabytes() < 12
    probe = (
        "import sys; before = set(sys.modules); import iai_mcp.bridge.__main__; "
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('iai_mcp')))"
    )
    code, out, _ = start_bridge(sys.executable, "-c", probe).end()
    assert (code, out.decode().strip()) == (0, "['_json', '_socket', 'select']")


@pytest.mark.parametrize("bridge_command", ["python"], indirect=True)
def test_the_command_line_never_looks_like_the_daemons(start_bridge: Start) -> None:
    bridge = opened(lambda **more: start_bridge(sys.executable, "-m", "iai_mcp.cli", "mcp", **more))
    shown = Path(f"/proc/{bridge.process.pid}/cmdline").read_bytes()
    assert b"iai_mcp.daemon" not in shown
    assert b"iai_mcp.core" not in shown
