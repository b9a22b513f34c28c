"""MCP over HTTP on loopback: the official client gets in, a web page does not."""

import asyncio
import contextlib
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

from iai_mcp.daemon import http as door
from iai_mcp.daemon import http_service
from iai_mcp.daemon.http import serve
from iai_mcp.domain.errors import InvalidInput, IoFailed

Scenario = Callable[[int, str], Awaitable[None]]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def served(scenario: Scenario, setting: str = "127.0.0.1:0") -> None:
    async def play() -> None:
        stopping = asyncio.Event()
        listening = http_service.listener(setting)
        host, port = listening.getsockname()[:2]
        serving = asyncio.create_task(serve(listening, Standin().call, stopping))
        try:
            async with asyncio.timeout(30):
                await scenario(port, http_service.token())
        finally:
            stopping.set()
            async with asyncio.timeout(10):
                await serving
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, port))

    asyncio.run(play())


def post(port: int, headers: dict[str, str], path: str = "/mcp", host: str = "127.0.0.1") -> int:
    connection = http.client.HTTPConnection(host, port, timeout=10)
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


@pytest.mark.parametrize("host", ["127.0.0.2", "127.9.8.7", "localhost", "::1"])
def test_every_loopback_address_answers_under_its_own_name(host: str) -> None:
    async def scenario(port: int, token: str) -> None:
        known = {"Authorization": f"Bearer {token}"}
        named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        for more, status in (
            ({}, 200),
            ({"Origin": f"http://{named}"}, 200),
            ({"Host": f"evil.example:{port}"}, 421),
            ({"Origin": f"http://evil.example:{port}"}, 403),
        ):
            asked = asyncio.to_thread(post, port, {**known, **more}, host=host)
            assert await asked == status, more

    served(scenario, f"[{host}]:0" if ":" in host else f"{host}:0")


def test_the_owner_gets_in_however_many_connections_stand_idle() -> None:
    async def scenario(port: int, token: str) -> None:
        known = {"Authorization": f"Bearer {token}"}
        idle = await asyncio.to_thread(
            lambda: [socket.create_connection(("127.0.0.1", port)) for _ in range(500)]
        )
        try:
            for half_said in idle[::2]:
                with contextlib.suppress(ConnectionError):  # some have been hung up already
                    half_said.sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
            for _ in range(20):
                assert await asyncio.to_thread(post, port, known) == 200
        finally:
            for connection in idle:
                connection.close()

    served(scenario)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
    ],
)
def test_who_does_not_show_the_token_is_hung_up(
    said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "FIRST_WORD_SECONDS", 0.1)
    monkeypatch.setattr(door, "TOKEN_WITHIN_SECONDS", 0.2)

    async def scenario(port: int, token: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        answer = await reader.read()
        assert answer == b"" or answer.startswith(b"HTTP/1.1 401")
        writer.close()

    served(scenario)


def test_a_client_that_has_shown_the_token_is_not_hung_up_for_others() -> None:
    async def scenario(port: int, token: str) -> None:
        def talk() -> list[int]:
            known = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            known["Accept"] = "application/json, text/event-stream"
            owner = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            statuses = []
            with contextlib.closing(owner), contextlib.ExitStack() as crowd:
                for _ in range(3):
                    owner.request("POST", "/mcp", json.dumps(PING), known)
                    answer = owner.getresponse()
                    answer.read()
                    statuses.append(answer.status)
                    owner.auto_open = 0  # from here on a connection that was hung up is an error
                    for _ in range(100):
                        crowd.enter_context(socket.create_connection(("127.0.0.1", port)))
            return statuses

        assert await asyncio.to_thread(talk) == [200, 200, 200]

    served(scenario)


def test_there_is_nothing_beside_the_one_path() -> None:
    async def scenario(port: int, token: str) -> None:
        known = {"Authorization": f"Bearer {token}"}
        assert await asyncio.to_thread(post, port, known, "/") == 404
        assert await asyncio.to_thread(post, port, {}, "/") == 401

    served(scenario)


def test_the_token_is_private_and_stays_the_same(home: Path) -> None:
    first = http_service.token()
    path = home / "http-token"
    assert len(first) >= 40
    os.chmod(path, 0o644)
    assert http_service.token() == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in home.iterdir()] == ["http-token"]


@pytest.mark.parametrize(
    "setting", ["0.0.0.0:8000", "192.168.1.5:80", "8000", "host:80", "[::]:80"]
)
def test_only_loopback_is_served(setting: str) -> None:
    with pytest.raises(InvalidInput, match="IAI_MCP_HTTP"):
        http_service.listener(setting)


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with http_service.listener("127.0.0.1:0") as taken, pytest.raises(IoFailed, match="free port"):
        http_service.listener(f"127.0.0.1:{taken.getsockname()[1]}")
