"""The official SDK's server over one connection. Importing this module imports the SDK.

Messages come and go as parsed JSON; the SDK owns the protocol: versions, ids, cancellation.
What is ours is the door of each tool, how errors are numbered, and how much may be in flight.
"""

import logging
from collections.abc import Callable

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from iai_mcp import __version__
from iai_mcp.api.tools import answer, checked, method_and_params
from iai_mcp.daemon.mcp_session import Call, Context, Large, ParseFailure, Receive, Send
from iai_mcp.domain.errors import IaiError, InvalidInput
from iai_mcp.protocol import mcp as identity
from iai_mcp.protocol.codes import FAILED, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from iai_mcp.protocol.tools import listed

logger = logging.getLogger(__name__)

# More than any host sends at once; the rest of a flood waits in the client's own buffers.
MAX_IN_FLIGHT = 64
# How long calls may go on once no more messages will come. A daemon has 5 s to stop in all.
GRACE_SECONDS = 3.0

_TEXT_ONLY = frozenset({"2024-11-05", "2025-03-26"})

RequestContext = ServerRequestContext[dict[str, object]]
Inbound = MemoryObjectSendStream[SessionMessage | Exception]
Outbound = MemoryObjectReceiveStream[SessionMessage]


def build_server(
    call: Call, context_of: Callable[[RequestContext], Context], mcp_tools: str
) -> Server:
    """A server whose tools are doors to `call`; `mcp_tools` is the setting that says which it lists."""

    async def list_tools(
        _ctx: RequestContext, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [types.Tool.model_validate(definition) for definition in listed(mcp_tools)]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        text_only = ctx.protocol_version in _TEXT_ONLY
        return await _call_tool(call, params, context_of(ctx), text_only=text_only)

    server: Server = Server(
        identity.SERVER_NAME,
        version=__version__,
        instructions=identity.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # The SDK's tracing: nothing here is measured by others, and every call would pay for it.
    server.middleware.clear()
    return server


def options() -> InitializationOptions:
    """What `initialize` answers. No `listChanged`: the tools never change under a session."""
    return InitializationOptions(
        server_name=identity.SERVER_NAME,
        server_version=__version__,
        capabilities=types.ServerCapabilities(tools=types.ToolsCapability()),
        instructions=identity.INSTRUCTIONS,
    )


async def _call_tool(
    call: Call, params: types.CallToolRequestParams, context: Context, *, text_only: bool
) -> types.CallToolResult:
    try:
        method, arguments = method_and_params(params.name, checked(params.name, params.arguments))
        as_text = arguments.get("format") == "text"
        result = await call(method, arguments, context)
        said = answer(result, text_only=text_only, as_text=as_text)
    except InvalidInput as error:
        raise MCPError(INVALID_PARAMS, error.message, {"code": error.code}) from error
    except IaiError as error:
        raise MCPError(FAILED, error.message, {"code": error.code}) from error
    except MCPError:
        raise
    except Exception as error:  # the door of dispatch: a bug costs one call, not the session
        logger.exception("a tool failed", extra={"tool": params.name})
        message = f"{params.name} failed inside the daemon ({type(error).__name__})"
        raise MCPError(FAILED, message) from error
    return types.CallToolResult(
        content=[types.TextContent(text=said.text)], structured_content=said.structured
    )


async def serve(first: object, receive: Receive, send: Send, call: Call, mcp_tools: str) -> None:
    """See `mcp_session.serve_session`."""
    context = identity.caller_context(first)
    server = build_server(call, lambda _ctx: context, mcp_tools)
    into_sdk, sdk_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sdk_writes, from_sdk = anyio.create_memory_object_stream[SessionMessage](0)
    session = _Session(receive, send)
    async with anyio.create_task_group() as tasks:
        hang_up = tasks.cancel_scope.cancel
        tasks.start_soon(session.inward, first, into_sdk, hang_up)
        tasks.start_soon(session.outward, from_sdk, hang_up)
        await server.run(sdk_reads, sdk_writes, options())
        # The outward pump has ended by itself: the SDK closed its side and nothing is buffered.
        hang_up()


class _Session:
    """Two pumps between a connection and the SDK, and the count of what is in flight."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        # Two pumps write; a line of one must not land inside a line of the other.
        self._pen = anyio.Lock()
        self._in_flight = 0
        self._settled = anyio.Event()

    async def inward(self, first: object, into_sdk: Inbound, hang_up: Callable[[], None]) -> None:
        """Feed the SDK until no more messages come; then let what is in flight end."""
        async with into_sdk:
            message = first
            try:
                while message is not None:
                    alone = isinstance(message, Large)
                    await self._deliver(message, into_sdk)
                    del message
                    await self._wait_below(1 if alone else MAX_IN_FLIGHT)
                    message = await self._receive()
            except OSError:
                hang_up()
                return
            with anyio.move_on_after(GRACE_SECONDS):
                await self._wait_below(1)

    async def outward(self, from_sdk: Outbound, hang_up: Callable[[], None]) -> None:
        """Write what the SDK says; a client that is gone ends the session."""
        async with from_sdk:
            async for item in from_sdk:
                try:
                    await self._write(_plain(item.message))
                except OSError:
                    hang_up()
                    return
                if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                    await self._settle()

    async def _write(self, message: dict[str, object]) -> None:
        async with self._pen:
            await self._send(message)

    async def _deliver(self, message: object, into_sdk: Inbound) -> None:
        if isinstance(message, ParseFailure):
            await self._reject(None, PARSE_ERROR, message.message)
            return
        if isinstance(message, Large):
            message = message.message
        try:
            parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            given = message.get("id") if isinstance(message, dict) else None
            known = given if isinstance(given, str | int) and not isinstance(given, bool) else None
            await self._reject(known, INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            return
        metadata = None
        if isinstance(parsed, types.JSONRPCRequest):
            self._in_flight += 1
            # A cancelled request is never answered: the SDK says so through this hook.
            metadata = ServerMessageMetadata(on_request_unanswered=self._settle)
        await into_sdk.send(SessionMessage(parsed, metadata))

    async def _reject(self, given: str | int | None, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        await self._write({"jsonrpc": "2.0", "id": given, "error": error})

    async def _settle(self) -> None:
        self._in_flight -= 1
        self._settled.set()

    async def _wait_below(self, limit: int) -> None:
        while self._in_flight >= limit:
            self._settled = anyio.Event()
            await self._settled.wait()


def _plain(message: types.JSONRPCMessage) -> dict[str, object]:
    if isinstance(message, types.JSONRPCResponse):
        # The SDK made the result plain already; dumping a long answer again would copy it all.
        return {"jsonrpc": "2.0", "id": message.id, "result": message.result}
    return message.model_dump(by_alias=True, exclude_unset=True, mode="json")
