"""MCP over streamable HTTP at `/mcp`, on loopback, for those who turn it on.

Imported only then. Every request stands alone (no session ids), so a restarted daemon serves the
next one as if nothing had happened. A web page can not get in: it knows no token, its `Origin` is
not ours, and a name that was rebound to loopback shows in `Host`.
"""

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Iterator

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from iai_mcp.daemon.http_address import host_names, token
from iai_mcp.daemon.http_visitors import DoorConfig, Visitor
from iai_mcp.daemon.mcp_server import build_server
from iai_mcp.daemon.mcp_session import Call
from iai_mcp.daemon.socket_server import accept_no_more
from iai_mcp.protocol.codes import MAX_LINE

_MOST_REQUESTS = 64  # worked on at once; more wait
# As many are accepted in one go, and whoever calls through the Unix socket waits behind them.
_BACKLOG = 128
# The daemon has 5 s to stop in all.
_LAST_ANSWERS_SECONDS = 3
# Whoever has just dialled is about to ask.
_FIRST_WORD_SECONDS = 0.1


async def serve(listening: socket.socket, call: Call, stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set; requests in flight are answered first."""
    config = DoorConfig(
        application(listening.getsockname(), call, token()),
        http=Visitor,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_LAST_ANSWERS_SECONDS,
    )
    config.strangers = set()
    server = _Server(config)
    serving = asyncio.ensure_future(server.serve([listening]))
    waiting = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        await accept_no_more(listening)
        await asyncio.sleep(_FIRST_WORD_SECONDS)
        server.should_exit = True
        await serving
        listening.close()


def application(address: tuple[object, ...], call: Call, secret: str) -> ASGIApp:
    """The whole of what HTTP clients can reach; `address` is where it listens, as a socket tells it."""
    names = host_names(str(address[0]), int(str(address[1])))
    app = build_server(call, lambda _ctx: {}).streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_LINE,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    return _BearerOnly(app, secret)


class _BearerOnly:
    """Lets nobody in without the token, and not all who have it at once."""

    def __init__(self, app: ASGIApp, secret: str) -> None:
        self._app = app
        self._wanted = b"bearer " + secret.encode()
        self._places = asyncio.Semaphore(_MOST_REQUESTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._is_known(scope):
            scope["state"]["visitor"].let_stay()
            async with self._places:
                await self._app(scope, receive, send)
        else:
            await _refuse(send)

    def _is_known(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        scheme, _, rest = given.partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + rest.strip(), self._wanted)


async def _refuse(send: Send) -> None:
    body = b"send the token of <user data>/http-token as: Authorization: Bearer TOKEN\n"
    headers = [
        (b"www-authenticate", b"Bearer"),
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Server(uvicorn.Server):
    """A server inside a daemon that has its own way of being told to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
