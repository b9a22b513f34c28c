"""The page's process: it listens on loopback for browsers and on a socket for commands, until it is
closed, unused, or its home is gone.
"""

import asyncio
import contextlib
import json
import os
import socket
import time
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from iai_mcp import __version__, concurrency, paths
from iai_mcp.domain.errors import IoFailed
from iai_mcp.protocol.peers import peer_uid
from iai_mcp.web import control, peers
from iai_mcp.web.application import Application
from iai_mcp.web.asgi import Receive, Scope, Send
from iai_mcp.web.changes import Changes
from iai_mcp.web.gate import Gate
from iai_mcp.web.logins import Logins

_LOOK_SECONDS = 0.5
_BACKLOG = 128
_LAST_ANSWERS_SECONDS = 1
_MOST_REQUESTS = 256  # at once, terminals and listeners included
_LARGEST_MESSAGE = 1 << 20


def listener(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes any that is free.

    Raises:
        IoFailed: the port is taken.
    """
    try:
        return socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
    except OSError as taken:
        raise IoFailed(
            f"port {port} can not be listened on ({taken.strerror}): choose another with --port"
        ) from taken


async def serve(listening: socket.socket, idle_seconds: float) -> None:
    """Serve until somebody closes it, until nobody uses it, or until its home is gone."""
    await _Page(listening, idle_seconds).serve()


class _Page:
    """One page, from its opening to its end."""

    def __init__(self, listening: socket.socket, idle_seconds: float) -> None:
        self._listening = listening
        self._port = int(listening.getsockname()[1])
        self._idle_seconds = idle_seconds
        self._logins = Logins()
        self._changes = Changes()
        self._gate = Gate(
            Application(self._logins, self._changes, self._port), self._logins, self._port
        )
        self._used = time.monotonic()
        self._open = 0  # requests and terminals
        self._closing = asyncio.Event()

    async def serve(self) -> None:
        config = uvicorn.Config(
            self._count,
            interface="asgi3",
            proxy_headers=False,
            http=_Caller,
            ws=_WebSocket,
            ws_max_size=_LARGEST_MESSAGE,
            ws_per_message_deflate=False,  # loopback is faster than any compression
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_REQUESTS,
            timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
        )
        server = uvicorn.Server(config)
        path = paths.page_socket_path()
        paths.socket_dir(path)
        concurrency.cleanup_stale_socket(path)
        # Only around this: what is launched from here gets the umask of who opened the page.
        umask = os.umask(0o077)
        try:
            door = await asyncio.start_unix_server(self._command, path, limit=control.LONGEST)
        finally:
            os.umask(umask)
        serving = asyncio.create_task(server.serve([self._listening]))
        watching = asyncio.create_task(self._until_over(path))
        await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
        door.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        server.should_exit = True
        watching.cancel()
        await serving

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Everything asked of the page is use of it, for as long as the answer takes."""
        self._open += 1
        try:
            await self._gate(scope, receive, send)
        finally:
            self._open -= 1
            self._used = time.monotonic()

    async def _until_over(self, path: str) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _LOOK_SECONDS)
            unused = not self._open and time.monotonic() - self._used > self._idle_seconds
            if unused or not _is_there(path):
                return

    async def _command(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if peer_uid(writer.get_extra_info("socket")) != os.geteuid():
                return
            wanted = json.loads(await reader.readline())
            answer = self._done(str(wanted.get("do")), wanted.get("tunnel"))
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        except (OSError, ValueError, AttributeError):
            return  # no command of ours
        finally:
            writer.close()

    def _done(self, wanted: str, tunnel: object) -> dict[str, object]:
        told: dict[str, object] = {"port": self._port, "version": __version__, "pid": os.getpid()}
        if wanted == "open":
            self._used = time.monotonic()
            port = tunnel if isinstance(tunnel, int) and 0 < tunnel < 1 << 16 else self._port
            self._gate.seen_at(port)
            told["url"] = f"http://127.0.0.1:{port}/?token={self._logins.new_token()}"
        elif wanted == "close":
            self._closing.set()
        return told


def _is_there(path: str) -> bool:
    return os.path.lexists(path)


class _WebSocket(asyncio.Protocol):
    """What speaks WebSocket, loaded with the first terminal: most pages never show one."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

        return WebSocketsSansIOProtocol(*given, **named)


class _Caller(H11Protocol):
    """One connection. Another user's is dropped before a byte of it is read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        peer, own = (transport.get_extra_info(name) for name in ("peername", "sockname"))
        if not peers.is_ours(peer[:2], own[:2]):
            transport.abort()
            return
        # asyncio sets it only where the listening socket names its protocol. Without it the end of an
        # answer waits 40 ms for the browser to acknowledge its beginning.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
