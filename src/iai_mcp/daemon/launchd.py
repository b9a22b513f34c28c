"""Takes the listening socket from launchd, and passes it on as systemd does.

launchd hands descriptors out through `launch_activate_socket`, once. From here on the socket is
descriptor 3 with LISTEN_FDS and LISTEN_PID, so the rest of the daemon knows one protocol.
"""

import ctypes
import os
import platform
from typing import Any, Protocol

from iai_mcp.adapters.service_units import LAUNCHD_SOCKETS
from iai_mcp.daemon.hibernation import LISTENING

_LIBRARY = "/usr/lib/libSystem.B.dylib"


class Library(Protocol):
    """The two functions of libSystem that are called here."""

    launch_activate_socket: Any  # a C function
    free: Any


def adopt_socket(library: Library | None = None) -> bool:
    """Whether launchd started this process and gave it a socket."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return False  # a service manager has passed one already, or we replaced ourselves
    if library is None:
        library = _system_library()
    if library is None:
        return False
    descriptors = _activated(library)
    if not descriptors:
        return False
    if LISTENING not in descriptors:
        os.dup2(descriptors[0], LISTENING)
    for descriptor in descriptors:
        if descriptor != LISTENING:
            os.close(descriptor)
    os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
    return True


def _system_library() -> Library | None:
    return ctypes.CDLL(_LIBRARY) if platform.system() == "Darwin" else None


def _activated(library: Library) -> list[int]:
    """The descriptors; none where launchd did not start us, or the agent file names no socket."""
    activate = library.launch_activate_socket
    activate.argtypes = [
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.POINTER(ctypes.c_int)),
        ctypes.POINTER(ctypes.c_size_t),
    ]
    activate.restype = ctypes.c_int
    descriptors, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t()
    if activate(LAUNCHD_SOCKETS.encode(), ctypes.byref(descriptors), ctypes.byref(count)) != 0:
        return []
    found = [int(descriptors[index]) for index in range(count.value)]
    library.free(descriptors)
    return found
