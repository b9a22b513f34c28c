"""A connection that asked for MCP: from here the official SDK speaks.

Standard library only, so that the socket server may import it before the SDK is there.
`load` brings the SDK in (a second, tens of megabytes); the daemon runs it in the background,
and a session that arrives earlier waits for it.
"""

import asyncio
import importlib
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from iai_mcp.protocol.codes import FAILED

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """Stands for a line that was no JSON or too long; `message` says which."""

    message: str


@dataclass(frozen=True, slots=True)
class Large:
    """Stands for a message of megabytes: no other is received until it was answered."""

    message: object


Context = Mapping[str, str]
Receive = Callable[[], Awaitable[object]]
Send = Callable[[dict[str, object]], Awaitable[None]]
Call = Callable[[str, dict[str, object], Context], Awaitable[dict[str, object]]]


# The SDK's modules import each other in circles: two threads that enter at different ends
# deadlock, and the interpreter fails one of them. Whatever needs the SDK comes through `load`.
_one_at_a_time = threading.Lock()


def load(name: str = "iai_mcp.daemon.mcp_server") -> ModuleType:
    """Import what speaks MCP, once; blocks until it is there. Call it from a thread."""
    with _one_at_a_time:
        return importlib.import_module(name)


@cache
def _loader() -> ThreadPoolExecutor:
    # One thread: however many sessions wait for the import, only one does the work.
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="mcp-load")


async def serve_session(
    first: object, receive: Receive, send: Send, call: Call, mcp_tools: str = "models"
) -> None:
    """Serve one MCP session until the client is done.

    Args:
        first: the message that made this connection an MCP session, parsed.
        receive: the next parsed message, `Large` around one, a `ParseFailure`, or None when no
            more will come.
            Calls in flight then have a short while to end, and their answers are sent.
        send: writes one message; an `OSError` from it ends the session at once.
        call: one method of the core with its params and who is calling. It raises what core
            raises, and is cancelled when the client cancels or is gone.
        mcp_tools: the setting that says which tools are listed.
    """
    try:
        server = await asyncio.get_running_loop().run_in_executor(_loader(), load)
    except ImportError as missing:
        logger.error("the MCP library can not be loaded", extra={"module_name": missing.name})  # noqa: TRY400 - the name says it all
        await _refuse(first, send)
        return
    await server.serve(first, receive, send, call, mcp_tools)


async def _refuse(first: object, send: Send) -> None:
    identity = first.get("id") if isinstance(first, dict) else None
    message = "the MCP library can not be loaded; reinstall iai-mcp (iai-mcp doctor says more)"
    await send({"jsonrpc": "2.0", "id": identity, "error": {"code": FAILED, "message": message}})
