"""Joins stdin and stdout to a session's socket over there: `ssh` carries a holder's own protocol."""

import os
import select
import socket
import sys

_PIECE = 262_144


def join(mark: str, path: str) -> None:
    """Pass bytes both ways until one side ends. A line with `mark` goes before the first of them."""
    from iai_mcp.paths import NotOurs
    from iai_mcp.protocol import peers
    from iai_mcp.terminal.scheduling import be_prompt

    holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        peers.connect(holder, path)
    except (OSError, NotOurs):
        sys.exit(1)
    be_prompt()
    os.write(1, f"\n{mark}\n".encode())
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(holder, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                piece = os.read(0, _PIECE)
                if not piece:
                    return
                holder.sendall(piece)
            else:
                piece = holder.recv(_PIECE)
                if not piece:
                    return
                _write(piece)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]
