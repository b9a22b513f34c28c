"""Connections to the HTTP door: who has not shown the token stays briefly, and is one of few.

Anybody on this machine can connect to loopback. Without this, their connections would stand for ever,
and one day nobody else got in.
"""

import asyncio
from collections.abc import Callable

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

MOST_STRANGERS = 64
_FAR_TOO_MANY = 1024  # a flood: the daemon's descriptors are for its other clients, too
# From the first moment of a connection. Its owner asks at once: nobody is sent away before the first of
# these, however many dial; and who asks for no more than that has to be quick where there are many.
FIRST_WORD_SECONDS = 0.5
TOKEN_WITHIN_SECONDS = 5.0


class DoorConfig(Config):
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
