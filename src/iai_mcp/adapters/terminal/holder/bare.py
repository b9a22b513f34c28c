"""The C halves of `socket` and `signal`, without the enums around them.

Both wrappers import `enum`, which costs every holder 0.8 MB of private memory.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
else:
    import _signal as signal
    import _socket as socket

__all__ = ["same_user", "signal", "socket"]

_MACOS_LOCAL_PEERCRED = 1  # sys/un.h; the answer is a struct xucred: version u32, uid u32, ...


def same_user(connection: "socket.socket", uid: int) -> bool:
    """Whether the process at the other end runs as `uid`, by the kernel's word."""
    import sys

    if sys.platform == "linux":
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    else:
        credentials = connection.getsockopt(0, _MACOS_LOCAL_PEERCRED, 76)
    return int.from_bytes(credentials[4:8], sys.byteorder) == uid
