"""Which tools are listed: few by default, all when the setting says so, the same from each bridge and the daemon."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.mcp_sessions.processes import BridgeProcess, StandinProcess
from tests.support.answers import Json

from iai_mcp.protocol.tools import NAMES

Start = Callable[..., BridgeProcess]
FOR_MODELS = {
    "memory_recall",
    "memory_show",
    "memory_capture",
    "memory_contradict",
    "memory_forget",
    "memory_timeline",
    "memory_work",
}
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


def listed(bridge: BridgeProcess) -> list[Json]:
    bridge.say(
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    )
    assert bridge.hear()["id"] == 0
    tools: list[Json] = bridge.hear()["result"]["tools"]
    return tools


def names(tools: list[Json]) -> set[str]:
    return {tool["name"] for tool in tools}


def configured(env: dict[str, str], text: str) -> None:
    store = Path(env["HOME"], ".iai-mcp")
    store.mkdir()
    (store / "config.toml").write_text(text)


@pytest.mark.parametrize("up", [True, False], ids=["up", "down"])
@pytest.mark.parametrize(
    ("variable", "config", "expected"),
    [
        (None, None, FOR_MODELS),
        ("models", None, FOR_MODELS),
        ("all", None, NAMES),
        (None, 'log_level = "INFO"\nmcp_tools = "all" # why\n', NAMES),
        (None, "mcp_tools = 'all'\r\nworkers = 2\r\n", NAMES),
        (None, '"mcp_tools"="all"', NAMES),
        (None, 'mcp_tools = "models"\n', FOR_MODELS),
        (None, '# mcp_tools = "all"\n', FOR_MODELS),
        (None, '[other]\nmcp_tools = "all"\n', FOR_MODELS),
        ("models", 'mcp_tools = "all"\n', FOR_MODELS),
        ("all", 'mcp_tools = "models"\n', NAMES),
    ],
)
def test_the_list_follows_the_setting(
    env: dict[str, str],
    daemon: StandinProcess,
    start_bridge: Start,
    variable: str | None,
    config: str | None,
    expected: set[str],
    *,
    up: bool,
) -> None:
    if variable is not None:
        env["IAI_MCP_MCP_TOOLS"] = variable
    if config is not None:
        configured(env, config)
    if up:
        daemon.start()
    assert names(listed(start_bridge())) == expected


@pytest.mark.parametrize("setting", ["models", "all"])
def test_the_bridge_and_the_daemon_list_the_very_same(
    env: dict[str, str], daemon: StandinProcess, start_bridge: Start, setting: str
) -> None:
    env["IAI_MCP_MCP_TOOLS"] = setting
    alone = listed(start_bridge())
    daemon.start()
    assert listed(start_bridge()) == alone


@pytest.mark.parametrize(
    ("variable", "config"),
    [
        ("loud", None),
        ("", None),
        (None, 'mcp_tools = "ALL"'),
        (None, "mcp_tools = true"),
        (None, "mcp_tools = = all"),
        (None, "x" * 100_000),
        (None, "mcp_tools = " + "[" * 100_000),
    ],
)
def test_a_setting_that_the_daemon_refuses_leaves_the_host_the_tools_for_models(
    env: dict[str, str], start_bridge: Start, variable: str | None, config: str | None
) -> None:
    if variable is not None:
        env["IAI_MCP_MCP_TOOLS"] = variable
    if config is not None:
        configured(env, config)
    bridge = start_bridge()
    assert names(listed(bridge)) == FOR_MODELS
    assert bridge.end() == (0, b"", b"")


def test_a_tool_that_is_not_listed_can_be_called(
    daemon: StandinProcess, start_bridge: Start
) -> None:
    daemon.start()
    bridge = start_bridge()
    assert "topology" not in names(listed(bridge))
    for number, name in enumerate(sorted(NAMES - FOR_MODELS), 2):
        arguments = {"ids": ["1"]} if name == "memory_reinforce" else {}
        params = {"name": name, "arguments": arguments}
        bridge.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        answer = bridge.hear()
        assert (answer["id"], "result" in answer) == (number, True), name


def test_every_tool_has_a_hint_for_the_search_over_deferred_tools(
    env: dict[str, str], daemon: StandinProcess, start_bridge: Start
) -> None:
    env["IAI_MCP_MCP_TOOLS"] = "all"
    daemon.start()
    for tool in listed(start_bridge()):
        hint = tool["_meta"]["anthropic/searchHint"]
        assert 10 < len(hint) <= 160, tool["name"]
