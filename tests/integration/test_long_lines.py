"""Lines of megabytes: one in hand at a time, whoever sends them, and nobody can keep the others out."""

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.concurrency import ProcessLock
from iai_mcp.daemon import client_input
from iai_mcp.socket_server import SocketServer

Talk = Callable[[SocketServer, Path], Awaitable[None]]


def served(talk: Talk) -> None:
    async def story() -> None:
        path = Path(tempfile.mkdtemp(prefix="iai-s-")) / "d.sock"
        server = SocketServer(None, lock=ProcessLock(), state={})
        task = asyncio.create_task(server.serve(socket_path=path))
        while not path.exists():
            await asyncio.sleep(0.005)
        try:
            async with asyncio.timeout(30):
                await talk(server, path)
        finally:
            server.shutdown_event.set()
            await asyncio.wait_for(task, 6)

    asyncio.run(story())


def status(size: int) -> bytes:
    return json.dumps({"type": "status", "padding": "x" * size}).encode() + b"\n"


async def answer(reader: asyncio.StreamReader) -> Json:
    told: Json = json.loads(await reader.readline())
    return told


def test_one_who_stops_in_the_middle_of_a_long_line_does_not_keep_the_others_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_input, "_REST_SECONDS", 0.3)

    async def talk(server: SocketServer, path: Path) -> None:
        slow, slow_writer = await asyncio.open_unix_connection(str(path))
        slow_writer.write(status(1_000_000)[:600_000])
        while not server.long_lines.locked():
            await asyncio.sleep(0.005)
        other, writer = await asyncio.open_unix_connection(str(path))
        writer.write(status(2_000_000))
        assert (await answer(other))["ok"]
        refused = await answer(slow)
        assert refused["error"]["code"] == -32700
        assert "did not come" in refused["error"]["message"]
        assert await slow.read() == b""
        writer.write(status(2_000_000))
        assert (await answer(other))["ok"]
        for one in (slow_writer, writer):
            one.close()

    served(talk)


def test_short_lines_do_not_wait_for_a_long_one_that_is_under_way() -> None:
    async def talk(server: SocketServer, path: Path) -> None:
        long, long_writer = await asyncio.open_unix_connection(str(path))
        line = status(3_000_000)
        long_writer.write(line[:1_000_000])
        while not server.long_lines.locked():
            await asyncio.sleep(0.005)
        reader, writer = await asyncio.open_unix_connection(str(path))
        for _ in range(3):
            writer.write(status(10))
            assert (await answer(reader))["ok"]
        long_writer.write(line[1_000_000:])
        assert (await answer(long))["ok"]
        for one in (long_writer, writer):
            one.close()

    served(talk)


def test_one_who_leaves_in_the_middle_of_a_long_line_passes_the_turn_on() -> None:
    async def talk(server: SocketServer, path: Path) -> None:
        _, gone = await asyncio.open_unix_connection(str(path))
        gone.write(status(3_000_000)[:1_000_000])
        while not server.long_lines.locked():
            await asyncio.sleep(0.005)
        gone.close()
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(status(3_000_000))
        assert (await answer(reader))["ok"]
        writer.close()

    served(talk)


def test_many_long_lines_at_once_are_all_answered() -> None:
    async def talk(server: SocketServer, path: Path) -> None:
        async def ask(number: int) -> bool:
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(status(300_000 + number * 100_000) * 2)
            answers = [await answer(reader) for _ in range(2)]
            writer.close()
            return all(one["ok"] for one in answers)

        assert all(await asyncio.gather(*map(ask, range(12))))
        assert not server.long_lines.locked()

    served(talk)
