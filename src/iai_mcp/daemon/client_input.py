"""What one client sends, as lines: bounded in memory, paced beside others, and no more of who has left.

Long lines are taken in one at a time, however many clients send one: a line that is longer than
`LONG_LINE` is read on only by who has the daemon's one turn for that, and the turn is passed on when
the line has been dealt with.
"""

import asyncio
import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from iai_mcp.protocol.frames import Late, LineDecoder, Oversize

if TYPE_CHECKING:
    from iai_mcp.daemon.socket_server import SocketServer

# What is longer waits for its turn, and what was made of it is let go of before the next line.
LONG_LINE = 1 << 18

_CHUNK = 1 << 16
# How long the rest of a long line may take. Sixteen megabytes take some milliseconds, and whoever
# holds the turn and does not go on keeps all others waiting.
_REST_SECONDS = 10.0
# Between two lines of one who sends without waiting, while somebody else waits for an answer.
_PACE = 0.005
# How long after dialling the first line may still come when the daemon ends.
_FIRST_WORD_SECONDS = 0.1
# What has been sent is here already: this is for a machine that is busy.
_LAST_WORDS_SECONDS = 1.0


class Incoming:
    """The lines of one client. Iterate `lines()` once."""

    def __init__(
        self, server: "SocketServer", reader: asyncio.StreamReader, ours: socket.socket | None
    ) -> None:
        self._server = server
        self._reader = reader
        self._socket = ours
        self._decoder = LineDecoder()
        self._began = time.monotonic()
        self._heard = False
        self._cut = False  # nothing more can be sent to us
        self.is_heirs = False  # at the other end is who takes our place: it is not cut off
        self._has_turn = False  # for a long line
        self._late_at = 0.0
        self._late = False  # the rest of a long line did not come

    async def lines(self) -> AsyncGenerator[bytes | Oversize, None]:
        """Each line when it is whole. The next one is read when the one before was dealt with."""
        stopping = asyncio.create_task(self._stopping())
        try:
            while (data := await self._read(stopping)) is not None:
                found = deque(self._decoder.feed(data) if data else self._decoder.finish())
                while found:
                    self._server.last_activity_ts = time.monotonic()
                    yield found.popleft()
                    self._pass_on_turn()
                    if not self.is_there():
                        return
                    if found:
                        await self._let_others_in()
                if not data:
                    return
            if self._late:
                yield Late()
        finally:
            self._pass_on_turn()
            stopping.cancel()

    def is_there(self) -> bool:
        """Whether somebody is at the other end; who only stopped sending still is."""
        if self._socket is None:  # a test's own pair of streams
            return True
        if self._socket.fileno() < 0:
            return False
        watch = select.poll()
        watch.register(self._socket.fileno(), select.POLLOUT)
        return not any(event & select.POLLHUP for _, event in watch.poll(0))

    async def _stopping(self) -> None:
        await self._server.shutdown_event.wait()

    async def _read(self, stopping: "asyncio.Task[None]") -> bytes | None:
        """The next bytes, none at the end; None when no more are wanted, or did not come in time."""
        if self._decoder.held >= LONG_LINE and not self._has_turn:
            await self._take_turn(stopping)
        reading = asyncio.ensure_future(self._reader.read(_CHUNK))
        left = max(0.0, self._late_at - time.monotonic()) if self._has_turn else None
        either: set[asyncio.Future[Any]] = {reading, stopping}
        await asyncio.wait(either, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        self._late = not reading.done() and not stopping.done()
        if self._late or (not reading.done() and not await self._last_words(reading)):
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            return None
        data = reading.result()
        self._heard = True
        if not data and self._cut:
            return None  # half a line that we cut off is no line
        return data

    async def _take_turn(self, stopping: "asyncio.Task[None]") -> None:
        """Wait until no other long line is in hand. A daemon that ends waits for nobody's turn."""
        taking = asyncio.ensure_future(self._server.long_lines.acquire())
        either: set[asyncio.Future[Any]] = {taking, stopping}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._has_turn = taking.done() and not taking.cancelled()
            taking.cancel()
        self._late_at = time.monotonic() + _REST_SECONDS

    def _pass_on_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._server.long_lines.release()

    async def _let_others_in(self) -> None:
        """Whoever sends line after line is answered in between others, not before them."""
        await asyncio.sleep(_PACE if self._server.pool.somebody_waits() else 0)

    async def _last_words(self, reading: "asyncio.Future[bytes]") -> bool:
        """The daemon ends: hear what was sent before now and nothing after; whether there is more.

        Whoever sends later is told so by the system: that line was not heard, and can be sent again.
        """
        if not self._cut:
            left = self._began + _FIRST_WORD_SECONDS - time.monotonic()
            if not self._heard and left > 0:
                await asyncio.wait({reading}, timeout=left)
            self._cut = not reading.done() and self._hear_no_more()
        if self._cut:
            await asyncio.wait({reading}, timeout=_LAST_WORDS_SECONDS)
        return reading.done()

    def _hear_no_more(self) -> bool:
        if self._socket is None or self.is_heirs:
            return False
        with contextlib.suppress(OSError):  # it has gone by itself
            self._socket.shutdown(socket.SHUT_RD)
        return True
