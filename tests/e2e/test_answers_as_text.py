"""What hosts get over MCP: one text, and structured content only where it is asked for."""

import os
import sys
from typing import Any

import anyio
import pytest
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.support.daemon import DaemonProcess

CUE = "why did we drop redis?"
SAID = "moved the job queue to Postgres: one service less"


@pytest.fixture
def server(daemon: DaemonProcess) -> StdioServerParameters:
    daemon.call("memory_capture", text=SAID, session_id="text", role="assistant")
    environment = {**os.environ, **daemon.home.environment}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "iai_mcp.bridge"], env=environment
    )


def ask(server: StdioServerParameters, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of tool calls, or the errors they got."""

    async def scenario() -> list[Any]:
        found: list[Any] = []
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for name, arguments in calls:
                try:
                    found.append(await session.call_tool(name, arguments))
                except MCPError as refused:
                    found.append(refused)
        return found

    async def bounded() -> list[Any]:
        with anyio.fail_after(60):
            return await scenario()

    return anyio.run(bounded)


def test_an_answer_is_one_text_without_a_structured_copy(server: StdioServerParameters) -> None:
    wordings = ["job queue in Postgres"]
    for result in ask(
        server,
        ("memory_recall", {"cue": CUE, "wordings": wordings}),
        ("memory_recall", {"cue": CUE, "wordings": wordings, "format": "text"}),
    ):
        (block,) = result.content
        assert result.structured_content is None
        assert SAID in block.text
        assert CUE in block.text.splitlines()[0]


def test_json_is_structured_content_with_the_keys_of_the_socket(
    server: StdioServerParameters,
) -> None:
    call = {"cue": CUE, "wordings": ["job queue in Postgres"], "format": "json"}
    (result,) = ask(server, ("memory_recall", call))

    answer = result.structured_content
    assert {"hits", "anti_hits", "more", "budget_used", "cue_mode", "degraded"} <= set(answer)
    assert answer["hits"][0]["text"] == SAID


@pytest.mark.parametrize(
    "arguments",
    [
        {"cue": " "},
        {"cue": CUE, "wordings": ["x"] * 7},
        {"cue": CUE, "wordings": ["x" * 501]},
        {"cue": CUE, "wordings": [5]},
        {"cue": CUE, "wordings": "redis"},
        {"cue": CUE, "format": "xml"},
    ],
)
def test_bad_arguments_are_refused(
    server: StdioServerParameters, arguments: dict[str, Any]
) -> None:
    (refused,) = ask(server, ("memory_recall", arguments))

    assert refused.error.code == -32602
