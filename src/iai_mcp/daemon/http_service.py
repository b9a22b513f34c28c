"""The HTTP door beside the socket: where it listens, what its callers have to know, and its task.

Nothing heavy is imported here; the door itself is loaded when the settings want it.
"""

import asyncio
import contextlib
import ipaddress
import logging
import os
import secrets
import socket
from collections.abc import Mapping
from functools import partial

from iai_mcp import paths
from iai_mcp.daemon import mcp_session
from iai_mcp.daemon.connection import with_context
from iai_mcp.daemon.socket_server import SocketServer
from iai_mcp.domain.errors import InvalidInput, IoFailed

_log = logging.getLogger(__name__)

TOKEN_NAME = "http-token"  # noqa: S105 - the name of a file


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
    setting = server.settings.mcp_tools
    await door.serve(listening.dup(), call, server.shutdown_event, setting)


async def _leave(server: SocketServer, listening: socket.socket) -> None:
    if server.keep_listening:
        server.http_kept = listening.detach()
    listening.close()


def listener(setting: str) -> socket.socket:
    """A listening socket for HOST:PORT; port 0 takes any that is free.

    Raises:
        InvalidInput: not HOST:PORT, or the host is not loopback.
        IoFailed: the port is taken.
    """
    address, number = _address(setting)
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        return socket.create_server((str(address), number), family=family)
    except OSError as taken:
        raise IoFailed(
            f"{setting} can not be listened on ({taken.strerror}): set IAI_MCP_HTTP to a free port"
        ) from taken


def listens_on(there: socket.socket, setting: str) -> bool:
    """Whether a socket listens where the setting wants it.

    Raises:
        InvalidInput: as `listener`.
    """
    if not setting:
        return False
    address, number = _address(setting)
    host, port = there.getsockname()[:2]
    return ipaddress.ip_address(host) == address and number in (0, port)


def host_names(address: str, port: int) -> list[str]:
    """What a client that dials a loopback address writes as `Host`."""
    own = f"[{address}]" if ":" in address else address
    hosts = dict.fromkeys((own, "127.0.0.1", "localhost", "[::1]"))
    # The port goes without saying where it is HTTP's own.
    return [f"{host}:{port}" for host in hosts] + (list(hosts) if port == 80 else [])


def _address(setting: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    host, _, port = setting.rpartition(":")
    host = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address, number = ipaddress.ip_address(host), int(port)
    except ValueError:
        raise InvalidInput(f"IAI_MCP_HTTP must be 127.0.0.1:PORT, not {setting!r}") from None
    if not address.is_loopback or not 0 <= number <= 65535:
        raise InvalidInput(f"IAI_MCP_HTTP serves loopback only: 127.0.0.1:PORT, not {setting!r}")
    return address, number


def token() -> str:
    """The secret that clients have to send; made at the first use, kept in a 0600 file."""
    path = paths.in_user_data(TOKEN_NAME)
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o600)
        if known := file.read().strip():
            return known
    made = secrets.token_urlsafe(32)
    fresh = f"{path}.{os.getpid()}.new"
    paths.private_dir(paths.user_data())
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(made + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    return made
