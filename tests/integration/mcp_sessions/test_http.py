"""MCP over HTTP on loopback: the official client gets in, a web page does not."""

import asyncio
import http.client
import json
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from tests.integration.mcp_sessions.standin import Standin

from iai_mcp.daemon import http_address
from iai_mcp.daemon.http import serve
from iai_mcp.domain.errors import InvalidInput, IoFailed

Scenario = Callable[[int, str], Awaitable[None]]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def served(scenario: Scenario) -> None:
    async def play() -> None:
        stopping = asyncio.Event()
        listening = http_address.listener("127.0.0.1:0")
        port = listening.getsockname()[1]
        serving = asyncio.create_task(serve(listening, Standin().call, stopping))
        try:
            async with asyncio.timeout(30):
                await scenario(port, http_address.token())
        finally:
            stopping.set()
            async with asyncio.timeout(10):
                await serving
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    asyncio.run(play())


def post(port: int, headers: dict[str, str], path: str = "/mcp") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        common = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection.request("POST", path, json.dumps(PING), {**common, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("client", ["session", "discovering"])
def test_the_official_clients_recall_over_http(client: str) -> None:
    async def scenario(port: int, token: str) -> None:
        own = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=own)
        async with own:
            if client == "discovering":
                async with Client(transport) as discovering:
                    answer = await discovering.call_tool("memory_recall", {"cue": "port"})
            else:
                async with transport as streams, ClientSession(*streams[:2]) as session:
                    await session.initialize()
                    answer = await session.call_tool("memory_recall", {"cue": "port"})
                    with pytest.raises(MCPError) as invalid:
                        await session.call_tool("memory_recall", {})
                    assert invalid.value.code == -32602
            assert answer.structured_content["hits"][0]["text"] == "port"

    served(scenario)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "bearer {token}"}, 200),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "localhost:{port}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "null"}, 403),
    ],
)
def test_only_who_holds_the_token_and_comes_directly_gets_in(
    headers: dict[str, str], status: int
) -> None:
    async def scenario(port: int, token: str) -> None:
        sent = {"Authorization": "Bearer {token}", **headers}
        filled = {name: value.format(port=port, token=token) for name, value in sent.items()}
        assert await asyncio.to_thread(post, port, filled) == status

    served(scenario)


def test_there_is_nothing_beside_the_one_path() -> None:
    async def scenario(port: int, token: str) -> None:
        known = {"Authorization": f"Bearer {token}"}
        assert await asyncio.to_thread(post, port, known, "/") == 404
        assert await asyncio.to_thread(post, port, {}, "/") == 401

    served(scenario)


def test_the_token_is_private_and_stays_the_same(home: Path) -> None:
    first = http_address.token()
    path = home / "http-token"
    assert len(first) >= 40
    os.chmod(path, 0o644)
    assert http_address.token() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in home.iterdir()] == ["http-token"]


@pytest.mark.parametrize(
    "setting", ["0.0.0.0:8000", "192.168.1.5:80", "8000", "host:80", "[::]:80"]
)
def test_only_loopback_is_served(setting: str) -> None:
    with pytest.raises(InvalidInput, match="IAI_MCP_HTTP"):
        http_address.listener(setting)


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with http_address.listener("127.0.0.1:0") as taken, pytest.raises(IoFailed, match="free port"):
        http_address.listener(f"127.0.0.1:{taken.getsockname()[1]}")
