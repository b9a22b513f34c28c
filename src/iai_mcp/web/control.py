"""How commands reach the page's process: one line of JSON each way, over a socket of this user's.

The standard library alone: `iai-mcp page` has to be quick.
"""

import json
import socket

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput, IoFailed
from iai_mcp.protocol import peers

_TIMEOUT_SECONDS = 10.0
LONGEST = 4096


def ask(wanted: str, tunnel: int = 0) -> dict[str, object] | None:
    """What the page answers to `open` or `close`; None where there is none.

    `tunnel` is the port at which browsers elsewhere have it, for an address that they can use.

    Raises:
        NotOurs: another user listens in its place.
        IoFailed: it does not answer.
        InvalidInput: its socket's path is too long.
    """
    path = paths.page_socket_path()
    problem = paths.socket_path_problem(path)
    if problem:
        raise InvalidInput(problem)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_TIMEOUT_SECONDS)
        try:
            peers.connect(connection, path)
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        try:
            connection.sendall(json.dumps({"do": wanted, "tunnel": tunnel}).encode() + b"\n")
            said = connection.makefile("rb").readline(LONGEST)
        except TimeoutError as silent:
            raise IoFailed("the page does not answer: end its process and try again") from silent
        except ConnectionError:
            return None  # it was just going
    try:
        answer = json.loads(said)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
