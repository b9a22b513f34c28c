"""What the bridge answers, forwards and remembers; no process, no socket, no clock."""

import json
from typing import Any

import pytest
from tests.support.answers import Json

from iai_mcp.bridge.mcp_session import PATIENCE_SECONDS, BridgeSession, Wires
from iai_mcp.protocol.frames import OVERSIZE
from iai_mcp.protocol.mcp import CONTEXT_META, initialize_result
from iai_mcp.protocol.tools import FOR_MODELS

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CONTEXT = {"cwd": "/srv/app", "agent_name": "backend"}


class FakeWires(Wires):
    """A host that listens and a daemon that is up or down, as the test says."""

    def __init__(self, *, up: bool) -> None:
        self.up = up
        self.linked = False
        self.host: list[Json] = []
        self.daemon: list[Json] = []

    def connected(self) -> bool:
        return self.linked

    def dial(self) -> str:
        self.linked = self.up
        return "" if self.up else "the memory daemon is not running; start it with: iai-mcp up"

    def hang_up(self) -> None:
        self.linked = False

    def to_daemon(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        self.daemon.append(json.loads(line))

    def to_host(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        self.host.append(json.loads(line))


class Bridge:
    def __init__(self, *, up: bool) -> None:
        self.wires = FakeWires(up=up)
        self.conversation = BridgeSession(self.wires, CONTEXT)

    def host_says(self, *messages: object, now: float = 0.0) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.conversation.from_host(line, now)

    def daemon_says(self, message: object, **style: Any) -> None:
        self.conversation.from_daemon(json.dumps(message, **style).encode())

    def daemon_dies(self) -> None:
        self.wires.up = self.wires.linked = False
        self.conversation.daemon_gone()

    def codes(self) -> list[tuple[object, int]]:
        return [(m["id"], m["error"]["code"]) for m in self.wires.host if "error" in m]


def request(method: str, identity: object = 1, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def initialize(version: str = "2025-11-25") -> Json:
    client = {"name": "host", "version": "9"}
    return request(
        "initialize", 0, protocolVersion=version, capabilities={"roots": {}}, clientInfo=client
    )


def call(identity: object = 1, cue: str = "x", **meta: object) -> Json:
    more = {"_meta": meta} if meta else {}
    return request("tools/call", identity, name="memory_recall", arguments={"cue": cue}, **more)


def result(identity: object) -> Json:
    return {"jsonrpc": "2.0", "id": identity, "result": {}}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2099-01-01", ""])
def test_while_the_daemon_is_down_the_handshake_is_answered(version: str) -> None:
    bridge = Bridge(up=False)
    bridge.host_says(initialize(version), INITIALIZED)
    assert bridge.wires.host == [{"jsonrpc": "2.0", "id": 0, "result": initialize_result(version)}]


def test_while_the_daemon_is_down_tools_are_listed_and_pings_answered() -> None:
    bridge = Bridge(up=False)
    bridge.host_says(request("tools/list", "a"), request("ping", "b"))
    tools, ping = bridge.wires.host
    assert len(tools["result"]["tools"]) == len(FOR_MODELS)
    assert ping["result"] == {}


def test_while_the_daemon_is_down_a_call_says_what_to_run() -> None:
    bridge = Bridge(up=False)
    bridge.host_says(
        initialize(), call(), request("server/discover", 2), request("prompts/list", 3)
    )
    assert bridge.codes() == [(1, -32002), (2, -32601), (3, -32002)]
    assert "iai-mcp up" in bridge.wires.host[1]["error"]["message"]


def test_a_handshake_without_a_version_is_invalid() -> None:
    bridge = Bridge(up=False)
    bridge.host_says(request("initialize", 0))
    assert bridge.codes() == [(0, -32602)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"nonsense", (None, -32700)),
        (b"\xff\xfe", (None, -32700)),
        (b"[" * 100_000, (None, -32700)),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":NaN}', (None, -32700)),
        (b"[]", (None, -32600)),
        (b"7", (None, -32600)),
        (b'{"id":1,"method":"ping"}', (1, -32600)),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":"x","method":7}', ("x", -32600)),
        (b'{"jsonrpc":"2.0","id":4}', (4, -32600)),
    ],
)
@pytest.mark.parametrize("up", [True, False])
def test_a_broken_line_is_answered_and_never_forwarded(
    line: bytes, expected: tuple[object, int], up: bool
) -> None:
    bridge = Bridge(up=up)
    bridge.host_says(line)
    assert bridge.codes() == [expected]
    assert bridge.wires.daemon == []


def test_a_line_that_is_too_long_is_a_parse_error_and_blank_ones_are_nothing() -> None:
    bridge = Bridge(up=True)
    bridge.conversation.from_host(OVERSIZE, 0.0)
    bridge.host_says(b"", b"  \r")
    assert bridge.codes() == [(None, -32700)]


def test_the_first_handshake_goes_to_the_daemon_with_who_is_calling() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(initialize(), INITIALIZED)
    hello, initialized = bridge.wires.daemon
    assert hello["id"] == 0
    assert hello["params"]["capabilities"] == {"roots": {}}
    assert hello["params"]["_meta"] == {CONTEXT_META: CONTEXT}
    assert initialized == INITIALIZED


def test_a_daemon_that_comes_later_is_greeted_silently_before_the_first_call() -> None:
    bridge = Bridge(up=False)
    bridge.host_says(initialize("2025-06-18"), INITIALIZED)
    bridge.wires.up = True
    bridge.host_says(call(7))
    hello, initialized, forwarded = bridge.wires.daemon
    assert hello["params"]["protocolVersion"] == "2025-06-18"
    assert hello["params"]["clientInfo"] == {"name": "host", "version": "9"}
    assert hello["params"]["_meta"] == {CONTEXT_META: CONTEXT}
    assert (initialized, forwarded) == (INITIALIZED, call(7))

    bridge.daemon_says(result(hello["id"]))
    bridge.daemon_says(result(7))
    assert [m["id"] for m in bridge.wires.host] == [0, 7]


def test_a_call_in_flight_when_the_daemon_dies_is_told_and_the_next_one_works() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(initialize(), INITIALIZED)
    bridge.daemon_says(result(0))
    bridge.host_says(call(1), call("1"), request("tools/list", 2))
    bridge.daemon_dies()
    assert bridge.codes() == [(1, -32002), ("1", -32002)]
    assert len(bridge.wires.host[-1]["result"]["tools"]) == len(FOR_MODELS)
    assert bridge.conversation.in_flight == 0

    bridge.wires.up = True
    bridge.wires.daemon.clear()
    bridge.host_says(call(3))
    assert [m.get("method") for m in bridge.wires.daemon] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]


def test_a_host_of_the_newest_protocol_needs_no_replay_only_its_context() -> None:
    bridge = Bridge(up=True)
    envelope = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    bridge.host_says(call(1, **envelope), call(2, **envelope))
    first, second = bridge.wires.daemon
    assert first["params"]["_meta"] == {**envelope, CONTEXT_META: CONTEXT}
    assert second == call(2, **envelope)


def test_a_host_can_not_say_for_the_bridge_where_it_is() -> None:
    """The daemon hears the first message of a connection about that, and it is always ours."""
    elsewhere: Json = {CONTEXT_META: {"cwd": "/somebody/elses"}}
    envelope = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    hello = initialize()
    hello["params"]["_meta"] = elsewhere
    for opening in (hello, call(1, **envelope, **elsewhere), call(1, **elsewhere)):
        bridge = Bridge(up=True)
        bridge.host_says(opening)
        assert bridge.wires.daemon[0]["params"]["_meta"][CONTEXT_META] == CONTEXT
        bridge.daemon_dies()
        bridge.wires.up = True
        bridge.wires.daemon.clear()
        bridge.host_says(call(2, **elsewhere))
        assert bridge.wires.daemon[0]["params"]["_meta"][CONTEXT_META] == CONTEXT


def test_a_call_without_any_handshake_still_reaches_the_daemon() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(call(1))
    assert [m["method"] for m in bridge.wires.daemon][0::2] == ["initialize", "tools/call"]


def test_what_the_daemon_asks_or_tells_passes_through_and_so_does_the_reply() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(initialize())
    asked, told = request("roots/list", 0), {"jsonrpc": "2.0", "method": "notifications/progress"}
    bridge.daemon_says(asked)
    bridge.daemon_says(told)
    assert bridge.wires.host == [asked, told]
    assert bridge.conversation.in_flight == 1

    bridge.host_says(result(0))
    assert bridge.wires.daemon[-1] == result(0)


@pytest.mark.parametrize(
    "answer",
    [
        {"jsonrpc": "2.0", "id": "ü", "result": {"text": "x" * 5000}},
        {"result": {"method": "trap"}, "id": "ü", "jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "id": "ü", "error": {"code": 1, "message": "m"}},
    ],
)
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"ensure_ascii": False}])
def test_an_answer_is_recognised_however_it_is_written(answer: Json, style: Json) -> None:
    bridge = Bridge(up=True)
    bridge.host_says(call("ü"))
    bridge.daemon_says(answer, **style)
    assert bridge.conversation.in_flight == 0
    assert bridge.wires.host == [answer]


def test_a_cancelled_call_is_forwarded_and_not_waited_for() -> None:
    bridge = Bridge(up=True)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    bridge.host_says(call(1), cancel)
    assert bridge.wires.daemon[-1] == cancel
    assert bridge.conversation.in_flight == 0


def test_a_daemon_that_hangs_does_not_keep_a_host_from_its_handshake() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(initialize(), call(1), now=100.0)
    assert bridge.conversation.next_deadline() == 100.0 + PATIENCE_SECONDS
    bridge.conversation.expire(100.0 + PATIENCE_SECONDS)
    assert [m["id"] for m in bridge.wires.host] == [0]
    assert bridge.conversation.next_deadline() is None

    bridge.daemon_says(result(0))
    bridge.daemon_says(result(1))
    assert [m["id"] for m in bridge.wires.host] == [0, 1]


def test_an_answer_that_is_too_long_ends_in_an_error_for_all_who_wait() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(call(1), call(2))
    bridge.conversation.from_daemon(OVERSIZE)
    assert bridge.codes() == [(1, -32002), (2, -32002)]
    assert not bridge.wires.connected()


def test_what_an_ending_daemon_did_not_hear_is_said_once_more_to_its_successor() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(initialize(), INITIALIZED, call(1), call(2, cue="unheard"))
    unheard = json.dumps(bridge.wires.daemon[-1]).encode() + b"\n"
    bridge.wires.daemon.clear()
    bridge.wires.linked = False
    bridge.conversation.daemon_gone(unheard=[unheard])
    assert bridge.codes() == [(1, -32002)]
    methods = [message["method"] for message in bridge.wires.daemon]
    assert methods == ["initialize", "notifications/initialized", "tools/call"]
    assert bridge.wires.daemon[-1]["id"] == 2
    bridge.daemon_says(result(2))
    assert bridge.wires.host[-1] == result(2)


def test_what_is_not_heard_twice_is_given_up() -> None:
    bridge = Bridge(up=True)
    bridge.host_says(call(2))
    for _ in range(2):
        unheard = json.dumps(bridge.wires.daemon[-1]).encode() + b"\n"
        bridge.wires.linked = False
        bridge.conversation.daemon_gone(unheard=[unheard])
    assert bridge.codes() == [(2, -32002)]
