"""`PtyPort` and `Sessions` made real by one holder process per session."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSession, TerminalSize
from iai_mcp.domain.errors import NotFound, PtyFailed
from iai_mcp.ports.pty import Unsubscribe
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal import layout, records, spawn
from iai_mcp.terminal.connection import HolderConnection
from iai_mcp.terminal.holder.termination import members

_KILL_DEADLINE = 5.0  # a holder needs half a second, and two more for clients that do not read


class HolderPty:
    """Terminals that outlive whoever started them."""

    def __init__(self) -> None:
        # Programs started with detached=False end when this process closes these.
        self._tethers: dict[str, int] = {}

    def spawn(
        self,
        spec: SpawnSpec,
        size: TerminalSize,
        *,
        session_id: str | None = None,
        detached: bool = True,
        label: SessionLabel | None = None,
    ) -> str:
        """See `PtyPort`."""
        started, tether = spawn.start(
            spec,
            size,
            session_id=session_id,
            label=label or SessionLabel(),
            tethered=not detached,
        )
        if tether >= 0:
            self._tethers[started] = tether
        return started

    def write(self, session_id: str, data: bytes) -> None:
        """See `PtyPort`."""
        with self._connect(session_id) as connection:
            connection.type(data)

    def resize(self, session_id: str, size: TerminalSize) -> None:
        """See `PtyPort`."""
        with self._connect(session_id) as connection:
            connection.send(wire.RESIZE, wire.pack((size.rows, 2), (size.cols, 2)))
            connection.state()  # answered after the resize: it has happened

    def subscribe_output(self, session_id: str, callback: Callable[[bytes], None]) -> Unsubscribe:
        """See `PtyPort`."""
        connection = self._connect(session_id)
        connection.attach(wire.WHOLE)
        thread = threading.Thread(target=_relay, args=(connection, callback), daemon=True)
        thread.start()

        def unsubscribe() -> None:
            _hang_up(connection)
            if thread is not threading.current_thread():
                thread.join()

        return unsubscribe

    def kill(self, session_id: str) -> int | None:
        """See `PtyPort`."""
        record = find(session_id)
        if record.alive:
            try:
                with HolderConnection(record.socket) as connection:
                    connection.send(wire.KILL)
            except (NotFound, PtyFailed):
                pass  # it ended on its own this moment, or hears nobody: the wait will tell
            record = _ended_in_time(record)
        else:
            end_stray(record)
        tether = self._tethers.pop(session_id, -1)
        if tether >= 0:
            os.close(tether)
        return record.exit_code

    def all(self) -> Sequence[TerminalSession]:
        """See `Sessions`."""
        return [record.as_session() for record in records.read_all()]

    def _connect(self, session_id: str) -> HolderConnection:
        record = find(session_id)
        if not record.alive:
            raise NotFound(f"session '{session_id}' has ended")
        return HolderConnection(record.socket)


def find(session_id: str) -> records.SessionRecord:
    """The session of exactly this id."""
    layout.session_dir(session_id)
    record = records.read(session_id)
    if record is None:
        raise NotFound(f"there is no session '{session_id}': see iai-mcp session list")
    return record


def wait_for_end(session_id: str, timeout: float) -> records.SessionRecord:
    """The session's record once its holder has gone."""
    deadline = time.monotonic() + timeout
    directory = layout.session_dir(session_id)
    while records.holder_lives(directory):
        if time.monotonic() > deadline:
            raise PtyFailed(f"session '{session_id}' does not end: run iai-mcp doctor")
        time.sleep(0.005)
    return find(session_id)


def _ended_in_time(record: records.SessionRecord) -> records.SessionRecord:
    """The session once it has ended; a holder that does not do its work is ended with it."""
    try:
        return wait_for_end(record.id, _KILL_DEADLINE)
    except PtyFailed:
        current = find(record.id)
        if not current.alive or current.holder is None:
            return current
        os.kill(current.holder, signal.SIGKILL)  # it has the lock, so the pid is still its own
    lost = wait_for_end(record.id, _KILL_DEADLINE)
    end_stray(lost)
    return lost


def end_stray(record: records.SessionRecord) -> None:
    """SIGKILL the program of a session that lost its holder and ignored the hang-up."""
    if record.status != "lost" or record.rebooted or not still_runs(record):
        return
    assert record.child is not None  # noqa: S101 - it runs, so it has a pid
    for pid in members(record.child):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def still_runs(record: records.SessionRecord) -> bool:
    """Whether the program is still there: that pid, leading a terminal session of its own."""
    return record.child is not None and record.child in members(record.child)


def _relay(connection: HolderConnection, callback: Callable[[bytes], None]) -> None:
    """Hand on output until the program or the subscription ends."""
    while True:
        try:
            frame = connection.receive(time.monotonic() + 3600)
        except TimeoutError:
            continue
        except OSError:
            break
        if frame is None or frame[0] == wire.EXITED:
            break
        if frame[0] == wire.OUTPUT:
            callback(frame[1])
    connection.close()
    callback(b"")


def _hang_up(connection: HolderConnection) -> None:
    import socket

    try:
        connection.socket.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the holder was faster
