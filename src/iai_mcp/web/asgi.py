"""Requests, answers and WebSockets as uvicorn hands them over, as far as the page needs them.

By hand: what a framework brings along for this stays in memory for as long as a browser is open.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """All of it at once."""

    status: int
    body: bytes
    kind: str
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, send: Send) -> None:
        told = {"content-type": self.kind, "content-length": str(len(self.body)), **self.headers}
        await send(_start(self.status, told))
        await send({"type": "http.response.body", "body": self.body})


def text(status: int, sentence: str) -> Answer:
    return Answer(status, sentence.encode() + b"\n", TEXT)


def json_answer(status: int, what: object) -> Answer:
    return as_json(status, json.dumps(what, ensure_ascii=False).encode("utf-8", "replace"))


def as_json(status: int, body: bytes) -> Answer:
    """What is JSON already."""
    return Answer(status, body, "application/json")


async def stream(receive: Receive, send: Send, parts: AsyncIterator[bytes]) -> None:
    """Server-sent events, for as long as somebody listens."""
    await send(_start(200, {"content-type": "text/event-stream; charset=utf-8"}))

    async def tell() -> None:
        async for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})

    async def leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue

    ways = [asyncio.create_task(way()) for way in (tell, leave)]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def read_body(receive: Receive, most: int) -> bytes | None:
    """What was sent; None where it is more, or where whoever sends it has gone."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            return None
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def header(scope: Scope, name: str) -> str:
    """The first of that name, "" where there is none."""
    wanted = name.encode()
    return next((value.decode("latin-1") for own, value in scope["headers"] if own == wanted), "")


class WebSocket:
    """One that the gate let in."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._gone = False

    async def accept(self, subprotocol: str) -> None:
        await self._receive()  # that it connects
        await self._send({"type": "websocket.accept", "subprotocol": subprotocol})

    async def receive(self) -> Message | None:
        """What the browser sent, as `bytes` or `text`; None when it has gone."""
        message = await self._receive()
        self._gone = message["type"] == "websocket.disconnect"
        return None if self._gone else message

    async def send_bytes(self, data: bytes) -> None:
        await self._send({"type": "websocket.send", "bytes": data})

    async def send_text(self, data: str) -> None:
        await self._send({"type": "websocket.send", "text": data})

    async def close(self, code: int = 1000, reason: str = "") -> None:
        if not self._gone:
            with contextlib.suppress(RuntimeError):  # it left at this moment
                await self._send({"type": "websocket.close", "code": code, "reason": reason})


def _start(status: int, headers: Mapping[str, str]) -> Message:
    told = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": told}
