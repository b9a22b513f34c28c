"""Giving memory back: the process replaces itself by one that only waits for the next client.

Unloading libraries in place does not return their memory. Re-executing does: the listening socket and
the locks are kept open across it, so a client that connects meanwhile waits in the socket's queue and
is answered by the full daemon, which the waiting process becomes again at the first connection.
"""

import fcntl
import os
import select
import signal
import socket
import sys
import time
from types import FrameType
from typing import NoReturn

from iai_mcp.concurrency import ProcessLock
from iai_mcp.domain.errors import InvalidInput

LISTENING = 3  # where socket activation puts the listening socket, and so do we
_STOPPING = (signal.SIGTERM, signal.SIGINT)
_ABOVE = 10  # locks are moved out of the way of fd 3
_LOOK_MS = 60_000  # between two looks at whether the socket file is still there

DORMANT = "IAI_MCP_DORMANT"  # the waiting process
WOKEN = "IAI_MCP_WOKEN"  # the full daemon that follows it; it owns the socket file it was handed
_LOCKS = "IAI_MCP_LOCK_FDS"
_HEAR_AFTER = "IAI_MCP_DORMANT_FOR"  # seconds, at most
_HTTP = "IAI_MCP_HTTP_FD"  # where HTTP listens, if it does
_REMOTE = "IAI_MCP_REMOTE_FD"  # where remote callers are heard, if they are
_HAND_MADE = (
    f"{DORMANT}, {WOKEN} and {_LOCKS} are what the daemon tells itself when it lies down, and these "
    "values are not its own: unset them and start again"
)


_told_to_stop = False


def note_stops() -> None:
    """Remember whether we are told to stop: who lies down has no other way to notice.

    Called after the event loop put its own handlers in place: it is still woken, by the byte that is
    written to its pipe before any handler runs.
    """
    for number in _STOPPING:
        signal.signal(number, _note)


def lie_down(
    listening: int,
    locks: list[ProcessLock],
    http: int | None = None,
    hear_after: int = 0,
    remote: int | None = None,
) -> NoReturn:
    """Become the waiting process. The store is closed, nothing is in flight.

    It wakes for a moment after `hear_after` seconds, if that is not 0: what other machines said
    meanwhile is then there when somebody comes.

    Told to stop on the way here, the process ends instead.
    """
    for number in _STOPPING:
        signal.signal(number, _leave)
    if _told_to_stop:
        _leave()
    marks = {DORMANT: "1", _HEAR_AFTER: str(hear_after)}
    _become(marks, listening, [lock.descriptor for lock in locks], http, remote)


def is_dormant() -> bool:
    """Whether this process is the waiting one.

    Raises:
        InvalidInput: somebody else than the daemon says so.
    """
    if not os.environ.get(DORMANT):
        return False
    if not _from_ourselves() or not _listens(LISTENING) or not _locks():
        raise InvalidInput(_HAND_MADE)
    return True


def is_woken() -> bool:
    """Whether this process follows a waiting one. A mark that a child inherited counts for nothing."""
    return bool(os.environ.get(WOKEN)) and _from_ourselves()


def is_managed() -> bool:
    """Whether a service manager gave us our socket, and starts us again at the next connection."""
    return _from_ourselves() and not is_woken()


def wait() -> NoReturn:
    """Wait for the first client, then become the full daemon again."""
    for number in _STOPPING:
        signal.signal(number, _leave)
    hear_signals()
    poll = select.poll()
    poll.register(LISTENING, select.POLLIN)
    http, remote = _http_descriptor(), _remote_descriptor()
    for further in (http, remote):
        if further is not None:
            poll.register(further, select.POLLIN)
    until = time.monotonic() + (_hear_after() or float("inf"))
    while not poll.poll(min(_LOOK_MS, max(0.0, until - time.monotonic()) * 1000)):
        if _socket_deleted() or time.monotonic() >= until:
            break  # the full daemon makes it anew, or hears what others said
    _become({WOKEN: "1"}, LISTENING, _locks(), http, remote)


def http_listening() -> socket.socket | None:
    """Where HTTP listened before we lay down; it is ours from now on."""
    found = _http_descriptor() if is_woken() else None
    if found is None:
        return None
    os.set_inheritable(found, False)
    return socket.socket(fileno=found)


def remote_listening() -> socket.socket | None:
    """Where remote callers were heard before we lay down; it is ours from now on."""
    found = _remote_descriptor() if is_woken() else None
    if found is None:
        return None
    os.set_inheritable(found, False)
    return socket.socket(fileno=found)


def adopt(locks: list[ProcessLock]) -> bool:
    """Take over the locks that the process before us held; whether there were any.

    Raises:
        InvalidInput: what the environment says about them can not be from the daemon.
    """
    if not is_woken():
        return False
    held = _locks()
    if len(held) != len(locks) or not all(map(_is_open_on, held, locks)):
        raise InvalidInput(_HAND_MADE)
    for lock, descriptor in zip(locks, held, strict=True):
        os.set_inheritable(descriptor, False)
        lock.adopt(descriptor)
    return True


def hear_signals() -> None:
    """Handlers are in place: what was held back across the change of image arrives now."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def _become(
    marks: dict[str, str], listening: int, locks: list[int], http: int | None, remote: int | None
) -> NoReturn:
    # Between two images nobody handles signals, and the default would be to die of them: they wait
    # for the next image.
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    moved = [fcntl.fcntl(lock, fcntl.F_DUPFD, _ABOVE) for lock in locks]
    for name, further in ((_HTTP, http), (_REMOTE, remote)):
        if further is not None:
            marks = {**marks, name: str(fcntl.fcntl(further, fcntl.F_DUPFD, _ABOVE))}
    if listening == LISTENING:
        os.set_inheritable(LISTENING, True)
    else:
        os.dup2(listening, LISTENING, inheritable=True)
    ours = (DORMANT, WOKEN, _HTTP, _REMOTE, _HEAR_AFTER)
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    environment = {
        **kept,
        **marks,
        "LISTEN_FDS": "1",
        "LISTEN_PID": str(os.getpid()),
        _LOCKS: ",".join(map(str, moved)),
    }
    for number in _STOPPING:
        # Another thread may not hold them back; what it were told would end with this image.
        signal.signal(number, signal.SIG_DFL)
    os.execve(sys.executable, [sys.executable, "-m", "iai_mcp.daemon"], environment)  # noqa: S606 - ourselves


def _from_ourselves() -> bool:
    """The process that replaced itself by us had the same pid; so has a service manager's child."""
    return os.environ.get("LISTEN_PID") == str(os.getpid())


def _locks() -> list[int]:
    """The locks that are kept open for us; none where the environment names something else."""
    try:
        named = [int(number) for number in os.environ.get(_LOCKS, "").split(",")]
        for descriptor in named:
            os.fstat(descriptor)
    except (ValueError, OverflowError, OSError):
        return []
    return named


def _hear_after() -> int:
    told = os.environ.get(_HEAR_AFTER, "")
    return int(told) if told.isdecimal() else 0


def _http_descriptor() -> int | None:
    try:
        named = int(os.environ.get(_HTTP, ""))
        with socket.socket(fileno=os.dup(named)) as there:
            listens = there.family != socket.AF_UNIX and there.type == socket.SOCK_STREAM
    except (ValueError, OverflowError, OSError):
        return None
    return named if listens else None


def _remote_descriptor() -> int | None:
    from iai_mcp import paths

    try:
        named = int(os.environ.get(_REMOTE, ""))
        with socket.socket(fileno=os.dup(named)) as there:
            is_ours = there.getsockname() == paths.remote_socket_path()
    except (ValueError, OverflowError, OSError):
        return None
    return named if is_ours else None


def _socket_deleted() -> bool:
    from iai_mcp import paths

    path = paths.socket_path()
    return not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))


def _is_open_on(descriptor: int, lock: ProcessLock) -> bool:
    return lock.path.exists() and os.path.samestat(os.fstat(descriptor), lock.path.stat())


def _listens(descriptor: int) -> bool:
    try:
        ours = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return False
    with ours:
        return ours.family == socket.AF_UNIX and ours.type == socket.SOCK_STREAM


def _note(number: int, frame: FrameType | None) -> None:
    global _told_to_stop  # noqa: PLW0603 - as signals are the process's own
    _told_to_stop = True


def _leave(number: int = 0, frame: FrameType | None = None) -> NoReturn:
    from iai_mcp import paths

    for path in (paths.socket_path(), paths.remote_socket_path()):
        try:
            os.unlink(path)
        except OSError:
            continue
    os._exit(0)
