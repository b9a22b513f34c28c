"""Memory that is free inside the process, given back to the system."""

import contextlib
import ctypes

# What is this large leaves holes behind that only giving back fills: a text, a line, an answer.
LARGE = 1 << 20


def give_back() -> None:
    """Return free memory to the system. Only glibc knows how; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
