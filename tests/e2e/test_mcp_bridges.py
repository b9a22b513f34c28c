"""Hosts, bridges and the real daemon: what is remembered in one session is recalled in another."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from tests.integration.mcp_sessions.processes import BridgeProcess
from tests.support.answers import Json

from iai_mcp.client import connection
from iai_mcp.protocol.tools import FOR_MODELS, NAMES, TEXT_TOOLS

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 30.0
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"},
    },
}


class Daemon:
    """The real one, started, killed and stopped by a test."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> int:
        self._process = subprocess.Popen([sys.executable, "-m", "iai_mcp.daemon"], env=self.env)
        until(lambda: connection.is_up() and self.status()["pid"] == self.pid)
        return self.pid

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def status(self) -> dict[str, object]:
        return connection.control("status")

    def end(self, number: signal.Signals = signal.SIGKILL) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        code = self._process.wait(DEADLINE_SECONDS)
        self._process = None
        return code

    def close(self) -> None:
        if self._process is not None:
            self.end()


def until(condition: Callable[[], object]) -> None:
    ends_at = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.02)


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    short = Path(tempfile.mkdtemp(prefix="iai"))
    own = {
        "HOME": str(tmp_path),
        "IAI_MCP_STORE": str(tmp_path / "store"),
        "IAI_DAEMON_SOCKET_PATH": str(short / "s"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    real = Daemon(dict(os.environ))
    yield real
    real.close()
    shutil.rmtree(short)


def server(daemon: Daemon, **more: str) -> StdioServerParameters:
    command = ["-m", "iai_mcp.cli", "mcp"]
    return StdioServerParameters(command=sys.executable, args=command, env={**daemon.env, **more})


def within_deadline(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(100):
            await scenario()

    anyio.run(bounded)


def test_three_hosts_share_one_memory_and_one_daemon(daemon: Daemon) -> None:
    pid = daemon.start()

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as writer:
            await writer.initialize()
            said = await writer.call_tool(
                "memory_capture", {"text": "postgres listens on port 5433", "role": "user"}
            )
            assert said.structured_content["status"] == "inserted"
            for _ in range(2):
                async with Client(stdio_client(server(daemon))) as reader:
                    found = await reader.call_tool(
                        "memory_recall", {"cue": "postgres port", "format": "json"}
                    )
                    hit = found.structured_content["hits"][0]
                    assert hit["text"] == "postgres listens on port 5433"
                    shown = found.content[0]
                    assert isinstance(shown, TextContent)
                    assert json.loads(shown.text) == found.structured_content
        assert daemon.status()["pid"] == pid

    within_deadline(scenario)


def test_an_agents_capture_carries_who_it_was(daemon: Daemon) -> None:
    daemon.start()
    agent = {"IAI_MCP_AGENT_NAME": "backend", "IAI_MCP_SESSION_ID": "s-1"}

    async def scenario() -> None:
        async with (
            stdio_client(server(daemon, **agent)) as streams,
            ClientSession(*streams) as mine,
        ):
            await mine.initialize()
            await mine.call_tool("memory_capture", {"text": "we deploy on fridays"})
            told = await mine.call_tool("memory_timeline", {"session_id": "s-1", "format": "json"})
            record = told.structured_content["records"][0]
            assert (record["agent"], record["session_id"]) == ("backend", "s-1")

    within_deadline(scenario)


def test_every_tool_that_has_its_method_answers_what_its_schema_promises(daemon: Daemon) -> None:
    daemon.start()

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            kept = await session.call_tool("memory_capture", {"text": "the cake was lemon"})
            first = kept.structured_content["record_id"]
            fixed = await session.call_tool(
                "memory_contradict", {"id": first, "new_fact": "the cake was orange"}
            )
            assert fixed.structured_content["original_id"] == first
            second = fixed.structured_content["new_record_id"]
            await session.call_tool("memory_reinforce", {"ids": [first, second]})
            assert (
                await session.call_tool("memory_timeline", {"project": "*", "format": "json"})
            ).structured_content["records"]
            await session.call_tool("events_query", {"limit": 5})
            shape = await session.call_tool("topology", {})
            assert shape.structured_content["records"] == 2
            tried = await session.call_tool("memory_forget", {"ids": [first], "dry_run": True})
            previewed = tried.structured_content
            assert (previewed["forgotten"], previewed["ids"]) == (0, [first])
            assert [one["id"] for one in previewed["records"]] == [first]

    within_deadline(scenario)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_recall", {}),
        ("memory_recall", {"cue": " "}),
        ("memory_recall", {"cue": "x", "k": 0}),
        ("memory_recall", {"cue": "x", "budget_tokens": 2_000_000}),
        ("memory_recall", {"cue": 7}),
        ("memory_recall", {"cue": "x", "since": "yesterday-ish"}),
        ("memory_contradict", {"id": "1"}),
        ("memory_forget", {}),
        ("memory_capture", {"text": "x", "meta": {"big": "y" * 5000}}),
    ],
)
def test_bad_arguments_are_refused_in_the_words_of_the_plain_protocol(
    daemon: Daemon, tool: str, arguments: dict[str, object]
) -> None:
    daemon.start()
    plain = {"jsonrpc": "2.0", "id": 1, "method": tool, "params": arguments}
    answer: Json = connection.exchange(plain, 10.0)
    expected = answer["error"]

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            with pytest.raises(MCPError) as refused:
                await session.call_tool(tool, arguments)
            assert refused.value.code == expected["code"] == -32602
            assert refused.value.message == expected["message"]

    within_deadline(scenario)


def test_a_killed_daemons_successor_serves_the_same_bridge_with_the_same_memory(
    daemon: Daemon,
) -> None:
    first_pid = daemon.start()

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await session.call_tool("memory_capture", {"text": "the port is 5433"})
            daemon.end(signal.SIGKILL)
            with pytest.raises(MCPError) as refused:
                await session.call_tool("memory_recall", {"cue": "port", "format": "json"})
            assert refused.value.code == -32002
            assert "iai-mcp up" in refused.value.message
            assert len((await session.list_tools()).tools) == len(FOR_MODELS)

            assert daemon.start() != first_pid
            found = await session.call_tool("memory_recall", {"cue": "port", "format": "json"})
            assert found.structured_content["hits"][0]["text"] == "the port is 5433"

    within_deadline(scenario)


def test_a_daemon_told_to_stop_does_so_under_live_bridges(daemon: Daemon) -> None:
    daemon.start()
    bridges = [BridgeProcess(daemon.env) for _ in range(3)]
    try:
        for bridge in bridges:
            bridge.say(INITIALIZE, INITIALIZED)
            assert bridge.hear()["id"] == 0
        assert daemon.end(signal.SIGTERM) == 0
        assert all(bridge.process.poll() is None for bridge in bridges)
    finally:
        for bridge in bridges:
            bridge.close()


def test_bridges_that_are_killed_leave_no_connection_behind(daemon: Daemon) -> None:
    daemon.start()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    recall = {**call, "params": {"name": "memory_recall", "arguments": {"cue": "x"}}}
    bridges = [BridgeProcess(daemon.env) for _ in range(5)]
    for bridge in bridges:
        bridge.say(INITIALIZE, INITIALIZED)
        assert bridge.hear()["id"] == 0
        bridge.say(recall)
        bridge.close()
    # The connection that asks is one itself.
    until(lambda: daemon.status()["active_connections"] == 1)
    assert daemon.status()["ok"] is True


def test_a_handshake_right_after_the_start_waits_for_the_library_and_is_answered(
    daemon: Daemon,
) -> None:
    bridge = BridgeProcess(daemon.env)
    try:
        daemon.start()
        bridge.say(INITIALIZE, INITIALIZED)
        assert bridge.hear()["result"]["serverInfo"]["name"] == "iai-mcp"
    finally:
        bridge.close()


def test_http_is_served_beside_the_socket_when_the_setting_says_so(
    daemon: Daemon, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    daemon.env["IAI_MCP_HTTP"] = f"127.0.0.1:{port}"
    daemon.start()
    url = f"http://127.0.0.1:{port}/mcp"

    async def scenario() -> None:
        token_file = tmp_path / "store" / "http-token"
        await anyio.to_thread.run_sync(until, token_file.exists)
        bearer = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await client.call_tool("memory_capture", {"text": "the port is 5433"})
            found = await client.call_tool("memory_recall", {"cue": "port", "format": "json"})
            assert found.structured_content["hits"][0]["text"] == "the port is 5433"

    within_deadline(scenario)
    assert daemon.end(signal.SIGTERM) == 0


def test_an_http_address_beyond_loopback_refuses_the_start_in_a_sentence(daemon: Daemon) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "iai_mcp.daemon"],
        env={**daemon.env, "IAI_MCP_HTTP": "0.0.0.0:8000"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert refused.returncode == 1
    assert "loopback only" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_search_tools_answer_with_one_text_block_unless_json_is_asked_for(daemon: Daemon) -> None:
    daemon.start()

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            kept = await session.call_tool("memory_capture", {"text": "the cake was lemon"})
            identity = kept.structured_content["record_id"]
            for tool, arguments in (
                ("memory_show", {"ids": [identity[:8]]}),
                ("memory_timeline", {"project": "*"}),
            ):
                answer = await session.call_tool(tool, arguments)
                assert answer.structured_content is None
                (block,) = answer.content
                assert isinstance(block, TextContent)
                assert block.text.startswith(f"[{identity[:8]}]")
                assert "the cake was lemon" in block.text
            shown = await session.call_tool("memory_show", {"id": identity, "format": "json"})
            assert shown.structured_content["record"]["text"] == "the cake was lemon"
            listed = await session.list_tools()
            silent = {tool.name for tool in listed.tools if tool.output_schema is None}
            assert silent == TEXT_TOOLS

    within_deadline(scenario)


@pytest.mark.parametrize(("setting", "count"), [("models", len(FOR_MODELS)), ("all", len(NAMES))])
def test_bridge_daemon_and_http_list_the_same_tools_and_answer_all_of_them(
    daemon: Daemon, tmp_path: Path, setting: str, count: int
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "store").mkdir()
    config = tmp_path / "store" / "config.toml"
    config.write_text(f'http = "{address}"\nmcp_tools = "{setting}"\n')

    async def scenario() -> None:
        async with stdio_client(server(daemon)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            alone = (await session.list_tools()).tools
            assert len(alone) == count
            await anyio.to_thread.run_sync(daemon.start)
            assert (await session.list_tools()).tools == alone
            topology = await session.call_tool("topology", {})
            assert "communities" in topology.structured_content
        token_file = tmp_path / "store" / "http-token"
        await anyio.to_thread.run_sync(until, token_file.exists)
        bearer = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(f"http://{address}/mcp", http_client=http)) as client,
        ):
            assert (await client.list_tools()).tools == alone
            assert not (await client.call_tool("events_query", {})).is_error

    within_deadline(scenario)


def test_a_tool_list_that_does_not_exist_refuses_the_start_in_a_sentence(daemon: Daemon) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "iai_mcp.daemon"],
        env={**daemon.env, "IAI_MCP_MCP_TOOLS": "loud"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert refused.returncode == 1
    assert "mcp_tools must be one of models, all, not 'loud'" in refused.stderr
    assert "Traceback" not in refused.stderr
