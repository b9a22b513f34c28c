"""How much memory the process keeps that it does not use, and giving that back to the system."""

import contextlib
import ctypes

# What is this large leaves holes behind that only giving back fills: a text, a line, an answer.
LARGE = 1 << 20
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # mallopt's parameters


def keep_little() -> None:
    """For a process that stays, at its start. Only glibc knows how; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError, OSError):
        allocator = ctypes.CDLL(None)
        # An arena per thread keeps tens of megabytes that nobody uses.
        allocator.mallopt(_ARENA_MAX, 2)
        # What is large goes back to the system as soon as it is freed. By itself the allocator
        # raises this with every large thing that it sees, and then keeps them.
        allocator.mallopt(_MMAP_THRESHOLD, LARGE)


def give_back() -> None:
    """Return free memory to the system. Only glibc knows how; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
