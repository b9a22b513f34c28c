"""Opens the HTTP door beside the socket when the settings say so, and only then loads it."""

import asyncio
import logging
import socket
from collections.abc import Mapping
from functools import partial

from iai_mcp.daemon import mcp_session
from iai_mcp.daemon.connection import with_context
from iai_mcp.daemon.http_address import listener, listens_on
from iai_mcp.daemon.socket_server import SocketServer
from iai_mcp.domain.errors import IoFailed

_log = logging.getLogger(__name__)


def start(server: SocketServer, kept: socket.socket | None = None) -> list[asyncio.Task[None]]:
    """The door's task; none when it is off or its port is taken.

    Args:
        kept: where the process before us listened. It is used if that is still what is wanted.

    Raises:
        InvalidInput: the address is not one of loopback. A daemon must not start half open.
    """
    if kept is not None and not listens_on(kept, server.settings.http):
        kept.close()
        kept = None
    if not server.settings.http:
        return []
    try:
        listening = kept or listener(server.settings.http)
    except IoFailed as taken:
        # The socket serves all the same: one busy port must not cost everybody their memory.
        _log.error("http_not_served", extra={"reason": taken.message})
        return []
    work, end = partial(_serve, server, listening), partial(_leave, server, listening)
    return [server.tasks.keep("http", work, end=end)]


async def _serve(server: SocketServer, listening: socket.socket) -> None:
    lane = server.pool.lane()  # one for all of them: a request does not tell which client it is of

    async def call(
        method: str, params: dict[str, object], context: Mapping[str, str]
    ) -> dict[str, object]:
        return await server.call(lane, method, with_context(method, params, context))

    loop = asyncio.get_running_loop()
    # In a thread: the library takes a second to import, and the socket answers meanwhile.
    door = await loop.run_in_executor(None, mcp_session.load, "iai_mcp.daemon.http")
    # Ours stays open: who dials while one try, or one daemon, follows another waits in the queue.
    await door.serve(listening.dup(), call, server.shutdown_event)


async def _leave(server: SocketServer, listening: socket.socket) -> None:
    if server.keep_listening:
        server.http_kept = listening.detach()
    listening.close()
