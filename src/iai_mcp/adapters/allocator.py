"""How much memory the process keeps that it does not use, and giving that back to the system."""

import contextlib
import ctypes
import os

# What is this large leaves holes behind that only giving back fills: a text, a line, an answer.
LARGE = 1 << 20
# What is free at the end of an arena is kept up to this: a recall and the model use some hundred pages
# for a moment, and to have each of them emptied by the system anew takes a tenth of a recall.
_KEPT = 8 << 20
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # mallopt's parameters


def keep_little() -> None:
    """For a process that stays, at its start. Only glibc knows how; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError, OSError):
        allocator = ctypes.CDLL(None)
        # An arena per thread keeps tens of megabytes that nobody uses.
        allocator.mallopt(_ARENA_MAX, 2)
        # What is large goes back to the system as soon as it is freed. By itself the allocator
        # raises this with every large thing that it sees, and then keeps them.
        allocator.mallopt(_MMAP_THRESHOLD, LARGE)
        allocator.mallopt(_TRIM_THRESHOLD, _KEPT)


def resident() -> int:
    """How many bytes of this process are in memory; 0 where the system has no way to tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def give_back() -> None:
    """Return free memory to the system. Only glibc knows how; elsewhere nothing happens."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
