"""Who is at the other end of a Unix socket."""

import socket
import struct


def peer_uid(connection: socket.socket) -> int | None:
    """The user id of the connected process; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):  # Linux
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", raw)[1])
    # macOS: struct xucred begins with a version and the user id; SOL_LOCAL is 0.
    local_peercred = getattr(socket, "LOCAL_PEERCRED", None)
    if local_peercred is None:
        return None
    raw = connection.getsockopt(0, local_peercred, 76)
    return int(struct.unpack_from("2I", raw)[1])
