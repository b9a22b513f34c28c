"""`PtyPort` and `Sessions` of another machine. Programs run there in holders, whoever is connected."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSession, TerminalSize
from iai_mcp.domain.errors import NotFound, PtyFailed, RemoteFailed, TimedOut
from iai_mcp.ports.pty import Unsubscribe
from iai_mcp.remote import serialization
from iai_mcp.remote.json_fields import Fields, data_text
from iai_mcp.remote.machine import Machine
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.connection import HolderConnection


class RemoteConnection(HolderConnection):
    """A holder over there, spoken with through an ssh process of its own."""

    def __init__(self, machine: Machine, session_id: str) -> None:
        """
        Raises:
            NotFound: there is no such session, or it has ended.
        """
        path = Fields({"path": machine.call("pty.socket", session=session_id)}).text("path")
        joined, self._process = machine.dial(path)
        super().__init__(path, joined=joined)

    def close(self) -> None:
        super().close()
        self._process.kill()
        self._process.wait()


class RemotePty:
    """See `HolderPty`: what it does here, this does there."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def spawn(
        self,
        spec: SpawnSpec,
        size: TerminalSize,
        *,
        session_id: str | None = None,
        detached: bool = True,
        label: SessionLabel | None = None,
    ) -> str:
        """See `PtyPort`; who is not detached ends with this process's connection."""
        started = self._machine.call(
            "pty.spawn",
            spec=serialization.spec_json(spec),
            size=asdict(size),
            session_id=session_id,
            detached=detached,
            label=asdict(label or SessionLabel()),
        )
        return Fields({"id": started}).text("id")

    def write(self, session_id: str, data: bytes) -> None:
        self._machine.call("pty.write", session=session_id, data=data_text(data))

    def resize(self, session_id: str, size: TerminalSize) -> None:
        self._machine.call("pty.resize", session=session_id, size=asdict(size))

    def subscribe_output(self, session_id: str, callback: Callable[[bytes], None]) -> Unsubscribe:
        """See `PtyPort`. A connection that breaks is made anew; no byte is missed or comes twice."""
        stream = _Stream(self._machine, session_id, callback)
        return stream.start()

    def kill(self, session_id: str) -> int | None:
        code = self._machine.call("pty.kill", session=session_id)
        return code if isinstance(code, int) else None

    def all(self) -> Sequence[TerminalSession]:
        found = Fields({"all": self._machine.call("pty.all")}).objects("all")
        return [serialization.session_of(each) for each in found]


class _Stream:
    """The output of one session, from its first byte that is still held to its last."""

    def __init__(
        self, machine: Machine, session_id: str, callback: Callable[[bytes], None]
    ) -> None:
        self._machine = machine
        self._session = session_id
        self._callback = callback
        self._stopped = threading.Event()
        self._connection = RemoteConnection(machine, session_id)
        self._position = self._connection.attach(wire.WHOLE).position
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Unsubscribe:
        self._thread.start()
        return self._stop

    def _stop(self) -> None:
        self._stopped.set()
        self._connection.close()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._relayed() and self._reconnected():
            continue
        self._connection.close()
        self._callback(b"")

    def _relayed(self) -> bool:
        """Hand on output; True at its end, False when the connection broke."""
        while not self._stopped.is_set():
            try:
                frame = self._connection.receive(time.monotonic() + 3600)
            except TimeoutError:
                continue
            except (OSError, ValueError):
                return self._stopped.is_set()
            if frame is None:
                return self._stopped.is_set()
            if frame[0] == wire.EXITED:
                return True
            if frame[0] == wire.OUTPUT:
                self._heard(frame[1])
            elif frame[0] == wire.LOST:
                self._position = wire.unpack(frame[1], 8, 8)[1]
        return True

    def _heard(self, data: bytes) -> None:
        self._position += len(data)
        self._callback(data)

    def _reconnected(self) -> bool:
        """Whether the stream goes on; False once the session has ended and all of it was heard."""
        self._connection.close()
        for pause in waits():
            if self._stopped.is_set():
                return False
            try:
                return self._resumed()
            except (NotFound, PtyFailed, RemoteFailed, TimedOut):
                self._stopped.wait(pause)
        return False

    def _resumed(self) -> bool:
        ended = ending_of(self._machine, self._session, self._position)
        if ended is not None:
            self._heard(ended[1])
            return False
        self._connection = RemoteConnection(self._machine, self._session)
        self._position = self._connection.resume(self._position).position
        return True


def ending_of(machine: Machine, session_id: str, position: int) -> tuple[int, bytes] | None:
    """How a session ended, and what it printed after the byte of that number; None while it runs."""
    said = machine.call("pty.rest", session=session_id, position=position)
    if said is None:
        return None
    ended = Fields({"ended": said}).below("ended")
    return ended.optional_number("exit_code") or 0, ended.data("data")


def waits() -> Iterator[float]:
    """Seconds between two tries to reach a machine: soon at first, then every few seconds."""
    yield from (0.05, 0.1, 0.2, 0.5, 1.0)
    while True:
        yield 2.0
