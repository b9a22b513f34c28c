"""Opens the HTTP door beside the socket when the settings say so, and only then loads it."""

import asyncio
import importlib
import logging
import socket
import time
from collections.abc import Mapping

from iai_mcp.core import dispatch
from iai_mcp.daemon.http_address import listener
from iai_mcp.domain.errors import IoFailed
from iai_mcp.socket_server import SocketServer

_log = logging.getLogger(__name__)

# Looking on is not activity: it keeps no daemon awake.
_WATCHING = frozenset({"topology", "events_query"})


def start(server: SocketServer) -> list[asyncio.Task[None]]:
    """The door's task; none when it is off or its port is taken.

    Raises:
        InvalidInput: the address is not one of loopback. A daemon must not start half open.
    """
    if not server.settings.http:
        return []
    try:
        listening = listener(server.settings.http)
    except IoFailed as taken:
        # The socket serves all the same: one busy port must not cost everybody their memory.
        _log.error("http_not_served", extra={"reason": taken.message})
        return []
    return [asyncio.create_task(_serve(server, listening), name="http")]


async def _serve(server: SocketServer, listening: socket.socket) -> None:
    loop = asyncio.get_running_loop()

    async def call(
        method: str, params: dict[str, object], _context: Mapping[str, str]
    ) -> dict[str, object]:
        if method not in _WATCHING:
            server.last_activity_ts = time.monotonic()
        async with server.calls:
            return await loop.run_in_executor(server.pool, dispatch, server.store, method, params)

    try:
        door = await loop.run_in_executor(None, importlib.import_module, "iai_mcp.daemon.http")
    except BaseException:
        listening.close()
        raise
    await door.serve(listening, call, server.shutdown_event)
