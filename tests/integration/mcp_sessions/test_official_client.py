"""The official SDK's own clients over stdio, as hosts use them."""

from collections.abc import Awaitable, Callable

import anyio
import pytest
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from tests.integration.mcp_sessions.processes import StandinProcess
from tests.support.answers import Json

from iai_mcp.protocol.mcp import HANDSHAKE_VERSIONS
from iai_mcp.protocol.tools import FOR_MODELS, NAMES


@pytest.fixture
def server(env: dict[str, str], bridge_command: tuple[str, ...]) -> StdioServerParameters:
    program, *arguments = bridge_command
    return StdioServerParameters(command=program, args=arguments, env=env)


def within_deadline(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(60):
            await scenario()

    anyio.run(bounded)


def test_the_bridge_negotiates_the_versions_that_the_sdk_does() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


@pytest.mark.parametrize("up", [True, False])
def test_a_client_session_lists_tools_and_calls(
    server: StdioServerParameters, daemon: StandinProcess, up: bool
) -> None:
    if up:
        daemon.start()

    async def scenario() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            hello = await session.initialize()
            assert hello.server_info.name == "iai-mcp"
            assert hello.protocol_version == "2025-11-25"
            await session.send_ping()
            listed = await session.list_tools()
            shown = [t.model_dump(by_alias=True, exclude_none=True) for t in listed.tools]
            assert shown == list(FOR_MODELS)
            if not up:
                with pytest.raises(MCPError) as refused:
                    await session.call_tool("memory_recall", {"cue": "port"})
                assert refused.value.code == -32002
                daemon.start()
            answer = await session.call_tool("memory_recall", {"cue": "port"})
            assert answer.structured_content["hits"][0]["text"] == "port"
            with pytest.raises(MCPError) as invalid:
                await session.call_tool("memory_recall", {})
            assert invalid.value.code == -32602

    within_deadline(scenario)


@pytest.mark.parametrize("up", [True, False])
def test_the_new_client_discovers_or_falls_back_and_survives_a_kill(
    server: StdioServerParameters, daemon: StandinProcess, up: bool
) -> None:
    if up:
        daemon.start()

    async def scenario() -> None:
        async with Client(stdio_client(server)) as client:
            assert len((await client.list_tools()).tools) == len(FOR_MODELS)
            if not up:
                daemon.start()
            for _ in range(2):
                answer = await client.call_tool("memory_recall", {"cue": "port"})
                assert answer.structured_content["hits"][0]["text"] == "port"
                daemon.kill()
                with pytest.raises(MCPError) as refused:
                    await client.call_tool("memory_recall", {"cue": "port"})
                assert refused.value.code == -32002
                assert len((await client.list_tools()).tools) == len(FOR_MODELS)
                daemon.start()

    within_deadline(scenario)


def test_calls_of_one_session_run_side_by_side(
    server: StdioServerParameters, daemon: StandinProcess
) -> None:
    daemon.start()

    async def scenario() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            finished: list[str] = []

            async def ask(cue: str) -> None:
                await session.call_tool("memory_recall", {"cue": cue})
                finished.append(cue)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, "pause")
                tasks.start_soon(ask, "port")
            assert finished == ["port", "pause"]

    within_deadline(scenario)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_tool_answers_what_its_output_schema_promises(
    name: str, server: StdioServerParameters, daemon: StandinProcess
) -> None:
    daemon.start()
    needed: dict[str, Json] = {
        "memory_recall": {"cue": "x"},
        "memory_capture": {"text": "x"},
        "memory_contradict": {"id": "1", "new_fact": "x"},
        "memory_reinforce": {"ids": ["1"]},
        "memory_work": {"ask": "how"},
    }
    arguments = needed.get(name, {})

    async def scenario() -> None:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            answer = await session.call_tool(name, arguments)
            assert not answer.is_error

    within_deadline(scenario)
