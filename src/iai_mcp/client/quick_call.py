"""One call that must not take long: for hooks, which a person waits behind.

Late or broken answers are no answer. No `json` and no `socket`: the two cost more to import
than the call takes.
"""

import _socket
import time

from iai_mcp import paths
from iai_mcp.protocol import peers
from iai_mcp.protocol.compact_json import dumps, loads

_LONGEST_ANSWER = 1024 * 1024


def ask(method: str, params: dict[str, object], within: float) -> dict[str, object] | None:
    """The method's result, or None when the daemon is down, refuses, or takes too long."""
    deadline = time.monotonic() + within
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(within)
        peers.connect(connection, paths.socket_path())
        connection.sendall(dumps(request).encode("utf-8", "replace") + b"\n")
        answer = loads(read_line(connection, deadline).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    finally:
        connection.close()
    result = answer.get("result") if isinstance(answer, dict) else None
    return result if isinstance(result, dict) else None


def read_line(connection: _socket.socket, deadline: float) -> bytes:
    """The next line, without its end. Raises OSError when it does not come before `deadline`."""
    received = bytearray()
    while b"\n" not in received:
        left = deadline - time.monotonic()
        if left <= 0 or len(received) > _LONGEST_ANSWER:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(65_536)
        if not part:
            raise ConnectionResetError
        received += part
    return bytes(received[: received.index(b"\n")])
