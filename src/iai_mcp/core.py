"""`dispatch`, the one function behind every transport, under the name that other programs import.

`python -m iai_mcp.core` serves JSON-RPC lines on stdin and stdout. Where a daemon serves the store,
calls go to it: the store has one owner.
"""

import sys
from collections.abc import Callable, Iterable
from typing import BinaryIO

from iai_mcp.api.failures import failure
from iai_mcp.api.table import UnknownMethodError, dispatch
from iai_mcp.client import connection
from iai_mcp.concurrency import ProcessLock
from iai_mcp.domain.errors import Busy, IaiError
from iai_mcp.domain.shown_text import shown
from iai_mcp.protocol import messages
from iai_mcp.store import MemoryStore

__all__ = ["UnknownMethodError", "dispatch"]

_CALL_SECONDS = 120.0

Call = Callable[[str, object], object]


def main() -> int:
    """Serve until stdin ends. The exit code says whether the store could be opened."""
    try:
        return _serve_store()
    except IaiError as refused:
        sys.stderr.write(f"iai-mcp core: {shown(refused.message)}\n")
        return 1


def serve(call: Call, lines: Iterable[bytes], out: BinaryIO) -> None:
    """Answer each line that is not blank."""
    for line in lines:
        if line.strip():
            out.write(messages.encode_bounded(_answer(call, line)))
            out.flush()


def _serve_store() -> int:
    lock = ProcessLock()
    try:
        if lock.try_acquire_exclusive():
            store = MemoryStore()
            try:
                serve(lambda m, p: dispatch(store, m, p), sys.stdin.buffer, sys.stdout.buffer)
            finally:
                store.close()
        elif connection.is_up():
            serve(_over_socket, sys.stdin.buffer, sys.stdout.buffer)
        else:
            raise Busy(
                f"another process (pid {lock.holder()}) holds the store and does not answer on the "
                "socket: wait for it, or end it"
            )
    finally:
        lock.close()
    return 0


def _over_socket(method: str, params: object) -> object:
    given = params if isinstance(params, dict) else {}
    return connection.call(method, given, timeout=_CALL_SECONDS)


def _answer(call: Call, line: bytes) -> messages.Message:
    try:
        request = messages.parse(line)
    except messages.InvalidJson:
        return messages.parse_failure()
    problem = messages.request_problem(request)
    if problem is not None or not isinstance(request, dict):
        return messages.invalid_request(request, problem or "")
    request_id, method = request["id"], str(request["method"])
    try:
        return messages.result(request_id, call(method, request.get("params") or {}))
    except connection.CallFailed as refused:
        return messages.error(request_id, refused.rpc_code, refused.message, refused.code)
    except Exception as error:  # noqa: BLE001 - dispatch: whoever waits gets an answer
        return failure(request_id, method, error)


if __name__ == "__main__":
    raise SystemExit(main())
