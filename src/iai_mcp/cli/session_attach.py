"""The attached client: this terminal becomes the session's, until detached or ended."""

import contextlib
import os
import select
import signal
import termios
import tty
from collections.abc import Iterator

from iai_mcp.cli import output
from iai_mcp.cli.session_keys import DEFAULT, Keys
from iai_mcp.domain.errors import NotFound, PtyFailed, RemoteFailed, TimedOut
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.connection import HolderConnection, HolderState
from iai_mcp.terminal.records import SessionRecord
from iai_mcp.terminal.scheduling import be_prompt
from iai_mcp.terminal.screen import Screen
from iai_mcp.terminal.screen_paint import began_on_alternate, paint, unpaint

_KEYBOARD = 0
_DISPLAY = 1


class _Leave(Exception):
    """The client was told to go: by a signal, or because its terminal went."""


def attach(record: SessionRecord, *, read_only: bool = False) -> int:
    """Show the session and type into it. 0 after a detach, else the program's exit code."""
    if not record.alive:
        raise NotFound(
            f"session '{record.id}' has ended: iai-mcp session logs shows its last words"
        )
    keys = Keys(os.environ.get("IAI_MCP_DETACH_KEY") or DEFAULT)
    line = _Line(record) if record.machine is None else _FarLine(record)
    client = _Client(line.connected(), keys, read_only=read_only)
    with client, _raw_terminal(), _signals(client):
        try:
            client.start()
            # After the first screen: nobody has typed before that.
            for pid in (0, record.holder or 0):
                be_prompt(pid)
            client.run()
            while client.outcome == "cut" and line.mended(client):
                client.run()
        except _Leave:
            client.outcome = "left"
        finally:
            client.clean_up()
    name = record.label.agent_name or record.id
    if client.outcome == "exited":
        output.say(f"[{name} has ended, exit code {client.exit_code}]")
        return client.exit_code
    hint = f"iai-mcp session attach {record.id} comes back"
    output.say(f"[detached from {name}; it runs on; {hint}]")
    return 0


class _Line:
    """The way to a session here. It breaks with its holder only."""

    def __init__(self, record: SessionRecord) -> None:
        self.record = record

    def connected(self) -> HolderConnection:
        return HolderConnection(self.record.socket)

    def mended(self, client: "_Client") -> bool:
        return False


class _FarLine(_Line):
    """The way to a session on another machine. It breaks, and is mended as soon as that can be."""

    def connected(self) -> HolderConnection:
        from iai_mcp.remote import all_sessions

        return all_sessions.connected(self.record)

    def mended(self, client: "_Client") -> bool:
        """Whether it goes on. Until it does, only the detach key is heard."""
        from iai_mcp.remote.pty import waits

        client.show_cut(self.record.machine or "")
        for pause in waits():
            if not client.stays(pause):
                return False
            try:
                return self._again(client)
            except (NotFound, PtyFailed, RemoteFailed, TimedOut):
                continue
        return False

    def _again(self, client: "_Client") -> bool:
        from iai_mcp.remote.all_sessions import machine_of
        from iai_mcp.remote.pty import ending_of

        ended = ending_of(machine_of(self.record), self.record.id, client.position)
        if ended is not None:
            client.end(*ended)
            return False
        client.resume(self.connected())
        return True


class _Client:
    """One attached terminal: bytes in, bytes out, and the screen to begin with."""

    def __init__(self, connection: HolderConnection, keys: Keys, *, read_only: bool) -> None:
        self.outcome = "left"
        self.exit_code = 0
        self.position = 0  # the number of the byte that comes next
        self._repaint_from: int | None = None
        self._connection = connection
        self._keys = keys
        self._read_only = read_only
        self._state: HolderState | None = None
        self._restoring: list[bytes] | None = None
        self._missing = 0
        self._wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_write, False)

    def __enter__(self) -> "_Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def start(self) -> None:
        cols, rows = os.get_terminal_size(_DISPLAY)
        if self._read_only:
            rows = cols = 0  # who only watches does not shape the terminal of who works
        self._restore(self._connection.attach(wire.SCREEN, rows, cols))

    def run(self) -> None:
        """Until detached, ended or told to go."""
        self._connection.socket.settimeout(None)  # we poll ourselves; a timeout polls once more
        self.outcome = "left"
        poll = select.poll()
        for descriptor in (_KEYBOARD, self._wake_read, self._connection.socket.fileno()):
            poll.register(descriptor, select.POLLIN)
        while not self._connection.has_frames() or self._printed():
            for descriptor, _ in poll.poll():
                if descriptor == _KEYBOARD:
                    if not self._typed():
                        return
                elif descriptor == self._wake_read:
                    os.read(self._wake_read, 4096)
                    self._resized()
                elif not self._printed():
                    return

    def show_cut(self, machine: str) -> None:
        """Tell on the last line that what is seen is from before."""
        rows = os.get_terminal_size(_DISPLAY).lines
        told = f" connection to {machine} lost; it runs on; trying again "
        _write(b"\x1b7\x1b[%d;1H\x1b[7m%s\x1b[0m\x1b8" % (rows, told.encode()))

    def stays(self, seconds: float) -> bool:
        """Wait; False when the person leaves meanwhile. Nothing else that is typed is kept."""
        if not select.select([_KEYBOARD], [], [], seconds)[0]:
            return True
        try:
            data = os.read(_KEYBOARD, 65_536)
        except OSError:
            raise _Leave from None
        if not data:
            raise _Leave
        return not self._keys.feed(data)[1]

    def resume(self, connection: HolderConnection) -> None:
        """Go on with another connection where the last one broke, then paint the screen anew."""
        self._connection.close()
        self._connection = connection
        self._restoring = None
        cols, rows = os.get_terminal_size(_DISPLAY)
        if self._read_only:
            rows = cols = 0
        state = connection.resume(self.position, rows, cols)
        self.position = state.position
        self._repaint_from = state.head
        self._repaint_when_due()

    def end(self, exit_code: int, rest: bytes) -> None:
        """It ended while nobody was connected; `rest` is what it printed meanwhile."""
        _write(rest)
        self.exit_code = exit_code
        self.outcome = "exited"

    def _repaint_when_due(self) -> None:
        if self._repaint_from is None or self.position < self._repaint_from:
            return
        self._repaint_from = -1
        self._connection.send(wire.ATTACH, wire.pack((wire.SCREEN, 1), (0, 2), (0, 2)))

    def _typed(self) -> bool:
        try:
            data = os.read(_KEYBOARD, 65_536)
        except OSError:
            raise _Leave from None
        if not data:
            raise _Leave
        passed, detach = self._keys.feed(data)
        if passed and not self._read_only:
            for at in range(0, len(passed), wire.MAX_PAYLOAD - 4):
                piece = passed[at : at + wire.MAX_PAYLOAD - 4]
                try:
                    self._connection.send(wire.INPUT, wire.pack((0, 4)) + piece)
                except PtyFailed:
                    self.outcome = "cut"
                    return detach
        return not detach

    def _resized(self) -> None:
        cols, rows = os.get_terminal_size(_DISPLAY)
        if not self._read_only:
            self._connection.send(wire.RESIZE, wire.pack((rows, 2), (cols, 2)))

    def _printed(self) -> bool:
        """Hand on what the holder sent; False when there will be no more."""
        for kind, payload in self._connection.receive_all():
            if kind == wire.OUTPUT:
                self.position += len(payload)
                self._output(payload)
            elif kind == wire.STATUS:
                self._state = HolderState.parse(payload)
                if self._restoring is not None or self._repaint_from == -1:
                    self._repaint_from = None
                    self._restore(self._state)
            elif kind == wire.LOST:
                self._restoring = []
            elif kind == wire.EXITED:
                self.exit_code = wire.unpack(payload, 4)[0]
                self.outcome = "exited"
                return False
        if self._connection.closed:
            self.outcome = "cut"
        return not self._connection.closed

    def _output(self, payload: bytes) -> None:
        if self._restoring is None:
            _write(payload)
            self._repaint_when_due()
            return
        self._restoring.append(payload[: self._missing])
        rest = payload[self._missing :]
        self._missing -= len(payload) - len(rest)
        if self._missing == 0:
            self._paint()
            _write(rest)

    def _restore(self, state: HolderState) -> None:
        """Collect the output that makes the screen, then paint it in one go."""
        self._state = state
        self.position = state.position
        self._restoring = []
        self._missing = state.head - state.position
        if not self._missing:
            self._paint()

    def _paint(self) -> None:
        state, data = self._state, b"".join(self._restoring or [])
        self._restoring = None
        if state is None:
            return
        screen = Screen(state.rows, state.cols)
        if began_on_alternate(data, state.alternate):
            screen.start_on_alternate()
        screen.feed(data)
        rows = os.get_terminal_size(_DISPLAY).lines
        _write(paint(screen, rows, modes=state.modes, keypad=state.keypad, keyboard=state.keyboard))

    def clean_up(self) -> None:
        """Leave the terminal as a shell expects it, whatever the program had done to it."""
        state = self._state
        with contextlib.suppress(Exception):
            if self.outcome == "left":
                state = self._connection.state()
        modes = dict(state.modes) if state else {}
        rows = os.get_terminal_size(_DISPLAY).lines
        keypad, keyboard = (state.keypad, state.keyboard) if state else (False, 0)
        _write(unpaint(modes, rows, keypad=keypad, keyboard=keyboard) + b"\r\n")


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(_DISPLAY, rest) :]
        except BlockingIOError:
            select.select([], [_DISPLAY], [])
        except OSError:
            raise _Leave from None


@contextlib.contextmanager
def _raw_terminal() -> Iterator[None]:
    before = termios.tcgetattr(_KEYBOARD)
    output.flush()
    try:
        tty.setraw(_KEYBOARD, termios.TCSADRAIN)
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(_KEYBOARD, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _signals(client: _Client) -> Iterator[None]:
    """Leave in order when asked to end; notice a new window size."""

    def leave(_number: int, _frame: object) -> None:
        raise _Leave

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGWINCH] = signal.signal(
        signal.SIGWINCH, lambda _number, _frame: os.write(client.wake_write, b"w") and None
    )
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
