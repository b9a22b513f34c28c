"""Stop the memory daemon. What is in flight is finished; nothing is lost.

While it is down, hooks keep what agents say in the spool, and the next start takes it in.
"""

import argparse
import os
import signal
import time

from iai_mcp.cli import output
from iai_mcp.client import connection
from iai_mcp.domain.errors import DaemonUnreachable, IoFailed

_WAIT_SECONDS = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--service", action="store_true", help="also remove the user service")
    parser.add_argument("--json", action="store_true", help="one JSON object for programs")


def run(arguments: argparse.Namespace) -> int:
    removed: list[str] = []
    if arguments.service:
        from iai_mcp.adapters import service_units

        removed = service_units.remove()
    pid = stop_running()
    said = "memory was already off" if pid is None else f"memory is off (pid {pid})"
    result = {"stopped": pid is not None, "pid": pid, "removed": removed}
    output.emit(
        result, "\n".join([said, *(f"removed {path}" for path in removed)]), as_json=arguments.json
    )
    return 0


def stop_running() -> int | None:
    """Stop the daemon that answers on the socket; its pid, or None when there was none.

    Raises:
        IoFailed: it does not answer, or it did not stop.
    """
    try:
        pid = connection.control("status").get("pid")
    except DaemonUnreachable:
        _nobody_holds_the_store()
        return None
    if not isinstance(pid, int):
        raise IoFailed("the daemon did not tell its pid; stop it by hand")
    stop(pid)
    return pid


def _nobody_holds_the_store() -> None:
    """Being silent is not being off: a process that hangs still holds the store."""
    from iai_mcp.concurrency import ProcessLock

    lock = ProcessLock()
    if lock.path.exists() and not _stopped():
        holder = lock.holder()
        who = f" (pid {holder})" if holder else ""
        raise IoFailed(
            f"another process{who} holds the store and does not answer: wait for it, or end it by hand"
        )


def stop(pid: int) -> None:
    """Ask the daemon to stop and wait until it has.

    Raises:
        IoFailed: it is still there.
    """
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        if _stopped():
            return
        time.sleep(0.02)
    raise IoFailed(
        f"the daemon (pid {pid}) did not stop within {_WAIT_SECONDS:.0f} s: kill it by hand"
    )


def _stopped() -> bool:
    """Whether nobody holds the store any more: the lock dies with its process, a pid may linger."""
    from iai_mcp.concurrency import ProcessLock

    lock = ProcessLock()
    try:
        return lock.try_acquire_exclusive()
    finally:
        lock.close()
