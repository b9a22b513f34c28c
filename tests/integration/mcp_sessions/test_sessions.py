"""An MCP session in the daemon, spoken to with hand-made messages."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.integration.mcp_sessions.standin import Standin
from tests.support.answers import Json
from tests.support.home import SOURCE

from iai_mcp.daemon.mcp_session import ParseFailure, serve_session
from iai_mcp.protocol.mcp import CONTEXT_META, HANDSHAKE_VERSIONS, initialize_result

Scenario = Callable[["Session"], Awaitable[None]]


def initialize(version: str = "2025-11-25", **meta: object) -> Json:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def recall(cue: object, identity: int = 1, **more: object) -> Json:
    params = {"name": "memory_recall", "arguments": {"cue": cue, **more}}
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}


class Session:
    """A client on queues. `heard` holds every message the session sent, in order."""

    def __init__(self, core: Standin) -> None:
        self.core = core
        self.heard: list[Json] = []
        self.gone = False
        self._inbox: asyncio.Queue[object] = asyncio.Queue()
        self._news = asyncio.Condition()

    def say(self, *messages: object) -> None:
        for message in messages:
            self._inbox.put_nowait(message)

    async def answer(self, identity: object) -> Json:
        def found() -> list[Json]:
            return [m for m in self.heard if m.get("id") == identity]

        async with asyncio.timeout(10), self._news:
            await self._news.wait_for(found)
        return found()[0]

    async def receive(self) -> object:
        return await self._inbox.get()

    async def send(self, message: Json) -> None:
        if self.gone:
            raise BrokenPipeError
        async with self._news:
            self.heard.append(message)
            self._news.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                await asyncio.sleep(0.005)


def run(scenario: Scenario, first: Json | None = None) -> Session:
    """Run a whole session: handshake, scenario, end of input."""

    async def play() -> Session:
        core = Standin()
        session = Session(core)
        opening = first or initialize()
        serving = asyncio.create_task(
            serve_session(opening, session.receive, session.send, core.call)
        )
        if opening["method"] == "initialize":
            session.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await session.answer(opening["id"])
        await scenario(session)
        session.say(None)
        async with asyncio.timeout(10):
            await serving
        return session

    return asyncio.run(play())


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2099-01-01"])
def test_the_sdk_answers_initialize_with_the_very_words_the_bridge_would_use(version: str) -> None:
    async def nothing(_session: Session) -> None: ...

    session = run(nothing, initialize(version))

    assert session.heard == [{"jsonrpc": "2.0", "id": 0, "result": initialize_result(version)}]


def test_a_call_answers_the_object_and_the_same_object_as_text() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("port"))
        await session.answer(1)

    result = run(ask).heard[-1]["result"]

    assert result["structuredContent"]["hits"][0]["text"] == "port"
    assert result["content"][0]["text"].startswith('{"hits":[{"id":"1","text":"port"')


def test_clients_of_old_versions_get_the_text() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("port"))
        await session.answer(1)

    result = run(ask, initialize("2025-03-26")).heard[-1]["result"]

    assert "structuredContent" not in result
    assert '"text":"port"' in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing required param: 'cue'"),
        ({"cue": None}, "missing required param: 'cue'"),
        ({"cue": 7}, "cue must be a string"),
        ({"cue": "x", "k": "3"}, "k must be a whole number"),
        ({"cue": "x", "k": True}, "k must be a whole number"),
        ({"cue": "x", "k": 101}, "k must be at most 100"),
        ({"cue": "x", "role": "robot"}, "role must be one of: user, assistant, summary"),
        ({"cue": "x", "cue_embedding": ["a"]}, "cue_embedding[] must be a number"),
        ({"cue": "\ud800"}, "cue holds half a surrogate pair: send whole characters"),
        ({"cue": "  "}, "ask about something: the cue was blank"),
    ],
)
def test_bad_arguments_are_invalid_params(arguments: Json, message: str) -> None:
    async def ask(session: Session) -> None:
        call = recall("")
        call["params"]["arguments"] = arguments
        session.say(call)
        await session.answer(1)

    error = run(ask).heard[-1]["error"]

    assert (error["code"], error["message"]) == (-32602, message)


def test_an_unknown_tool_is_invalid_params() -> None:
    async def ask(session: Session) -> None:
        call = recall("x")
        call["params"]["name"] = "memory_wipe"
        session.say(call)
        await session.answer(1)

    assert run(ask).heard[-1]["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("cue", "message"),
    [
        ("refuse", "the store is busy; try again"),
        ("boom", "memory_recall failed inside the daemon (RuntimeError)"),
    ],
)
def test_what_fails_inside_is_minus_32001_and_repeats_nothing_private(
    cue: str, message: str
) -> None:
    async def ask(session: Session) -> None:
        session.say(recall(cue), recall("port", 2))
        await session.answer(1)
        await session.answer(2)

    session = run(ask)
    error = next(m["error"] for m in session.heard if m.get("id") == 1)

    assert (error["code"], error["message"]) == (-32001, message)
    assert "secret words" not in str(session.heard)


def test_the_settings_tool_reads_without_a_value_and_writes_with_one() -> None:
    async def ask(session: Session) -> None:
        for number, arguments in enumerate(
            [{}, {"knob": "a"}, {"knob": "a", "value": 1}, {"value": 1}]
        ):
            params = {"name": "profile_get_set", "arguments": arguments}
            request = {"jsonrpc": "2.0", "id": f"s{number}", "method": "tools/call"}
            session.say({**request, "params": params})
            await session.answer(f"s{number}")

    heard = {m["id"]: m for m in run(ask).heard}

    methods = [heard[f"s{n}"]["result"]["structuredContent"]["method"] for n in range(3)]
    assert methods == ["profile_get", "profile_get", "profile_set"]
    assert heard["s3"]["error"]["message"] == "missing required param: 'knob'"


def test_a_slow_call_holds_up_no_other_of_the_same_session() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("slow", 1), recall("port", 2))
        await session.answer(2)
        assert session.core.calls == 1
        session.say(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        )
        await session.until(lambda: session.core.calls == 0)

    session = run(ask)

    assert [m["id"] for m in session.heard] == [0, 2]
    assert session.core.events == ["started slow", "cancelled slow"]


def test_a_client_that_vanishes_mid_call_leaves_no_call_behind() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("slow", 1))
        await session.until(lambda: session.core.calls == 1)
        session.gone = True
        session.say(recall("port", 2))
        await session.until(lambda: session.core.calls == 0)

    assert run(ask).core.events == ["started slow", "cancelled slow"]


def test_calls_in_flight_at_the_end_of_input_are_still_answered() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("pause", 1))
        await session.until(lambda: session.core.calls == 1)

    assert run(ask).heard[-1]["result"]["structuredContent"]["hits"][0]["text"] == "pause"


def test_a_flood_is_taken_in_portions_and_answered_whole() -> None:
    async def ask(session: Session) -> None:
        for number in range(1, 201):
            session.say(recall("pause", number))
        for number in range(1, 201):
            await session.answer(number)

    session = run(ask)

    assert len(session.heard) == 201
    assert 1 < session.core.peak <= 64


def test_lines_that_are_no_messages_get_the_agreed_errors_and_the_session_goes_on() -> None:
    async def ask(session: Session) -> None:
        session.say(ParseFailure("the line is not JSON"), [1], {"id": 5, "jsonrpc": "1.0"})
        await session.answer(5)
        session.say(recall("port"))
        await session.answer(1)

    session = run(ask)
    seen = [(m.get("id"), m["error"]["code"]) for m in session.heard if "error" in m]

    assert seen == [(None, -32700), (None, -32600), (5, -32600)]
    assert "result" in session.heard[-1]


def test_the_session_remembers_who_the_first_message_said_is_calling() -> None:
    async def ask(session: Session) -> None:
        session.say(recall("port"))
        await session.answer(1)

    context: Any = {"cwd": "/home/me/app", "agent_name": "backend", "unknown": "x", "project": 7}
    hit = run(ask, initialize(**{CONTEXT_META: context})).heard[-1]["result"]

    assert hit["structuredContent"]["hits"][0]["meta"] == {
        "cwd": "/home/me/app",
        "agent_name": "backend",
    }


def test_nothing_is_sent_unasked() -> None:
    async def ask(session: Session) -> None:
        for number in (1, 2, 3):
            session.say(recall("port", number))
            await session.answer(number)

    assert [m.get("id") for m in run(ask).heard] == [0, 1, 2, 3]


def test_the_caller_of_the_newest_protocol_needs_no_handshake() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    discover = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": meta}}

    async def ask(session: Session) -> None:
        call = recall("boom")
        call["params"]["_meta"] = meta
        session.say(call)
        await session.answer(1)

    heard = run(ask, discover).heard

    assert heard[0]["result"]["supportedVersions"] == ["2026-07-28"]
    assert heard[1]["error"]["code"] == -32001


def test_whoever_needs_the_library_first_can_load_it_from_any_thread_at_the_same_time() -> None:
    probe = (
        "from concurrent.futures import ThreadPoolExecutor as Pool\n"
        "from iai_mcp.daemon.mcp_session import load\n"
        "names = ['iai_mcp.daemon.http', 'iai_mcp.daemon.mcp_server'] * 4\n"
        "print(len(list(Pool(8).map(load, names))))\n"
    )
    seen = subprocess.run(
        [sys.executable, "-c", probe],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (seen.returncode, seen.stdout) == (0, "8\n"), seen.stderr[-500:]
