"""One call to the daemon, blocking: connect, send a line, read the answer, close."""

import json
import os
import socket

from iai_mcp import paths
from iai_mcp.domain.errors import DaemonNotOurs, DaemonUnreachable, IaiError, InvalidInput
from iai_mcp.protocol import peers
from iai_mcp.protocol.codes import INVALID_PARAMS, MAX_LINE
from iai_mcp.protocol.messages import encode

_HINT = "start it with: iai-mcp up"
# How the daemon's answer to `_message` begins if it is a result.
_RESULT = b'{"jsonrpc":"2.0","id":1,"result":'
_FOREIGN = "something that is not iai-mcp answers on the socket"


class CallFailed(IaiError):
    """The daemon answered with an error. `rpc_code` is JSON-RPC's number."""

    code = "FAILED"

    def __init__(self, message: str, rpc_code: int, code: str = "FAILED") -> None:
        super().__init__(message)
        self.rpc_code = rpc_code
        self.code = code


def dial(timeout: float) -> socket.socket:
    """A connected socket to the daemon that the environment names.

    Raises:
        DaemonNotOurs: another user listens in its place.
        DaemonUnreachable: nobody does.
    """
    path = paths.socket_path()
    problem = paths.socket_path_problem(path)
    if problem:
        raise InvalidInput(problem)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        peers.connect(connection, path)
    except paths.NotOurs as stranger:
        connection.close()
        raise DaemonNotOurs(stranger.sentence) from stranger
    except OSError as refused:
        connection.close()
        reason = "is not running" if not os.path.exists(path) else "does not answer"
        raise DaemonUnreachable(f"the memory daemon {reason}; {_HINT}") from refused
    return connection


def exchange(message: dict[str, object], timeout: float) -> dict[str, object]:
    """Send one message and return the one answer."""
    return _exchanged(encode(message), timeout)


def _exchanged(line: bytes, timeout: float) -> dict[str, object]:
    return _parsed(_answer_to(line, timeout))


def _answer_to(line: bytes, timeout: float) -> bytes:
    connection = _sent(line, timeout)
    try:
        return _read_line(connection)
    except OSError as broken:
        raise DaemonUnreachable(f"the memory daemon stopped answering; {_HINT}") from broken
    finally:
        connection.close()


def _parsed(answer: bytes) -> dict[str, object]:
    try:
        parsed = json.loads(answer)
    except ValueError as foreign:
        raise DaemonUnreachable(_FOREIGN) from foreign
    if not isinstance(parsed, dict):
        raise DaemonUnreachable(_FOREIGN)
    return parsed


def call(
    method: str, params: dict[str, object] | None = None, timeout: float = 60.0
) -> dict[str, object]:
    """Call a method and return its result.

    Raises:
        DaemonUnreachable: nothing answers on the socket.
        CallFailed: the daemon answered with an error; InvalidInput for bad params.
    """
    line = encode(_message(method, params or {}))
    if len(line) <= MAX_LINE:
        answer = _exchanged(line, timeout)
    else:
        from iai_mcp.client import large_call

        with large_call.spooled(method, params or {}) as instead:
            answer = exchange(_message(large_call.METHOD, instead), timeout)
    return _result(answer)


def call_unread(method: str, params: dict[str, object], timeout: float) -> bytes:
    """As `call`; the result as the JSON it came as, for who only hands it on.

    Raises:
        DaemonUnreachable, CallFailed, InvalidInput: as `call`.
    """
    answer = _answer_to(encode(_message(method, params)), timeout)
    if answer.startswith(_RESULT) and answer.endswith(b"}\n"):
        return answer[len(_RESULT) : -2]
    return encode(_result(_parsed(answer)))


def _result(answer: dict[str, object]) -> dict[str, object]:
    error = answer.get("error")
    if isinstance(error, dict):
        message, number = str(error.get("message")), int(error.get("code", 0))
        if number == INVALID_PARAMS:
            raise InvalidInput(message)
        data = error.get("data")
        code = str(data.get("code", "FAILED")) if isinstance(data, dict) else "FAILED"
        raise CallFailed(message, number, code)
    result = answer.get("result")
    return result if isinstance(result, dict) else {}


def _message(method: str, params: dict[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def control(kind: str, timeout: float = 5.0, **fields: object) -> dict[str, object]:
    """Send a control message (`status`, `pause`, …) and return the daemon's answer."""
    return exchange({"type": kind, **fields}, timeout)


def is_up(timeout: float = 1.0) -> bool:
    """Whether a daemon answers `status` on the socket."""
    try:
        return bool(control("status", timeout=timeout).get("ok"))
    except (DaemonUnreachable, InvalidInput, ValueError):
        return False


def _sent(line: bytes, timeout: float, *, once_more: bool = True) -> socket.socket:
    """A connection over which the whole line went.

    A line that did not go through whole was not heard: a daemon that takes the place of the one that
    ends at that moment is told it anew.
    """
    connection = dial(timeout)
    try:
        connection.sendall(line)
    except OSError as broken:
        connection.close()
        if once_more and isinstance(broken, ConnectionError):
            return _sent(line, timeout, once_more=False)
        raise DaemonUnreachable(f"the memory daemon stopped answering; {_HINT}") from broken
    return connection


def _read_line(connection: socket.socket) -> bytes:
    parts: list[bytes] = []
    while True:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionError("closed before an answer")
        parts.append(part)
        if part.endswith(b"\n") or b"\n" in part:
            return b"".join(parts)
