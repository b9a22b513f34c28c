"""A lock that holds between processes: `flock` on a file that is never removed."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from iai_mcp.adapters.files.local import io_failure
from iai_mcp.domain.errors import Busy

# What is done under these locks takes milliseconds; whoever waits longer waits for a hung process.
PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.01


@contextmanager
def held(path: str, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the lock at `path`; the kernel lets go of it when its holder dies.

    Raises:
        Busy: someone else held it for all of `patience`.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as refused:
        raise io_failure(refused, path) from refused
    try:
        _wait(descriptor, path, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: str, deadline: float) -> None:
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
