"""One terminal session in a browser: what it prints goes there, what is typed there comes here.

The browser's terminal is an emulator of its own: it gets the session's output as it came, from far
enough back to show the screen. Typing needs the keyboard, which is given apart from looking.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from iai_mcp.domain.errors import IaiError, NotFound
from iai_mcp.domain.terminals import LARGEST
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import pty
from iai_mcp.terminal.connection import Connection, HolderState
from iai_mcp.terminal.screen_paint import began_on_alternate
from iai_mcp.web.gate import SUBPROTOCOL

_READ_SIZE = 1 << 16
_TO_ALTERNATE = b"\x1b[?1049h"
_ANEW = b"\x1bc"
_REFUSED = 4404


async def show(socket: WebSocket, session: str, may_type: Callable[[], bool]) -> None:
    """Until the browser leaves or the program ends."""
    await socket.accept(subprotocol=SUBPROTOCOL)
    try:
        holder = await asyncio.to_thread(_dialled, session)
    except IaiError as refused:
        await socket.close(_REFUSED, refused.message[:120])
        return
    reader, writer = await asyncio.open_unix_connection(sock=holder.socket)
    terminal = _Terminal(socket, reader, writer, may_type)
    ways = [asyncio.create_task(way) for way in (terminal.prints(), terminal.types())]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        if socket.client_state is not WebSocketState.DISCONNECTED:
            with contextlib.suppress(RuntimeError):  # it left at this moment
                await socket.close()


def _dialled(session: str) -> Connection:
    record = pty.find(session)
    if not record.alive:
        raise NotFound(f"session '{session}' has ended")
    return Connection(record.socket)


class _Terminal:
    def __init__(
        self,
        socket: WebSocket,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        may_type: Callable[[], bool],
    ) -> None:
        self._socket = socket
        self._reader = reader
        self._writer = writer
        self._may_type = may_type
        self._begins: HolderState | None = None  # the first output after it makes the screen

    async def prints(self) -> None:
        """Hand on what the holder sends. It waits while the browser does not read, and the holder
        leaves who falls behind behind.
        """
        decoder = wire.FrameDecoder()
        # Rows 0: who looks does not shape the terminal of who works.
        self._writer.write(wire.frame(wire.ATTACH, wire.pack((wire.SCREEN, 1), (0, 2), (0, 2))))
        while data := await self._reader.read(_READ_SIZE):
            for kind, payload in decoder.feed(data):
                if kind == wire.OUTPUT:
                    await self._socket.send_bytes(self._prefix(payload) + payload)
                elif kind == wire.STATUS:
                    await self._state(HolderState.parse(payload))
                elif kind == wire.LOST:
                    await self._socket.send_bytes(_ANEW)
                elif kind == wire.EXITED:
                    code = wire.unpack(payload, 4)[0]
                    await self._say({"exited": True, "exit_code": code})
                    return

    async def _state(self, state: HolderState) -> None:
        self._begins = state
        await self._say({"status": state.status, "rows": state.rows, "cols": state.cols})

    def _prefix(self, first: bytes) -> bytes:
        """What brings an emulator to where the output begins."""
        state, self._begins = self._begins, None
        return _TO_ALTERNATE if state and began_on_alternate(first, state.alternate) else b""

    async def types(self) -> None:
        """Take what the browser sends: keys as bytes, a new size as JSON."""
        while True:
            try:
                message = await self._socket.receive()
            except WebSocketDisconnect:
                return
            if message["type"] == "websocket.disconnect":
                return
            keys, said = message.get("bytes"), message.get("text")
            if not self._may_type():
                await self._say({"keyboard": False})
            elif keys:
                await self._typed(keys)
            elif said:
                self._resize(said)

    async def _typed(self, keys: bytes) -> None:
        size = wire.MAX_PAYLOAD - 4
        for at in range(0, len(keys), size):
            self._writer.write(wire.frame(wire.INPUT, wire.pack((0, 4)) + keys[at : at + size]))
            await self._writer.drain()  # a program that reads slowly slows who pastes

    def _resize(self, said: str) -> None:
        try:
            rows, cols = json.loads(said)["resize"]
            fits = 0 < rows <= LARGEST and 0 < cols <= LARGEST
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        if fits:
            self._writer.write(wire.frame(wire.RESIZE, wire.pack((int(rows), 2), (int(cols), 2))))

    async def _say(self, what: dict[str, object]) -> None:
        await self._socket.send_text(json.dumps(what))
