"""Asks the kernel to run a process soon, and only for a moment each time it has something to do.

Whoever carries a keystroke works for microseconds, and otherwise waits its turn behind programs
that compute for milliseconds. Since Linux 6.12 a process may ask for shorter turns and gets them
earlier, at nobody's expense: its share stays the same. Older kernels and other systems take no
notice, and everything works as before.
"""

import os
import sys

TURN_NS = 100_000  # the shortest that Linux gives
_SIZE = 48
_RESET_ON_FORK = 1  # what it starts gets ordinary turns again
# The C library has no name for these calls.
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}


def be_prompt(pid: int = 0) -> bool:
    """Ask it for this process, or another one of the same user; whether the kernel agreed."""
    number = _SCHED_SETATTR.get(os.uname().machine)
    if sys.platform != "linux" or number is None or sys.maxsize < 2**32:
        return False
    try:
        if os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK != os.SCHED_OTHER:
            return False  # somebody has chosen another way to run it
        niceness = os.getpriority(os.PRIO_PROCESS, pid)
    except OSError:
        return False  # it has ended
    import ctypes
    import struct

    # struct sched_attr: size, policy, flags, nice, priority, runtime (the turn), deadline, period
    wish = struct.pack(
        "=IIQiIQQQ", _SIZE, os.SCHED_OTHER, _RESET_ON_FORK, niceness, 0, TURN_NS, 0, 0
    )
    refused: int = ctypes.CDLL(None).syscall(number, pid, ctypes.create_string_buffer(wish), 0)
    return not refused
