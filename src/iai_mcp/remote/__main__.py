"""Runs on the other machine: `serve MARK HOME MACHINE` answers calls, `dial MARK SOCKET` is a proxy for a socket.

Run by its path with `-I -S`: nothing of that machine's Python but its standard library is used.
"""

import os
import select
import socket
import sys

_ROOT = os.path.abspath(__file__).rsplit("/", 3)[0]
_PIECE = 262_144  # bytes passed on at a time


def main() -> None:
    if _ROOT not in sys.path:
        sys.path.insert(0, _ROOT)
    # A far .pth or a project's own `json.py` can not reach us: isolated, and no current directory.
    if sys.argv[1] == "dial":
        join(sys.argv[2], sys.argv[3])
        return
    from iai_mcp.remote.rpc_server import serve

    serve(mark=sys.argv[2], home_id=sys.argv[3], machine=sys.argv[4])


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


if __name__ == "__main__":
    main()
