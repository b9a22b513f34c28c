"""A private project answers only to those whose place it is, however they ask."""

import json
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, Line, until
from tests.support.git import git, repository
from tests.support.home import ScratchHome
from tests.support.hostile_places import PRETENDING

from iai_mcp.protocol.mcp import CONTEXT_META

SECRET = "the heron vault opens with the word nightjar"
OPEN = "the heron nests in the old boathouse"


class Scene:
    """A private project, another one, and a daemon that knows both."""

    def __init__(self, daemon: DaemonProcess, url: str) -> None:
        self.daemon = daemon
        self.url = url
        room = daemon.home.path.resolve()
        self.private = repository(room / "private")
        self.other = repository(room / "other")
        self.ids = {
            text: daemon.call("memory_capture", text=text, cwd=str(place), session_id="s")[
                "record_id"
            ]
            for place, text in ((self.private, SECRET), (self.other, OPEN))
        }
        daemon.call("project_privacy", cwd=str(self.private), private=True)

    def server(self, cwd: Path, **more: str) -> StdioServerParameters:
        environment = {**self.daemon.home.environment, **more}
        command = ["-m", "iai_mcp.cli", "mcp"]
        return StdioServerParameters(
            command=sys.executable, args=command, env=environment, cwd=str(cwd)
        )


@pytest.fixture
def scene(home: ScratchHome) -> Iterator[Scene]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    daemon = DaemonProcess(home, IAI_MCP_HTTP=f"127.0.0.1:{port}").start()
    yield Scene(daemon, f"http://127.0.0.1:{port}/mcp")
    daemon.stop()


async def everything_it_says(
    session: ClientSession | Client, scene: Scene, *, inside: bool = False
) -> str:
    """All that the tools tell a caller who tries each way to get at the private project."""
    told = []
    private, memory = str(scene.private), scene.ids[SECRET]
    for tool, arguments in (
        ("memory_recall", {"cue": "heron vault nightjar", "context": 5}),
        ("memory_recall", {"cue": "heron vault nightjar", "project": private}),
        ("memory_recall", {"cue": "heron vault nightjar", "project": "private"}),
        ("memory_recall", {"cue": "heron vault nightjar", "project": "*", "session_id": "s"}),
        ("memory_timeline", {}),
        ("memory_timeline", {"project": private}),
        ("memory_timeline", {"session_id": "s"}),
        ("memory_forget", {"query": "nightjar", "dry_run": True}),
        ("memory_forget", {"ids": [memory], "dry_run": True}),
        ("memory_forget", {"project": private, "dry_run": True}),
        ("memory_reinforce", {"ids": [memory, scene.ids[OPEN]]}),
        ("memory_consolidate", {"wait": True}),
        ("events_query", {"limit": 1000}),
        ("topology", {}),
    ):
        result = await session.call_tool(tool, arguments)
        answer = result.structured_content
        if answer is None:
            # The heading of an answer repeats the question.
            texts = [str(getattr(part, "text", "")) for part in result.content]
            told += [text.replace("heron vault nightjar", "") for text in texts]
            continue
        if tool == "memory_reinforce":
            assert (memory in answer["reinforced"]) is inside
            answer.pop("unknown")  # the id that the call itself named
        told.append(json.dumps(answer))
    return "\n".join(told)


def knows_it(told: str, scene: Scene) -> bool:
    return "nightjar" in told or scene.ids[SECRET][:8] in told or f'"{scene.private}"' in told


def within_deadline(scenario: Callable[..., Awaitable[None]], *arguments: object) -> None:
    async def bounded() -> None:
        with anyio.fail_after(100):
            await scenario(*arguments)

    anyio.run(bounded)


async def from_a_bridge(scene: Scene, cwd: Path, *, inside: bool, **environment: str) -> None:
    async with (
        stdio_client(scene.server(cwd, **environment)) as streams,
        ClientSession(*streams) as session,
    ):
        await session.initialize()
        told = await everything_it_says(session, scene, inside=inside)
        assert knows_it(told, scene) is inside
        assert "boathouse" in told


def test_a_bridge_that_was_started_in_it_is_answered(scene: Scene) -> None:
    within_deadline(lambda: from_a_bridge(scene, scene.private, inside=True))


def test_a_bridge_in_a_worktree_of_it_is_answered(scene: Scene) -> None:
    git("worktree", "add", "-q", "../feature", cwd=scene.private)
    deep = scene.private.parent / "feature/src"
    deep.mkdir()
    within_deadline(lambda: from_a_bridge(scene, deep, inside=True))


def test_a_bridge_that_was_started_elsewhere_is_told_nothing_of_it(scene: Scene) -> None:
    within_deadline(lambda: from_a_bridge(scene, scene.other, inside=False))


@pytest.mark.parametrize("claim", ["commondir", "core.worktree", "another's worktree", "its name"])
def test_a_directory_that_only_says_it_belongs_to_it_is_elsewhere(scene: Scene, claim: str) -> None:
    git("worktree", "add", "-q", "../feature", cwd=scene.private)
    pretender = scene.other / "inside"
    PRETENDING[claim](pretender, scene.private)
    place = pretender / scene.private.name if claim == "its name" else pretender
    within_deadline(lambda: from_a_bridge(scene, place, inside=False))


def test_variables_of_the_environment_do_not_move_a_bridge_into_it(scene: Scene) -> None:
    moved = {"IAI_MCP_PROJECT": str(scene.private), "PWD": str(scene.private)}
    within_deadline(lambda: from_a_bridge(scene, scene.other, inside=False, **moved))


def test_http_has_no_place_and_is_told_nothing_of_it(scene: Scene) -> None:
    async def scenario() -> None:
        token_file = scene.daemon.home.store / "http-token"
        await anyio.to_thread.run_sync(until, token_file.exists, "there is a token")
        bearer = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
        async with (
            httpx2.AsyncClient(headers=bearer) as http,
            Client(streamable_http_client(scene.url, http_client=http)) as client,
        ):
            told = await everything_it_says(client, scene)
            assert not knows_it(told, scene)
            assert "boathouse" in told

    within_deadline(scenario)


@pytest.mark.parametrize("name", ["cwd", "visitor", "show", "agent_id"])
def test_what_no_tool_declares_no_caller_can_say(scene: Scene, name: str) -> None:
    async def scenario() -> None:
        async with (
            stdio_client(scene.server(scene.other)) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            values = {"cwd": str(scene.private), "visitor": False, "show": 10, "agent_id": "x"}
            for tool, needed in (
                ("memory_recall", {"cue": "heron"}),
                ("memory_timeline", {}),
                ("memory_forget", {"query": "nightjar", "dry_run": True}),
                ("topology", {}),
            ):
                with pytest.raises(MCPError) as refused:
                    await session.call_tool(tool, {**needed, name: values[name]})
                assert refused.value.code == -32602
                assert name in refused.value.message

    within_deadline(scenario)


def test_who_is_elsewhere_changes_nothing_in_it(scene: Scene) -> None:
    async def scenario() -> None:
        async with (
            stdio_client(scene.server(scene.other)) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            said = await session.call_tool(
                "memory_capture", {"text": "nightjar is wrong", "project": str(scene.private)}
            )
            assert said.structured_content["status"] == "skipped"
            assert "private" in said.structured_content["reason"]
            gone = await session.call_tool("memory_forget", {"query": "heron"})
            assert gone.structured_content["forgotten"] == 1
            assert gone.structured_content["ids"] == [scene.ids[OPEN]]
            with pytest.raises(MCPError, match="there is no memory with id"):
                await session.call_tool(
                    "memory_contradict", {"id": scene.ids[SECRET], "new_fact": "it is a wren"}
                )

    within_deadline(scenario)
    kept = scene.daemon.call("memory_timeline", cwd=str(scene.private))["records"]
    assert [(record["text"], record["valid_to"]) for record in kept] == [(SECRET, None)]


def test_the_first_message_of_a_connection_decides_where_its_caller_is(scene: Scene) -> None:
    """A bridge adds its context to that one; whatever a host sends later can not move it."""
    client = {"name": "host", "version": "1"}
    private, other = ({"cwd": str(place)} for place in (scene.private, scene.other))

    def hello(number: int, where: dict[str, str]) -> dict[str, object]:
        params = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}}
        return {
            "jsonrpc": "2.0",
            "id": number,
            "method": "initialize",
            "params": {**params, "clientInfo": client, "_meta": {CONTEXT_META: where}},
        }

    def recall(number: int) -> dict[str, object]:
        arguments = {"cue": "heron vault nightjar"}
        params = {
            "name": "memory_recall",
            "arguments": arguments,
            "_meta": {CONTEXT_META: private},
        }
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}

    with scene.daemon.line() as line:
        line.ask(hello(1, other))
        line.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        line.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        assert "nightjar" not in str(answered(line, recall(2)))
        answered(line, hello(3, private))
        assert "nightjar" not in str(answered(line, recall(4)))


def answered(line: Line, message: Json) -> Json:
    line.send(message)
    answer = line.receive()
    assert answer["id"] == message["id"]
    return answer


def test_hooks_and_commands_of_its_owner_still_reach_it(scene: Scene) -> None:
    daemon, home = scene.daemon, scene.daemon.home
    inside, outside = str(scene.private / "src"), str(scene.other)
    assert "nightjar" in daemon.call("session_start_payload", cwd=inside)["text"]
    assert "nightjar" not in daemon.call("session_start_payload", cwd=outside)["text"]
    named = {"cwd": outside, "project": str(scene.private)}
    assert "nightjar" not in daemon.call("session_start_payload", **named)["text"]
    prompt = {"prompt": "which word opens the heron vault?", "session_id": "t"}
    assert "nightjar" not in daemon.call("prompt_injection", **named, **prompt)["text"]
    # A launch speaks for its owner, and names the project that it is for.
    told = daemon.call("session_start_payload", project=str(scene.private))
    assert "nightjar" in told["text"]
    assert "nightjar" in home.command("export").stdout
    (home.path / "elsewhere").mkdir()
    for command in (("recall", "heron vault"), ("timeline",)):
        shown = home.command(*command, "--project", str(scene.private)).stdout
        assert "nightjar" not in shown
