"""A daemon's socket with real MCP sessions and a make-believe core: `python standin.py SOCKET`.

What the core would do is asked for by the cue: `slow` waits until the client cancels or leaves,
`refuse` and `boom` fail the two ways a core can, anything else is echoed with who is calling.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping

from iai_mcp import settings
from iai_mcp.daemon.mcp_session import ParseFailure, serve_session
from iai_mcp.domain.errors import Busy, EmptyCue
from iai_mcp.protocol.codes import MAX_LINE
from iai_mcp.protocol.mcp import AGENTS_METHOD


class Standin:
    """Serves a Unix socket; `events` is what a test may ask about afterwards."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.calls = 0
        self.peak = 0

    async def call(
        self, method: str, params: dict[str, object], context: Mapping[str, str]
    ) -> dict[str, object]:
        if method != "memory_recall":
            return {"method": method, "params": params, "records": [], "events": []}
        cue = str(params["cue"])
        self.calls += 1
        self.peak = max(self.peak, self.calls)
        try:
            await self._act(cue)
        except asyncio.CancelledError:
            self.events.append(f"cancelled {cue}")
            raise
        finally:
            self.calls -= 1
        text = cue * 1000 if cue == "long" else cue
        hit = {"id": "1", "text": text, "score": 1.0, "meta": dict(context), "valid_to": None}
        more = {"params": params, "pid": os.getpid(), "events": self.events, "calls": self.calls}
        return {"hits": [hit], "anti_hits": [], "budget_used": 1, "degraded": [], **more}

    async def _act(self, cue: str) -> None:
        if cue == "slow":
            self.events.append("started slow")
            await asyncio.Event().wait()
        if cue == "pause":
            await asyncio.sleep(0.3)
        if cue == "refuse":
            raise Busy("the store is busy; try again")
        if cue == "boom":
            raise RuntimeError("secret words")
        if not cue.strip():
            raise EmptyCue("ask about something: the cue was blank")

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def receive() -> object:
            try:
                line = await reader.readuntil(b"\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
            try:
                return json.loads(line)
            except ValueError:
                return ParseFailure("the line is not JSON")

        async def send(message: dict[str, object]) -> None:
            writer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
            await writer.drain()

        first = await receive()
        if isinstance(first, dict) and first.get("method") == AGENTS_METHOD:
            first = await receive()
        if first is not None:
            setting = settings.load().mcp_tools
            await serve_session(first, receive, send, self.call, setting)
        self.events.append("closed")
        writer.close()


async def main(path: str) -> None:
    standin = Standin()
    server = await asyncio.start_unix_server(standin.connection, path, limit=MAX_LINE)
    print("ready", flush=True)  # noqa: T201
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
