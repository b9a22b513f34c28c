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

__all__ = ["signal", "socket"]
