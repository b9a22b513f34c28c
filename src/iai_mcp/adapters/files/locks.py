"""A lock that holds between processes: `flock` on a file that is never removed."""

import fcntl
import time

from iai_mcp.domain.errors import Busy

# What is done under these locks takes milliseconds; whoever waits longer waits for a hung process.
PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.01


def take(descriptor: int, path: str) -> None:
    """Lock the open file; the kernel lets go of it when it is closed, or its holder dies.

    Raises:
        Busy: someone else held it for longer than a person would wait.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as taken:
            if time.monotonic() >= deadline:
                raise Busy(
                    f"another iai-mcp holds {path}: wait for it to end, then try again"
                ) from taken
            time.sleep(_BETWEEN_TRIES)
