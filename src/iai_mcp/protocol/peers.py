"""Who is at the other end of a Unix socket.

`_socket` instead of `socket`: hooks, bridges and holders pay for every import.
"""

import _socket
import os
import sys

from iai_mcp.paths import ELSEWHERE, NotOurs

_MACOS_LOCAL_PEERCRED = 1  # sys/un.h; the answer is a struct xucred: version u32, uid u32, ...


def connect(connection: _socket.socket, path: str, instead: str = ELSEWHERE) -> None:
    """Dial `path`. Whoever listens there is of our own user: nothing was said to anybody else.

    Not even to root: no daemon of root's answers other users, so that nothing good could come of it.

    Raises:
        NotOurs: another user listens there; `instead` ends the sentence, as what to do.
        OSError: nobody does.
    """
    connection.connect(path)
    uid = peer_uid(connection)
    if uid != os.geteuid():
        raise NotOurs(
            f"another user (uid {uid}) listens on {path}, and nothing was said to them: {instead}"
        )


def peer_uid(connection: _socket.socket) -> int:
    """The user of the process that connected, or that listened when we did, by the kernel's word."""
    if sys.platform == "linux":
        credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:
        credentials = connection.getsockopt(0, _MACOS_LOCAL_PEERCRED, 76)
    return int.from_bytes(credentials[4:8], sys.byteorder)
