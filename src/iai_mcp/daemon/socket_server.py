"""NDJSON over the daemon's Unix socket: both planes, many clients, bounded in every direction."""

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import TypeVar

from iai_mcp import __version__, concurrency, core, paths
from iai_mcp.api.table import is_activity, waits_for_sleep
from iai_mcp.daemon import control, handover
from iai_mcp.daemon.connection import Connection
from iai_mcp.daemon.fair_pool import FairPool, Lane, Place
from iai_mcp.daemon.hibernation import is_woken
from iai_mcp.daemon.tasks import Tasks
from iai_mcp.domain.errors import AlreadyExists, Busy, IaiError, InvalidInput, IoFailed
from iai_mcp.protocol.codes import CONTROL_TYPES
from iai_mcp.protocol.messages import encode_bounded, result
from iai_mcp.protocol.peers import peer_uid
from iai_mcp.settings import Settings
from iai_mcp.store import MemoryStore

_log = logging.getLogger(__name__)

_ACTIVATION_FD = 3
_MOST_PASSED = 8
_BACKLOG = 1024
_DRAIN_SECONDS = 3.5  # of the five that a stop may take
_READ_LIMIT = 1 << 16
_LOOK_SECONDS = 2.0  # between two looks at whether our socket file is still there
_TURNS_UNTIL_HANDLED = (
    8  # accepting, making the transport, telling the protocol, beginning: with room
)


# Watching is not activity, nor is asking for sleep: none of these keeps the daemon awake.
_QUIET_CONTROLS = frozenset({"status", "force_rem", "user_initiated_sleep"})

_T = TypeVar("_T")
_Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class SocketServer:
    """Serves one store on one socket. `lock` and `state` wire the control plane."""

    CONTROL_MSG_TYPES = CONTROL_TYPES

    def __init__(
        self,
        store: MemoryStore | None,
        idle_secs: int | None = None,
        *,
        lock: concurrency.ProcessLock | None = None,
        state: MutableMapping[str, object] | None = None,
    ) -> None:
        self.store = store
        self.settings = store.settings if isinstance(store, MemoryStore) else Settings()
        self.idle_secs = self.settings.idle_secs if idle_secs is None else idle_secs
        self.lock = lock
        self.state = state
        self.requests = control.Requests()  # what the control plane was asked for
        self.shutdown_event = asyncio.Event()
        self.tasks = Tasks(self.shutdown_event)
        self.active_connections = 0
        self.last_activity_ts = time.monotonic()  # of any line that came in
        self.last_use_ts = time.monotonic()  # of what keeps the daemon awake
        self.last_contact_ts = time.monotonic()
        self.started = time.monotonic()
        self.calls = asyncio.Semaphore(self.settings.calls_in_all)
        self.pool = FairPool(self.settings.workers)
        self.long_lines = asyncio.Lock()  # one of them is in hand at a time
        self.on_activity: Callable[[], None] = lambda: None
        self.on_request: Callable[[], None] = lambda: None  # one may wait for the lifecycle
        self.handed_over: int | None = None  # the listening socket, kept open for a successor
        self.http_kept: int | None = None  # and that of HTTP
        self.remote_kept: int | None = None  # and that for remote callers
        self.keep_listening = False
        self.inherited: socket.socket | None = None  # the place of the daemon before us
        self.inherited_remote: socket.socket | None = None
        self.hears_remote = False  # a second socket, whose callers are on other machines
        self.may_be_succeeded = False
        self.heir: handover.Heir | None = None  # who takes our place when we are done
        self.warm = True  # load the model and work off the backlog as soon as we serve
        self.more_facts: Callable[[], dict[str, object]] = dict
        self.other_doors: list[asyncio.Task[None]] = []  # they call us too, and end before the pool
        self._connections: set[asyncio.Task[None]] = set()

    async def serve(self, socket_path: Path | str | None = None) -> None:
        """Serve until `shutdown_event` is set or the task is cancelled, then stop cleanly.

        Raises:
            InvalidInput: the socket path is too long.
            NotOurs: in its directory another user could take its place.
            AlreadyExists: somebody else serves that socket.
        """
        doors = [_Door(self.handle, *self._listener(socket_path))]
        if self.hears_remote and (remote := self._remote_listener(socket_path)) is not None:
            doors.append(_Door(self._handle_remote, *remote))
        for door in doors:
            await door.open()
        watching = self.tasks.keep("reachable", lambda: _keep_reachable(doors))
        if self.warm and isinstance(self.store, MemoryStore):
            self.store.start_background()
        try:
            await self.shutdown_event.wait()
        finally:
            watching.cancel()
            kept = [door.duplicate() if self.keep_listening else None for door in doors]
            self.handed_over, self.remote_kept = (*kept, None)[:2]
            for door in doors:
                await door.close(remove=not self.keep_listening)
            await self._finish_connections()
            self.pool.shutdown()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client from its first byte to its last."""
        await self._serve_client(reader, writer, is_remote=False)

    async def _handle_remote(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One client on another machine, whoever it says it is."""
        await self._serve_client(reader, writer, is_remote=True)

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_remote: bool
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine that runs is in a task
        self._connections.add(task)
        self.active_connections += 1
        self.last_contact_ts = time.monotonic()
        try:
            if _is_same_user(writer):
                await Connection(self, reader, writer, is_remote=is_remote).run()
        except ConnectionError:
            _log.debug("connection_ended")
        except asyncio.CancelledError:
            # What is still to be sent nobody reads: waiting for it would hold up the stop for ever.
            writer.transport.abort()
        finally:
            self.active_connections -= 1
            self.last_contact_ts = time.monotonic()
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def call(self, lane: Lane, method: str, params: object) -> dict[str, object]:
        """`core.dispatch` on the pool, when it is the turn of that lane.

        Raises:
            ClientGone: the client has left before it was.
        """
        async with lane.place() as place:
            return await self._run(place, method, lambda: core.dispatch(self.store, method, params))

    async def answer_line(
        self, place: Place, method: str, request_id: object, params: object
    ) -> bytes:
        """The call's answer as the line to send: a large one is written out on the pool, too."""
        return await self._run(
            place,
            method,
            lambda: encode_bounded(result(request_id, core.dispatch(self.store, method, params))),
        )

    async def _run(self, place: Place, method: str, work: Callable[[], _T]) -> _T:
        self.note_activity(method)
        began = time.monotonic()
        with self._answering(method):
            answer = await place.run(work)
        if method == "memory_recall" and isinstance(self.store, MemoryStore):
            self.store.pace.recalled(time.monotonic() - began)
        return answer

    def _answering(self, method: str) -> contextlib.AbstractContextManager[None]:
        """Sleep steps aside for a call in flight; not for the one that waits for sleep itself."""
        if waits_for_sleep(method) or not isinstance(self.store, MemoryStore):
            return contextlib.nullcontext()
        return self.store.courtesy.answering()

    def succeeded_by(self, params: object, connection: int) -> None:
        """Another daemon, at the other end of `connection`, takes our place: answer and end.

        Raises:
            IaiError: it can not; we go on.
        """
        handover.check(params)
        if self.heir is not None or self.shutdown_event.is_set():
            raise Busy("this daemon is ending already: try again in a moment")
        self.heir = handover.Heir(os.dup(connection), handover.takes_remote(params))
        self.keep_listening = True
        self.shutdown_event.set()

    def give_back(self) -> None:
        """Something large has gone through: what it left behind goes back to the system."""
        if isinstance(self.store, MemoryStore):
            self.store.give_back()

    def note_activity(self, what: str) -> None:
        if what not in _QUIET_CONTROLS and is_activity(what):
            self.last_use_ts = time.monotonic()
            self.on_activity()

    def facts(self) -> dict[str, object]:
        """What `status` tells beyond the lifecycle."""
        told: dict[str, object] = {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_sec": round(time.monotonic() - self.started, 3),
            "records": 0,
            "active_connections": self.active_connections,
            "tasks": self.tasks.troubles(),
        }
        if isinstance(self.store, MemoryStore):
            told |= self.store.facts()
        return told | self.more_facts()

    def _listener(self, socket_path: Path | str | None) -> tuple[socket.socket, str | None]:
        """The listening socket, and the file that we made for it (None under activation)."""
        path = str(socket_path or concurrency.SOCKET_PATH)
        if self.inherited is not None:
            return self.inherited, path
        inherited = inherited_socket()
        if inherited is not None:
            # A daemon that woke from hibernation was handed the socket it once made itself.
            return inherited, path if is_woken() else None
        problem = paths.socket_path_problem(path)
        if problem:
            raise InvalidInput(problem)
        paths.socket_dir(path)
        concurrency.cleanup_stale_socket(path)
        return _bound(path), path

    def _remote_listener(
        self, socket_path: Path | str | None
    ) -> tuple[socket.socket, str | None] | None:
        """The socket for remote callers, and its file if we made it; None: they are not heard."""
        path = f"{socket_path or concurrency.SOCKET_PATH}.remote"
        if self.inherited_remote is not None:
            return self.inherited_remote, path
        managed = _activated_at(path)
        if managed is not None:
            return managed, None
        problem = paths.socket_path_problem(path)
        if problem:
            _log.warning("remote_socket_not_made", extra={"reason": problem})
            return None
        concurrency.cleanup_stale_socket(path)
        try:
            return _bound(path), path
        except IaiError as refused:
            _log.warning("remote_socket_not_made", extra={"reason": refused.message})
            return None

    async def _finish_connections(self) -> None:
        """Let calls in flight answer, then end every connection."""
        current = asyncio.current_task()
        waiting = {task for task in self._connections if task is not current}
        waiting.update(self.other_doors)
        if waiting:
            # Connections watch shutdown_event themselves and end after their last answer.
            self.shutdown_event.set()
            _, late = await asyncio.wait(waiting, timeout=_DRAIN_SECONDS)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1)


class _Door:
    """One listening socket, its file if we made that, and who serves its clients."""

    def __init__(self, handle: _Handler, listener: socket.socket, path: str | None) -> None:
        self._handle = handle
        self._path = path
        self._inode = _inode(path) if path else None
        self._listening: list[tuple[socket.socket, asyncio.Server | None]] = [(listener, None)]

    async def open(self) -> None:
        listener, _ = self._listening[-1]
        self._listening[-1] = (listener, await _start(self._handle, listener))

    async def make_again(self) -> None:
        """Make our socket file anew when somebody has deleted it: else nobody could ever reach us."""
        if self._path is None or not _deleted(self._path):
            return
        try:
            listener = _bound(self._path)
        except (IaiError, OSError):
            _log.warning("socket_not_made_again")
            return
        self._inode = _inode(self._path)
        self._listening.append((listener, None))
        await self.open()
        _log.warning("socket_made_again")

    def duplicate(self) -> int:
        return os.dup(self._listening[-1][0].fileno())

    async def close(self, *, remove: bool) -> None:
        for listener, server in self._listening:
            await accept_no_more(listener)
            if server is not None:
                server.close()
        if remove and self._path is not None:
            _remove_own(self._path, self._inode)


async def _keep_reachable(doors: Sequence[_Door]) -> None:
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        for door in doors:
            await door.make_again()


def _is_same_user(writer: asyncio.StreamWriter) -> bool:
    connection = writer.get_extra_info("socket")
    if connection is None:  # a test's own stream pair
        return True
    uid = peer_uid(connection)
    if uid != os.geteuid():
        _log.warning("refused_other_user", extra={"uid": uid})
        return False
    return True


async def accept_no_more(listener: socket.socket) -> None:
    """Stop accepting, and let who was accepted last get a task: a server that is closed drops them."""
    asyncio.get_running_loop().remove_reader(listener)
    for _ in range(_TURNS_UNTIL_HANDLED):
        await asyncio.sleep(0)


async def _start(handle: _Handler, listener: socket.socket) -> asyncio.Server:
    if sys.version_info >= (3, 13):
        # From 3.13 on asyncio would remove the socket file itself, a service manager's too.
        return await asyncio.start_unix_server(
            handle, sock=listener, limit=_READ_LIMIT, backlog=_BACKLOG, cleanup_socket=False
        )
    return await asyncio.start_unix_server(
        handle, sock=listener, limit=_READ_LIMIT, backlog=_BACKLOG
    )


def inherited_socket() -> socket.socket | None:
    """The listening socket that a service manager passed to exactly this process."""
    if not _passed_sockets():
        return None
    listener = socket.socket(fileno=_ACTIVATION_FD)
    listener.setblocking(False)
    return listener


def _activated_at(path: str) -> socket.socket | None:
    """A further socket that a service manager passed, if it listens at `path`."""
    for descriptor in _passed_sockets()[1:]:
        try:
            passed = socket.socket(fileno=descriptor)
        except OSError:
            continue
        if passed.family == socket.AF_UNIX and passed.getsockname() == path:
            return passed
        passed.detach()  # not ours to close
    return None


def _passed_sockets() -> range:
    try:
        count = int(os.environ.get("LISTEN_FDS", ""))
        pid = int(os.environ.get("LISTEN_PID", ""))
    except ValueError:
        return range(0)
    if count < 1 or pid != os.getpid():
        return range(0)
    return range(_ACTIVATION_FD, _ACTIVATION_FD + min(count, _MOST_PASSED))


def _bound(path: str) -> socket.socket:
    """A socket that listens at `path`, where nothing is yet."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
    except OSError as refused:
        listener.close()
        raise _not_bound(path, refused) from refused
    # Nobody can connect before listen(), so there is no moment with looser modes.
    os.chmod(path, 0o600)
    listener.listen(_BACKLOG)
    return listener


def _not_bound(path: str, refused: OSError) -> IaiError:
    hint = "set IAI_DAEMON_SOCKET_PATH to another path"
    owner = paths.stranger(path)
    if owner is not None:
        return IoFailed(f"{path} belongs to another user (uid {owner}): remove it, or {hint}")
    if refused.errno != errno.EADDRINUSE:
        return IoFailed(f"no socket can be made at {path} ({refused.strerror}): {hint}")
    if concurrency.is_served(path):
        return AlreadyExists(f"another daemon serves {path}: stop it, or {hint}")
    return AlreadyExists(f"{path} is there already and is no socket of a daemon: {hint}")


def _deleted(path: str) -> bool:
    """Whether nothing is at `path`, although its directory is there."""
    return not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def _remove_own(path: str, inode: int | None) -> None:
    """Remove the socket file if it is still the one we made."""
    with contextlib.suppress(FileNotFoundError):
        if inode is not None and _inode(path) == inode:
            os.unlink(path)
