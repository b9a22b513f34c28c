"""What a session has printed: from its holder while it lives, from its kept tail afterwards."""

import os
import time
from collections.abc import Iterator

from iai_mcp.domain.errors import NotFound, PtyFailed
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import layout
from iai_mcp.terminal.connection import Connection
from iai_mcp.terminal.holder.boundaries import safe_offset
from iai_mcp.terminal.records import SessionRecord

_DEADLINE = 10.0


def raw(record: SessionRecord) -> bytes:
    """Every byte the session still holds, from a safe boundary on."""
    if record.alive:
        try:
            return b"".join(_from_holder(record))
        except NotFound:
            pass  # it ended this moment
    return _from_tail(record)


def _from_holder(record: SessionRecord) -> Iterator[bytes]:
    deadline = time.monotonic() + _DEADLINE
    with Connection(record.socket) as connection:
        state = connection.attach(wire.WHOLE)
        missing = state.head - state.position
        first = state.position > 0
        while missing > 0:
            try:
                frame = connection.receive(deadline)
            except TimeoutError as silent:
                raise PtyFailed("the session's holder does not answer") from silent
            if frame is None or frame[0] == wire.LOST:
                return  # it floods: what came before is still in order
            if frame[0] == wire.OUTPUT:
                missing -= len(frame[1])
                yield frame[1][safe_offset(frame[1]) :] if first else frame[1]
                first = False


def _from_tail(record: SessionRecord) -> bytes:
    path = layout.tail_path(record.id)
    if not path or not layout.is_ours(os.path.dirname(path)) or not os.path.exists(path):
        return b""
    with open(path, "rb") as source:
        return source.read()
