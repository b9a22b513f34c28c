"""What the tests of terminal sessions share: a scratch home, waiting, a client that watches."""

import contextlib
import os
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyte
import pytest

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSize
from iai_mcp.domain.errors import IaiError
from iai_mcp.terminal import cleanup, records
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.connection import HolderConnection, HolderState
from iai_mcp.terminal.pty import HolderPty

SOURCE = str(Path(__file__).resolve().parent.parent / "src")
DEADLINE = 20.0
T = TypeVar("T")


def eventually(look: Callable[[], T | None], what: str = "it") -> T:
    """The first true answer of `look`; fails when none comes in time."""
    stop = time.monotonic() + DEADLINE
    while time.monotonic() < stop:
        answer = look()
        if answer:
            return answer
        time.sleep(0.005)
    raise AssertionError(f"{what} did not happen in {DEADLINE} seconds")


class Desk:
    """A person's machine: a user-data directory of its own, sessions, the command line."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.pty = HolderPty()

    def start(
        self,
        *command: str,
        rows: int = 24,
        cols: int = 80,
        env: dict[str, str] | None = None,
        label: SessionLabel | None = None,
        cwd: str | None = None,
    ) -> str:
        """A session that runs `command`."""
        spec = SpawnSpec(command[0], tuple(command[1:]), cwd or str(self.home), env or {})
        return self.pty.spawn(spec, TerminalSize(rows, cols), label=label)

    def python(self, code: str, **options: Any) -> str:
        """A session that runs a Python program."""
        return self.start(sys.executable, "-I", "-S", "-c", code, **options)

    def record(self, session_id: str) -> records.SessionRecord:
        found = records.read(session_id)
        assert found is not None
        return found

    def ended(self, session_id: str) -> records.SessionRecord:
        """The session once it has ended."""
        return eventually(
            lambda: record if not (record := self.record(session_id)).alive else None, "the end"
        )

    def state(self, session_id: str) -> HolderState:
        with HolderConnection(self.record(session_id).socket) as connection:
            return connection.state()

    @contextlib.contextmanager
    def watching(self, session_id: str, mode: int = wire.WHOLE) -> Iterator["Watcher"]:
        with HolderConnection(self.record(session_id).socket) as connection:
            yield Watcher(connection, connection.attach(mode))

    @contextlib.contextmanager
    def attached(
        self, session_id: str, *more: str, rows: int = 24, cols: int = 80
    ) -> Iterator["Terminal"]:
        """A terminal window with `iai-mcp session attach` in it."""
        command = [sys.executable, "-m", "iai_mcp.cli", "session", "attach", session_id, *more]
        terminal = Terminal(command, rows=rows, cols=cols)
        try:
            yield terminal
        finally:
            terminal.close()

    def cli(
        self, *arguments: str, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run `iai-mcp` as a person would."""
        return subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            cwd=self.home,
            check=False,
            env={**os.environ, "PYTHONPATH": SOURCE, **environment},
        )

    def close(self) -> None:
        for record in records.read_all():
            if record.alive:
                with contextlib.suppress(IaiError):
                    self.pty.kill(record.id)
        cleanup.prune(records.read_all())


class Watcher:
    """A client that keeps everything it is sent."""

    def __init__(self, connection: HolderConnection, state: HolderState) -> None:
        self.connection = connection
        self.first = state
        self.output = bytearray()
        self.frames: list[int] = []
        self.exited: tuple[int, ...] | None = None

    def until(self, wanted: bytes) -> bytes:
        """Everything seen so far, once `wanted` is part of it."""
        start = 0

        def found() -> bool:
            nonlocal start
            at = self.output.find(wanted, start)
            start = max(0, len(self.output) - len(wanted))
            return at >= 0

        self._take(found, repr(wanted))
        return bytes(self.output)

    def to_the_end(self) -> bytes:
        """All output of a program that ends."""
        self._take(lambda: self.exited is not None, "the end")
        return bytes(self.output)

    def _take(self, enough: Callable[[], bool], what: str) -> None:
        stop = time.monotonic() + DEADLINE
        while not enough():
            try:
                frame = self.connection.receive(stop)
            except TimeoutError:
                seen = bytes(self.output[-500:])
                raise AssertionError(f"{what} did not come, but {seen!r}") from None
            assert frame is not None, f"the holder hung up before {what}"
            self.frames.append(frame[0])
            if frame[0] == wire.OUTPUT:
                self.output += frame[1]
            elif frame[0] == wire.EXITED:
                self.exited = wire.unpack(frame[1], 4, 1)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A machine of one's own; whatever still runs in it is ended afterwards."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("IAI_MCP_STORE", str(home / ".iai-mcp"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in ("IAI_MCP_NOTIFY", "IAI_MCP_SESSION_RING", "IAI_MCP_DETACH_KEY", "ENV", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    used = Desk(home)
    yield used
    used.close()


_TAKE_TERMINAL = (
    "import os, sys; os.login_tty(os.open(sys.argv[1], os.O_RDWR)); "
    "os.execv(sys.argv[2], sys.argv[2:])"
)


class Screen(pyte.Screen):
    def select_graphic_rendition(self, *attributes: int, **_private: bool) -> None:
        """What a private sequence asks of the keyboard is no colour; pyte knows none of these."""
        if not _private:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """A person's terminal window with one command in it; what it shows, pyte tells."""

    def __init__(self, command: list[str], *, rows: int = 24, cols: int = 80) -> None:
        self.screen = Screen(cols, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = b""
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (rows, cols))
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE_TERMINAL, os.ttyname(slave), *command],
            env={**os.environ, "PYTHONPATH": SOURCE},
        )

    def shows(self, wanted: str) -> list[str]:
        """The lines on the screen, once `wanted` is among them."""
        return self.until(lambda: wanted in "\n".join(self.screen.display), repr(wanted))

    def until(self, enough: Callable[[], bool], what: str) -> list[str]:
        stop = time.monotonic() + DEADLINE
        while not enough():
            if not select.select([self.master], [], [], max(0.0, stop - time.monotonic()))[0]:
                raise AssertionError(f"{what} did not show:\n" + "\n".join(self.screen.display))
            self._read()
        return [line.rstrip() for line in self.screen.display]

    def _read(self) -> None:
        data = os.read(self.master, 65_536)
        self.output += data
        self._stream.feed(data)

    def type(self, data: bytes) -> None:
        os.write(self.master, data)

    def resize(self, rows: int, cols: int) -> None:
        self.screen.resize(rows, cols)
        termios.tcsetwinsize(self.master, (rows, cols))

    def is_raw(self) -> None:
        """Waits until the client has taken the terminal over."""
        eventually(lambda: self.attributes() != self.before, "raw mode")

    def attributes(self) -> list[object]:
        return termios.tcgetattr(self._slave)

    def ends(self) -> int:
        """The command's exit code, all its output taken."""
        stop = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < stop, "the command does not end"
            if select.select([self.master], [], [], 0.01)[0]:
                self._read()
        while select.select([self.master], [], [], 0)[0]:
            self._read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self._slave)
