"""Giving memory back: the process replaces itself by one that only waits for the next client.

Unloading libraries in place does not return their memory. Re-executing does: the listening socket and
the locks are kept open across it, so a client that connects meanwhile waits in the socket's queue and
is answered by the full daemon, which the waiting process becomes again at the first connection.
"""

import fcntl
import os
import select
import signal
import sys
from types import FrameType
from typing import NoReturn

from iai_mcp.concurrency import ProcessLock

LISTENING = 3  # where socket activation puts the listening socket, and so do we
_STOPPING = (signal.SIGTERM, signal.SIGINT)
_ABOVE = 10  # locks are moved out of the way of fd 3

DORMANT = "IAI_MCP_DORMANT"  # the waiting process
WOKEN = "IAI_MCP_WOKEN"  # the full daemon that follows it; it owns the socket file it was handed
_LOCKS = "IAI_MCP_LOCK_FDS"


def lie_down(listening: int, locks: list[ProcessLock]) -> NoReturn:
    """Become the waiting process. The store is closed, nothing is in flight."""
    _become({DORMANT: "1"}, listening, [lock.descriptor for lock in locks])


def wait() -> NoReturn:
    """Wait for the first client, then become the full daemon again."""
    for number in _STOPPING:
        signal.signal(number, _leave)
    hear_signals()
    poll = select.poll()
    poll.register(LISTENING, select.POLLIN)
    while not poll.poll():
        continue
    _become({WOKEN: "1"}, LISTENING, _inherited())


def adopt(locks: list[ProcessLock]) -> bool:
    """Take over the locks that the process before us held; whether there were any."""
    held = _inherited()
    if not os.environ.get(WOKEN) or len(held) != len(locks):
        return False
    for lock, descriptor in zip(locks, held, strict=True):
        os.set_inheritable(descriptor, False)
        lock.adopt(descriptor)
    return True


def hear_signals() -> None:
    """Handlers are in place: what was held back across the change of image arrives now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def _become(marks: dict[str, str], listening: int, locks: list[int]) -> NoReturn:
    # Between two images nobody handles signals, and the default would be to die of them.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    moved = [fcntl.fcntl(lock, fcntl.F_DUPFD, _ABOVE) for lock in locks]
    if listening == LISTENING:
        os.set_inheritable(LISTENING, True)
    else:
        os.dup2(listening, LISTENING, inheritable=True)
    kept = {k: v for k, v in os.environ.items() if k not in (DORMANT, WOKEN)}
    environment = {
        **kept,
        **marks,
        "LISTEN_FDS": "1",
        "LISTEN_PID": str(os.getpid()),
        _LOCKS: ",".join(map(str, moved)),
    }
    os.execve(sys.executable, [sys.executable, "-m", "iai_mcp.daemon"], environment)  # noqa: S606 - ourselves


def _inherited() -> list[int]:
    return [int(number) for number in os.environ.get(_LOCKS, "").split(",") if number]


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    from iai_mcp import paths

    try:
        os.unlink(paths.socket_path())
    except FileNotFoundError:
        os._exit(0)
    os._exit(0)
