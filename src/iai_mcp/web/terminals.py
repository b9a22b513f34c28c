"""One terminal session in a browser: what it prints goes there, what is typed there comes here.

The browser's terminal is an emulator of its own: it gets the session's output as it came, from far
enough back to show the screen. Typing needs the keyboard, which is given apart from looking.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable

from iai_mcp.domain.agents.terminal import LARGEST
from iai_mcp.domain.errors import IaiError, NotFound, RemoteFailed, TimedOut
from iai_mcp.remote import all_sessions
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.connection import HolderConnection, HolderState
from iai_mcp.terminal.screen_paint import began_on_alternate
from iai_mcp.web.asgi import WebSocket
from iai_mcp.web.gate import SUBPROTOCOL

_READ_SIZE = 1 << 16
_TO_ALTERNATE = b"\x1b[?1049h"
_ANEW = b"\x1bc"
_REFUSED = 4404
_LONGEST_REASON = 120  # bytes; a frame that closes a WebSocket has room for 123
_MOST_UNREAD = 1 << 20  # bytes; a browser that is given more than it draws drops some


async def show(socket: WebSocket, session: str, may_type: Callable[[], bool]) -> None:
    """Until the browser leaves or the program ends."""
    await socket.accept(subprotocol=SUBPROTOCOL)
    try:
        holder = await asyncio.to_thread(_dialled, session)
    except IaiError as refused:
        await _hang_up(socket, refused)
        return
    reader, writer = await asyncio.open_unix_connection(sock=holder.socket)
    terminal = _Terminal(socket, reader, writer, may_type)
    ways = [asyncio.create_task(way) for way in (terminal.prints(), terminal.types())]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        outcomes = await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        await asyncio.to_thread(holder.close)
        await _hang_up(socket, next((one for one in outcomes if isinstance(one, IaiError)), None))


async def _hang_up(socket: WebSocket, refused: IaiError | None) -> None:
    """For good if it was refused; the page tries again where a machine was only away."""
    if refused is None or isinstance(refused, RemoteFailed | TimedOut):
        await socket.close()
    else:
        said = refused.message.encode("utf-8", "replace")[:_LONGEST_REASON]
        await socket.close(_REFUSED, said.decode("utf-8", "ignore"))


def _dialled(session: str) -> HolderConnection:
    record = all_sessions.AllSessions().of_id(session)
    if not record.alive:
        raise NotFound(f"session '{session}' has ended")
    return all_sessions.connected(record)


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
        self._begins: HolderState | None = None  # set until the first output after it
        self._behind = 0  # bytes until the browser shows what is there now
        self._unread = 0  # bytes that the browser has not drawn yet
        self._room = asyncio.Event()

    async def prints(self) -> None:
        """Hand on what the holder sends, as fast as the browser draws it. The holder leaves who
        falls too far behind behind.
        """
        decoder = wire.FrameDecoder()
        # Rows 0: who looks does not shape the terminal of who works.
        self._writer.write(wire.frame(wire.ATTACH, wire.pack((wire.SCREEN, 1), (0, 2), (0, 2))))
        anew = True
        while data := await self._reader.read(_READ_SIZE):
            for kind, payload in decoder.feed(data):
                if kind == wire.OUTPUT:
                    await self._print(payload)
                elif kind == wire.STATUS:
                    await self._state(HolderState.parse(payload), anew)
                    anew = False
                elif kind == wire.LOST:
                    anew = True
                    await self._socket.send_bytes(_ANEW)
                elif kind == wire.EXITED:
                    code = wire.unpack(payload, 4)[0]
                    await self._say({"exited": True, "exit_code": code})
                    return

    async def _state(self, state: HolderState, anew: bool) -> None:
        await self._say({"status": state.status, "rows": state.rows, "cols": state.cols})
        if anew:
            self._begins = state
            self._behind = state.head - state.position
            if not self._behind:
                await self._say({"live": True})

    async def _print(self, output: bytes) -> None:
        state, self._begins = self._begins, None
        if state is not None and began_on_alternate(output, state.alternate):
            await self._socket.send_bytes(_TO_ALTERNATE)
        while self._unread > _MOST_UNREAD:
            self._room.clear()
            await self._room.wait()
        self._unread += len(output)
        await self._socket.send_bytes(output)
        if self._behind > 0:
            self._behind -= len(output)
            if self._behind <= 0:
                await self._say({"live": True})

    async def types(self) -> None:
        """Take what the browser sends: keys as bytes; as JSON a new size, and how much it drew."""
        while message := await self._socket.receive():
            keys, said = message.get("bytes"), message.get("text")
            told = _told(said) if said else {}
            if isinstance(drawn := told.get("read"), int):
                self._unread = max(0, self._unread - drawn)
                self._room.set()
            elif not self._may_type():
                await self._say({"keyboard": False})
            elif keys:
                await self._typed(keys)
            else:
                self._resize(told.get("resize"))

    async def _typed(self, keys: bytes) -> None:
        size = wire.MAX_PAYLOAD - 4
        for at in range(0, len(keys), size):
            self._writer.write(wire.frame(wire.INPUT, wire.pack((0, 4)) + keys[at : at + size]))
            await self._writer.drain()  # a program that reads slowly slows who pastes

    def _resize(self, wanted: object) -> None:
        match wanted:
            case [int(rows), int(cols)] if 0 < rows <= LARGEST and 0 < cols <= LARGEST:
                self._writer.write(wire.frame(wire.RESIZE, wire.pack((rows, 2), (cols, 2))))

    async def _say(self, what: dict[str, object]) -> None:
        await self._socket.send_text(json.dumps(what))


def _told(said: str) -> dict[str, object]:
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
