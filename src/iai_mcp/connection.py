"""One client of the daemon: reads lines, answers each when it is ready, holds nobody up."""

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING

from iai_mcp.adapters.allocator import LARGE
from iai_mcp.core import UnknownMethodError
from iai_mcp.daemon import control, succession
from iai_mcp.daemon.mcp_session import ParseFailure, serve_session
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.memory.scoping import VISITOR
from iai_mcp.protocol import messages
from iai_mcp.protocol.codes import FAILED, INVALID_PARAMS, MAX_LINE, UNKNOWN_METHOD
from iai_mcp.protocol.frames import LineDecoder, Oversize

if TYPE_CHECKING:
    from iai_mcp.socket_server import SocketServer

_log = logging.getLogger(__name__)

_CHUNK = 1 << 16
UNPARSED = object()
_ENDED = "the daemon ended before this was done, and some of it may be done: ask again"
# How long after dialling the first line may still come when the daemon ends.
_FIRST_WORD_SECONDS = 0.1
# What has been sent is here already: this is for a machine that is busy.
_LAST_WORDS_SECONDS = 1.0


class Connection:
    """Routes each line by its shape. At most a bounded number of calls is in flight."""

    def __init__(
        self, server: "SocketServer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._decoder = LineDecoder()
        self._sending = asyncio.Lock()
        self._slots = asyncio.Semaphore(server.settings.calls_per_connection)
        self._share = asyncio.Semaphore(max(1, server.settings.workers // 2))
        self._calls: set[asyncio.Task[None]] = set()
        self._large = False  # something large went through since memory was last given back
        self._began = time.monotonic()
        self._heard = False
        self._cut = False  # nothing more can be sent to us
        self._is_heirs = False  # at the other end is who takes our place: it is not cut off

    async def run(self) -> None:
        """Serve until the client ends or the daemon stops; calls in flight are answered first."""
        try:
            async with contextlib.aclosing(self._lines()) as lines:
                async for line in lines:
                    message = await self._parsed(line)
                    if message is UNPARSED:
                        continue
                    if messages.opens_mcp(message):
                        await self._become_mcp(message, lines)
                        return
                    await self._route(message)
        finally:
            await self._last_answers()
            if self._large:
                self._server.give_back()

    async def _last_answers(self) -> None:
        """Wait for the calls in flight; whoever cancels us does not want to wait for them."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            self._drop_calls()
        try:
            if self._calls:
                await asyncio.wait(self._calls)
        except asyncio.CancelledError:
            self._drop_calls()
            if self._calls:
                await asyncio.wait(self._calls)  # for their last word, which waits for nobody
            raise

    def _drop_calls(self) -> None:
        for call in self._calls:
            call.cancel()

    async def _lines(self) -> AsyncGenerator[bytes | Oversize, None]:
        stopping = asyncio.ensure_future(self._server.shutdown_event.wait())
        try:
            while True:
                reading = asyncio.ensure_future(self._reader.read(_CHUNK))
                await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done() and not await self._last_words(reading):
                    reading.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await reading
                    return
                data = reading.result()
                self._heard = True
                if not data and self._cut:
                    return  # half a line that we cut off is no line
                for line in self._decoder.feed(data) if data else self._decoder.finish():
                    self._large |= not isinstance(line, Oversize) and len(line) >= LARGE
                    yield line
                if not data:
                    return
        finally:
            stopping.cancel()

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
        ours = self._socket()
        if ours is None or self._is_heirs:
            return False
        with contextlib.suppress(OSError):  # it has gone by itself
            ours.shutdown(socket.SHUT_RD)
        return True

    def _socket(self) -> socket.socket | None:
        """The socket behind the streams; None for a test's own pair."""
        found: socket.socket | None = self._writer.get_extra_info("socket")
        return found

    async def _parsed(self, line: bytes | Oversize) -> object:
        """The message of a line; UNPARSED when it was answered with a parse error already."""
        if isinstance(line, Oversize):
            await self.send(messages.parse_failure(oversize=True))
            return UNPARSED
        try:
            return messages.parse(line)
        except messages.NotJson:
            await self.send(messages.parse_failure())
            return UNPARSED

    async def _route(self, message: object) -> None:
        if messages.is_control(message):
            assert isinstance(message, dict)  # noqa: S101 - is_control says so
            await self.send(self._control(message))
            return
        problem = messages.request_problem(message)
        if problem is not None:
            await self.send(messages.invalid_request(message, problem))
            return
        assert isinstance(message, dict)  # noqa: S101 - a request is an object
        if self._server.may_be_succeeded and message["method"] == succession.METHOD:
            await self._hand_over(message)
            return
        # Waiting here stops reading, so a client that floods us is slowed, not buffered.
        await self._slots.acquire()
        task = asyncio.ensure_future(self._answer(message))
        self._calls.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._calls.discard(task)
        self._slots.release()
        if self._large and not self._calls:
            self._large = False
            self._server.give_back()
        if not task.cancelled() and task.exception() is not None:
            _log.debug("answer_not_delivered")

    async def _answer(self, request: dict[str, object]) -> None:
        method, request_id = str(request["method"]), request["id"]
        # The share is held until the answer is out: a client that does not read gets no more of them.
        try:
            async with self._share:
                line = await self._answer_line(method, request_id, request.get("params"))
                await self._write(line)
        except asyncio.CancelledError:
            self._say_unfinished(request_id)
            raise

    def _say_unfinished(self, request_id: object) -> None:
        """The daemon ends before the call does: say so to who reads, and wait for nobody."""
        if not self._writer.transport.get_write_buffer_size():
            self._writer.write(messages.encode(messages.error(request_id, FAILED, _ENDED, "BUSY")))

    async def _answer_line(self, method: str, request_id: object, params: object) -> bytes:
        try:
            return await self._server.answer_line(method, request_id, params)
        except UnknownMethodError:
            answer = messages.error(request_id, UNKNOWN_METHOD, f"unknown method '{method}'")
        except InvalidInput as bad:
            answer = messages.error(request_id, INVALID_PARAMS, bad.message, bad.code)
        except IaiError as failed:
            answer = messages.error(request_id, FAILED, failed.message, failed.code)
        except Exception as broken:  # noqa: BLE001 - the daemon lives on; the log says where, never what was said
            _log.exception("call_failed", extra={"method": method})
            answer = messages.error(
                request_id, FAILED, f"{method} failed inside ({type(broken).__name__})", "INTERNAL"
            )
        return messages.encode_bounded(answer)

    async def _hand_over(self, request: dict[str, object]) -> None:
        ours = self._socket()
        assert ours is not None  # noqa: S101 - only the daemon itself may be succeeded
        try:
            self._server.succeeded_by(request.get("params"), ours.fileno())
        except IaiError as refused:
            answer = messages.error(request["id"], FAILED, refused.message, refused.code)
        else:
            self._is_heirs = True
            answer = messages.result(request["id"], {"handing_over": True})
        await self.send(answer)

    async def _call(self, method: str, params: object) -> dict[str, object]:
        """One call on the daemon's pool. No client gets more than half of the pool for itself."""
        async with self._share:
            return await self._server.call(method, params)

    async def send(self, message: object) -> None:
        """Write one line; waits while the client does not read."""
        await self._write(messages.encode_bounded(message))

    async def _write(self, line: bytes) -> None:
        self._large |= len(line) >= LARGE
        async with self._sending:
            self._writer.write(line)
            await self._writer.drain()

    def _control(self, message: dict[str, object]) -> dict[str, object]:
        if self._server.state is None:
            return {
                "ok": False,
                "reason": "control_plane_unwired",
                "error": "this server was built without lock and state",
            }
        try:
            answer = control.answer(message, self._server.state, self._server.facts)
            self._server.note_activity(str(message["type"]))
            self._server.on_request()
            return answer
        except Exception as broken:  # noqa: BLE001 - the contract: any exception becomes this answer
            _log.exception("control_failed")
            return {"ok": False, "reason": "control_plane_error", "error": type(broken).__name__}

    async def _become_mcp(self, first: object, lines: AsyncIterator[bytes | Oversize]) -> None:
        """From here on the official SDK speaks; the lines keep coming from the same reader."""

        async def receive() -> object:
            async for line in lines:
                if isinstance(line, Oversize):
                    return ParseFailure(f"the line is longer than {MAX_LINE} bytes")
                try:
                    return messages.parse(line)
                except messages.NotJson:
                    return ParseFailure("the line is not JSON")
            return None

        async def call(
            method: str, params: dict[str, object], context: Mapping[str, str]
        ) -> dict[str, object]:
            return await self._call(method, with_context(method, params, context))

        await serve_session(first, receive, self.send, call)


def with_context(
    method: str, params: dict[str, object], context: Mapping[str, str]
) -> dict[str, object]:
    """The params of an MCP call with what its bridge knows about the caller.

    Where it is, nobody but the bridge may say. What is captured also learns by whom, unless the
    caller says so.
    """
    names = ("agent_id", "agent_name", "session_id", "project", "host")
    known = {name: context.get(name) for name in names} if method == "memory_capture" else {}
    given = {name: value for name, value in params.items() if value is not None}
    return {**known, **given, "cwd": context.get("cwd"), VISITOR: True}
