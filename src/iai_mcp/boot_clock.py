"""Which start of the machine this is, and how long ago that was: clocks that nobody sets."""

import time


def boot_id() -> str:
    """Changes with every start of the machine; `""` where the system has no such thing."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as source:
            return source.read().strip()
    except OSError:
        return ""


def uptime() -> float:
    """Seconds since the machine was started, those in which it was suspended too."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
