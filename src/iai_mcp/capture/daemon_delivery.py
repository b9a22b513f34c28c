"""Giving turns to a daemon that answers: one connection, a few calls, never too long."""

import _socket  # `socket` is eight milliseconds of enums around the same thing
import time

from iai_mcp import paths
from iai_mcp.capture import hook_log
from iai_mcp.client.quick_call import read_line
from iai_mcp.protocol import peers
from iai_mcp.protocol.compact_json import dumps, loads

CONNECT_WITHIN = 0.25  # seconds: a daemon that is up accepts at once

# A call's line may have 16 MiB. Small parts are acknowledged early: less to repeat after a failure.
_PART_BYTES = 4 * 1024 * 1024
_PART_TURNS = 500
_LONGEST_CALL = 15 * 1024 * 1024
_COUNTS = ("inserted", "duplicates", "skipped", "errors")

# (the turn's session if it is not the capture's own, the turn as JSON)
Packed = tuple[str | None, bytes]


class DeliveryOutcome:
    """What the daemon took, and what is left for the spool."""

    __slots__ = ("counts", "left", "problem")

    def __init__(self, left: list[Packed], problem: str | None = None) -> None:
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.left = left
        self.problem = problem


def hand_over(header: dict[str, object], turns: list[Packed], deadline: float) -> DeliveryOutcome:
    """Deliver `turns` until `deadline` (monotonic). What was not acknowledged is left over."""
    try:
        connection = _dial(deadline)
    except paths.NotOurs as stranger:
        hook_log.note(stranger.sentence)
        return DeliveryOutcome(turns, stranger.sentence)
    except OSError as refused:
        return DeliveryOutcome(turns, f"no daemon: {refused.strerror or 'it does not answer'}")
    outcome = DeliveryOutcome([])
    try:
        for number, part in enumerate(parts(turns)):
            if outcome.problem is None:
                outcome.problem = _deliver(connection, header, part, number, deadline, outcome)
            if outcome.problem is not None:
                outcome.left += part
    finally:
        connection.close()
    return outcome


def parts(turns: list[Packed]) -> "list[list[Packed]]":
    """The turns in calls of moderate size, each of one session. Too long a turn stands alone."""
    found: list[list[Packed]] = []
    size = 0
    for turn in turns:
        length = len(turn[1])
        full = size + length > _PART_BYTES or (found and len(found[-1]) >= _PART_TURNS)
        if not found or full or found[-1][0][0] != turn[0]:
            found.append([])
            size = 0
        found[-1].append(turn)
        size += length
    return found


def _dial(deadline: float) -> _socket.socket:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(max(0.001, min(CONNECT_WITHIN, deadline - time.monotonic())))
        peers.connect(connection, paths.socket_path())
    except BaseException:
        connection.close()
        raise
    return connection


def _deliver(
    connection: _socket.socket,
    header: dict[str, object],
    part: list[Packed],
    number: int,
    deadline: float,
    outcome: DeliveryOutcome,
) -> str | None:
    """Make one call. None when the daemon has stored the part, else what was in the way."""
    call = request(header, part, number)
    if len(call) > _LONGEST_CALL:
        return "a turn is longer than a call may be"
    try:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        connection.sendall(call)
        answer = loads(read_line(connection, deadline).decode("utf-8", "replace"))
    except OSError as refused:
        return f"the daemon stopped answering: {refused.strerror or type(refused).__name__}"
    except ValueError:
        return "something else answers on the socket"
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict):
        return "the daemon refused"
    for name in _COUNTS:
        count = result.get(name)
        outcome.counts[name] += count if isinstance(count, int) else 0
    return None


def request(header: dict[str, object], part: list[Packed], number: int) -> bytes:
    """The line of one `capture_events` call."""
    params = dict(header)
    if part[0][0] is not None:
        params["session_id"] = part[0][0]
    call = {"jsonrpc": "2.0", "id": number, "method": "capture_events", "params": params}
    # The turns are JSON already: they go in where the empty list ends.
    opening = dumps(call | {"params": params | {"events": []}}).encode("utf-8", "replace")
    return opening[: -len("]}}")] + b",".join(turn for _, turn in part) + b"]}}\n"
