"""MCP over streamable HTTP at `/mcp`, on loopback, for those who turn it on.

Imported only then. Every request stands alone (no session ids), so a restarted daemon serves the
next one as if nothing had happened. A web page can not get in: it knows no token, its `Origin` is
not ours, and a name that was rebound to loopback shows in `Host`.
"""

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Callable, Iterator

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from iai_mcp.daemon.http_service import host_names, token
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
_ABOUT_TO_ASK_SECONDS = 0.1

# Anybody on this machine can connect to loopback. Who has not shown the token stays briefly, and is one
# of few: else such connections would stand for ever, and one day nobody else got in.
MOST_STRANGERS = 64
_FAR_TOO_MANY = 1024  # a flood: the daemon's descriptors are for its other clients, too
# From the first moment of a connection. Its owner asks at once: nobody is sent away before the first of
# these, however many dial; and who asks for no more than that has to be quick where there are many.
FIRST_WORD_SECONDS = 0.5
TOKEN_WITHIN_SECONDS = 5.0


async def serve(
    listening: socket.socket, call: Call, stopping: asyncio.Event, mcp_tools: str = "models"
) -> None:
    """Serve until `stopping` is set; requests in flight are answered first."""
    config = DoorConfig(
        application(listening.getsockname(), call, token(), mcp_tools),
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
        await asyncio.sleep(_ABOUT_TO_ASK_SECONDS)
        server.should_exit = True
        await serving
        listening.close()


def application(address: tuple[object, ...], call: Call, secret: str, mcp_tools: str) -> ASGIApp:
    """The whole of what HTTP clients can reach; `address` is where it listens, as a socket tells it."""
    names = host_names(str(address[0]), int(str(address[1])))
    app = build_server(call, lambda _ctx: {}, mcp_tools).streamable_http_app(
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


class DoorConfig(uvicorn.Config):
    """uvicorn's, with the connections that have not shown the token yet."""

    strangers: "set[Visitor]"


class Visitor(H11Protocol):
    """One connection; its requests find it as `visitor` in their state."""

    def __init__(
        self,
        config: DoorConfig,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "visitor": self}, _loop)
        self._strangers = config.strangers
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._strangers.add(self)
        if len(self._strangers) > _FAR_TOO_MANY:
            self._hang_up()
        else:
            self._in_time(FIRST_WORD_SECONDS, self._make_room)

    def connection_lost(self, exc: Exception | None) -> None:
        self.let_stay()
        super().connection_lost(exc)

    def let_stay(self) -> None:
        """It has shown the token."""
        self._strangers.discard(self)
        if self._timer is not None:
            self._timer.cancel()

    def _make_room(self) -> None:
        # What came until now was read before this was called, however busy we are.
        if len(self._strangers) > MOST_STRANGERS:
            self._hang_up()
        else:
            self._in_time(TOKEN_WITHIN_SECONDS - FIRST_WORD_SECONDS, self._hang_up)

    def _in_time(self, seconds: float, then: Callable[[], None]) -> None:
        self._timer = self.loop.call_later(seconds, then)

    def _hang_up(self) -> None:
        self.let_stay()
        self.transport.abort()
