"""One client of the daemon: reads lines, answers each when it is ready, holds nobody up."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from iai_mcp import concurrency
from iai_mcp.adapters.allocator import LARGE
from iai_mcp.api.callers import CALLER
from iai_mcp.api.failures import failure
from iai_mcp.daemon import control, handover, remote_access
from iai_mcp.daemon.client_input import LONG_LINE, Incoming
from iai_mcp.daemon.fair_pool import ClientGone, Place
from iai_mcp.daemon.mcp_session import Large, ParseFailure, serve_session
from iai_mcp.domain.errors import Busy, IaiError
from iai_mcp.memory.scoping import AGENT, REMOTE
from iai_mcp.protocol import messages
from iai_mcp.protocol.codes import FAILED
from iai_mcp.protocol.frames import Oversize
from iai_mcp.protocol.mcp import AGENTS_METHOD

if TYPE_CHECKING:
    from iai_mcp.daemon.socket_server import SocketServer

_log = logging.getLogger(__name__)

_CHUNK = 1 << 16
UNPARSED = object()
_ENDED = "the daemon ended before this was done, and some of it may be done: ask again"
# Reading a longer line takes milliseconds, in which the loop would answer nobody.
_PARSED_ASIDE = 1 << 15


class Connection:
    """Routes each line by its shape. At most a bounded number of calls is in flight."""

    def __init__(
        self,
        server: "SocketServer",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_remote: bool = False,
    ) -> None:
        self._server = server
        self._writer = writer
        self._is_remote = is_remote
        self._takes_mcp_only = False  # the bridge of an agent said so
        self._incoming = Incoming(server, reader, self._socket())
        self._sending = asyncio.Lock()
        self._in_a_line = False  # of an answer that is sent in pieces
        self._slots = asyncio.Semaphore(server.settings.calls_per_connection)
        self._lane = server.pool.lane(self._incoming.is_there)
        self._calls: set[asyncio.Task[None]] = set()
        self._large = False  # something large went through since memory was last given back

    async def run(self) -> None:
        """Serve until the client ends or the daemon stops; calls in flight are answered first."""
        try:
            async with contextlib.aclosing(self._incoming.lines()) as lines:
                async for line in lines:
                    long = self._is_long(line)
                    message = await self._parsed(line)
                    del line  # of megabytes, and what was read from it is enough
                    if message is UNPARSED:
                        continue
                    if messages.opens_mcp(message):
                        await self._become_mcp(message, lines)
                        return
                    await self._route(message)
                    del message
                    if long and self._calls:
                        await asyncio.wait(self._calls)
        finally:
            await self._last_answers()
            if self._large:
                self._server.give_back()

    def _is_long(self, line: bytes | Oversize) -> bool:
        length = 0 if isinstance(line, Oversize) else len(line)
        self._large |= length >= LARGE
        return length >= LONG_LINE

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

    def _socket(self) -> socket.socket | None:
        """The socket behind the streams; None for a test's own pair."""
        found: socket.socket | None = self._writer.get_extra_info("socket")
        return found

    async def _parsed(self, line: bytes | Oversize) -> object:
        """The message of a line; UNPARSED when it was answered with a parse error already."""
        if isinstance(line, Oversize):
            await self.send(messages.parse_failure(line.why))
            return UNPARSED
        try:
            return await _parse(line)
        except messages.InvalidJson:
            await self.send(messages.parse_failure())
            return UNPARSED

    async def _route(self, message: object) -> None:
        if self._takes_mcp_only:
            await self.send(messages.invalid_request(message, "this connection takes MCP only"))
            return
        if messages.is_control(message):
            assert isinstance(message, dict)  # noqa: S101 - is_control says so
            await self.send(await self._control(message))
            return
        problem = messages.request_problem(message)
        if problem is not None:
            await self.send(messages.invalid_request(message, problem))
            return
        assert isinstance(message, dict)  # noqa: S101 - a request is an object
        if message["method"] == AGENTS_METHOD:
            self._takes_mcp_only = True
            await self.send(messages.result(message["id"], {"caller": AGENT}))
            return
        is_heir = self._server.may_be_succeeded and message["method"] == handover.METHOD
        if is_heir and not self._is_remote:
            await self._hand_over(message)
            return
        # Waiting here stops reading, so a client that floods us is slowed, not buffered. A first call
        # has room whatever others do.
        room = [self._slots, self._server.calls] if self._calls else [self._slots]
        async with contextlib.AsyncExitStack() as taken:
            for slots in room:
                await taken.enter_async_context(slots)
            task = asyncio.ensure_future(self._answer(message))
            taken.pop_all()  # given back when it is done
        self._calls.add(task)
        task.add_done_callback(partial(self._done, room))

    def _done(self, taken: list[asyncio.Semaphore], task: asyncio.Task[None]) -> None:
        self._calls.discard(task)
        for slots in taken:
            slots.release()
        if self._large and not self._calls:
            self._large = False
            self._server.give_back()
        if not task.cancelled() and task.exception() is not None:
            _log.debug("answer_not_delivered")

    async def _answer(self, request: dict[str, object]) -> None:
        method, request_id = str(request["method"]), request["id"]
        # The place is held until the answer is out: a client that does not read gets no more of them.
        try:
            async with self._lane.place() as place:
                await self._write(await self._answer_line(place, method, request))
        except ClientGone:
            return
        except asyncio.CancelledError:
            self._say_unfinished(request_id)
            raise

    def _say_unfinished(self, request_id: object) -> None:
        """The daemon ends before the call does: say so to who reads, and wait for nobody."""
        if not self._in_a_line and not self._writer.transport.get_write_buffer_size():
            self._writer.write(messages.encode(messages.error(request_id, FAILED, _ENDED, "BUSY")))

    async def _answer_line(self, place: Place, method: str, request: dict[str, object]) -> bytes:
        request_id, params = request["id"], request.get("params") or {}
        try:
            if self._is_remote:
                params = {**remote_access.admitted(method, params), CALLER: REMOTE}
            return await self._server.answer_line(place, method, request_id, params)
        except Exception as error:  # noqa: BLE001 - the daemon lives on
            return messages.encode_bounded(failure(request_id, method, error))

    async def _hand_over(self, request: dict[str, object]) -> None:
        ours = self._socket()
        assert ours is not None  # noqa: S101 - only the daemon itself may be succeeded
        try:
            self._server.succeeded_by(request.get("params"), ours.fileno())
        except IaiError as refused:
            answer = messages.error(request["id"], FAILED, refused.message, refused.code)
        else:
            self._incoming.is_heirs = True
            answer = messages.result(request["id"], {"handing_over": True})
        await self.send(answer)

    async def _call(self, method: str, params: object) -> dict[str, object]:
        """One call of an MCP session."""
        try:
            async with self._sending:  # who does not read its answers gets no more of them
                await self._writer.drain()
            return await self._server.call(self._lane, method, params)
        except (ClientGone, ConnectionError) as gone:
            raise Busy("who asked has left") from gone

    async def send(self, message: object) -> None:
        """Write one line; waits while the client does not read."""
        await self._write(messages.encode_bounded(message))

    async def _write(self, line: bytes) -> None:
        """In pieces: what the transport has to keep of a long line it moves with every byte sent."""
        self._large |= len(line) >= LARGE
        async with self._sending:
            if not self._incoming.is_there():
                raise ConnectionResetError("who asked has left")
            self._in_a_line = True
            for start in range(0, len(line), _CHUNK):
                self._writer.write(line[start : start + _CHUNK])
                await self._writer.drain()
            self._in_a_line = False

    async def _control(self, message: dict[str, object]) -> dict[str, object]:
        if self._is_remote:
            return remote_access.control(message)
        server, state = self._server, self._server.state
        if state is None or server.lock is None:
            return {
                "ok": False,
                "reason": "control_plane_unwired",
                "error": "this server was built without lock and state",
            }
        try:
            wired = control.WiredState(state, server.requests, server.facts)
            # Looked up at each call: an embedder may have replaced it.
            answer = await concurrency._dispatch_socket_request(
                message, server.store, server.lock, wired
            )
            server.note_activity(str(message["type"]))
            server.on_request()
            return answer
        except Exception as broken:  # noqa: BLE001 - the contract: any exception becomes this answer
            _log.exception("control_failed")
            return {"ok": False, "reason": "control_plane_error", "error": type(broken).__name__}

    async def _become_mcp(self, first: object, lines: AsyncIterator[bytes | Oversize]) -> None:
        """From here on the official SDK speaks; the lines keep coming from the same reader."""

        async def receive() -> object:
            async for line in lines:
                if isinstance(line, Oversize):
                    return ParseFailure(line.why)
                long = self._is_long(line)
                try:
                    message = await _parse(line)
                except messages.InvalidJson:
                    return ParseFailure("the line is not JSON")
                return Large(message) if long else message
            return None

        async def call(
            method: str, params: dict[str, object], context: Mapping[str, str]
        ) -> dict[str, object]:
            told = with_context(method, params, context)
            if self._is_remote:
                told = {**remote_access.of_session(method, told), CALLER: REMOTE}
            return await self._call(method, told)

        setting = self._server.settings.mcp_tools
        await serve_session(first, receive, self.send, call, setting)


async def _parse(line: bytes) -> object:
    if len(line) < _PARSED_ASIDE:
        return messages.parse(line)
    return await asyncio.to_thread(messages.parse, line)


def with_context(
    method: str, params: dict[str, object], context: Mapping[str, str]
) -> dict[str, object]:
    """The params of an MCP call with what its bridge knows about the caller.

    Only the bridge states the directory and the agent. A session that the caller names comes first.
    """
    names = ("agent_id", "agent_name", "session_id")
    adds = method in ("memory_capture", "memory_contradict")
    known = {name: context.get(name) for name in names} if adds else {}
    given = {name: value for name, value in params.items() if value is not None}
    return {**known, **given, "cwd": context.get("cwd"), CALLER: AGENT}
