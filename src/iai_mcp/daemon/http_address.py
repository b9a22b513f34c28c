"""Where MCP over HTTP listens and what its callers have to know. Standard library only."""

import contextlib
import ipaddress
import os
import secrets
import socket

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput, IoFailed

TOKEN_NAME = "http-token"  # noqa: S105 - the name of a file


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
