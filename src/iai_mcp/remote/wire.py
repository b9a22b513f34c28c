"""Messages between here and there: four bytes of length, then one JSON object. Used on both sides."""

import json
import os
import select
import time
from typing import BinaryIO

Json = dict[str, object]
# The largest file of the `FileSystem` port, or all that a session still holds, in base64, and room.
LARGEST = 8 * 1024 * 1024


class WireError(ValueError):
    """The other side does not speak this protocol."""


def pack(message: Json) -> bytes:
    data = json.dumps(message, ensure_ascii=True).encode()
    if len(data) > LARGEST:
        raise WireError(f"a message has at most {LARGEST} bytes, and this one {len(data)}")
    return len(data).to_bytes(4, "big") + data


def receive(source: BinaryIO) -> Json | None:
    """The next message; None at the end, be it in the middle of one."""
    head = source.read(4)
    if len(head) < 4:
        return None
    size = int.from_bytes(head, "big")
    if size > LARGEST:
        raise WireError("the other side says something else")
    data = source.read(size)
    if len(data) < size:
        return None
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as bad:
        raise WireError("the other side says something else") from bad
    if not isinstance(message, dict):
        raise WireError("the other side says something else")
    return message


def is_ready(descriptor: int, event: int, deadline: float) -> bool:
    """Whether `event` of `select.poll` came at the descriptor before the deadline, or its end did."""
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    return left > 0 and bool(poll.poll(left * 1000))


def send(descriptor: int, data: bytes, deadline: float) -> bool:
    """Write all of it to a pipe; False when the other side did not read it in time.

    Raises:
        OSError: it has gone.
    """
    rest = memoryview(data)
    while rest:
        if not is_ready(descriptor, select.POLLOUT, deadline):
            return False
        # So much a pipe takes without waiting, once it says that it takes something.
        rest = rest[os.write(descriptor, rest[: select.PIPE_BUF]) :]
    return True
