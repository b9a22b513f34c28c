"""Connections to the HTTP door: who has not shown the token stays briefly, and is one of few.

Anybody on this machine can connect to loopback. Without this, their connections would stand for ever,
and one day nobody else got in.
"""

import asyncio

from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

# From the first moment of a connection: a header takes milliseconds to come, on a busy machine too.
TOKEN_WITHIN_SECONDS = 5.0
MOST_STRANGERS = 64
# Whoever has just dialled is about to ask: nobody is sent away before, however many dial at once.
_FIRST_WORD_SECONDS = 0.5


class DoorConfig(Config):
    """uvicorn's, with the connections that have not shown the token yet, oldest first."""

    strangers: "dict[Visitor, float]"


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
        self._too_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        now = self.loop.time()
        self._too_late = self.loop.call_later(TOKEN_WITHIN_SECONDS, self._hang_up)
        self._strangers[self] = now
        while len(self._strangers) > MOST_STRANGERS:
            oldest, since = next(iter(self._strangers.items()))
            if now - since < _FIRST_WORD_SECONDS:
                break
            oldest._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self.let_stay()
        super().connection_lost(exc)

    def let_stay(self) -> None:
        """It has shown the token."""
        self._strangers.pop(self, None)
        if self._too_late is not None:
            self._too_late.cancel()

    def _hang_up(self) -> None:
        self.let_stay()
        self.transport.abort()
