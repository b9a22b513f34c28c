"""Ways to keep a program in a terminal, measured alike: ours, tmux, dtach, and a bare PTY."""

import os
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.terminal import records
from iai_mcp.terminal.pty import HolderPty

SOURCE = str(Path(__file__).parents[1] / "src")
ROWS, COLS = 24, 80
DEADLINE = 300.0
_TAKE_TERMINAL = (
    "import os, sys; os.login_tty(os.open(sys.argv[1], os.O_RDWR)); "
    "os.execvp(sys.argv[2], sys.argv[2:])"
)


class Window:
    """A terminal window with one command in it, read by this process."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (ROWS, COLS))
        tty.setraw(slave)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL, os.ttyname(slave), *command],
            env=environment,
        )
        self._slave = slave

    def read(self, timeout: float = DEADLINE) -> bytes:
        """The next bytes; empty when none come in time."""
        if not select.select([self.master], [], [], timeout)[0]:
            return b""
        return os.read(self.master, 65_536)

    def until(self, wanted: bytes) -> None:
        """Read until `wanted` came."""
        seen = b""
        while wanted not in seen:
            piece = self.read()
            if not piece:
                raise RuntimeError(f"{wanted!r} never came: {seen[-200:]!r}")
            seen = seen[-200:] + piece

    def settle(self) -> None:
        """Read until the client has drawn its first screen and nothing more comes."""
        wait = 3.0
        while self.read(wait):
            wait = 0.5

    def type(self, data: bytes) -> None:
        os.write(self.master, data)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)


class Rig:
    """One way to keep programs in terminals. `label` is what the table calls it."""

    label = ""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "IAI_MCP_STORE": str(home / "store"),
            "PYTHONPATH": SOURCE,
            "TERM": "xterm-256color",
        }
        self.environment.pop("TMUX", None)

    def start(self, name: str, command: list[str]) -> None:
        raise NotImplementedError

    def attach_command(self, name: str) -> list[str]:
        raise NotImplementedError

    def holders(self) -> list[int]:
        """The processes that keep the terminals."""
        raise NotImplementedError

    def list_command(self) -> list[str] | None:
        return None

    def stop(self) -> None:
        raise NotImplementedError

    @contextmanager
    def attached(self, name: str) -> Iterator[Window]:
        window = Window(self.attach_command(name), self.environment)
        try:
            yield window
        finally:
            window.close()


class Ours(Rig):
    label = "iai-mcp"

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        os.environ.update(
            {name: self.environment[name] for name in ("HOME", "IAI_MCP_STORE", "TERM")}
        )
        self.pty = HolderPty()
        self.ids: dict[str, str] = {}

    def start(self, name: str, command: list[str]) -> None:
        spec = SpawnSpec(command[0], tuple(command[1:]), str(self.home))
        self.ids[name] = self.pty.spawn(spec, TerminalSize(ROWS, COLS))

    def attach_command(self, name: str) -> list[str]:
        return [sys.executable, "-m", "iai_mcp.cli", "session", "attach", self.ids[name]]

    def holders(self) -> list[int]:
        return [record.holder for record in records.read_all() if record.holder and record.alive]

    def record(self, name: str) -> records.SessionRecord:
        found = records.read(self.ids[name])
        assert found is not None
        return found

    def list_command(self) -> list[str]:
        return [sys.executable, "-m", "iai_mcp.cli", "session", "list", "--json"]

    def stop(self) -> None:
        for record in records.read_all():
            if record.alive:
                self.pty.kill(record.id)


class Tmux(Rig):
    label = "tmux"

    def _tmux(self, *arguments: str) -> list[str]:
        return ["tmux", "-S", str(self.home / "tmux"), "-f", "/dev/null", *arguments]

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(
            self._tmux(*arguments),
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def start(self, name: str, command: list[str]) -> None:
        size = ("-x", str(COLS), "-y", str(ROWS))
        self._run("new-session", "-d", "-s", name, *size, *command)

    def attach_command(self, name: str) -> list[str]:
        return self._tmux("attach", "-t", name)

    def holders(self) -> list[int]:
        return [int(self._run("display-message", "-p", "#{pid}"))]

    def list_command(self) -> list[str]:
        return self._tmux("list-sessions")

    def stop(self) -> None:
        subprocess.run(
            self._tmux("kill-server"), env=self.environment, capture_output=True, check=False
        )


class Dtach(Rig):
    label = "dtach"

    def start(self, name: str, command: list[str]) -> None:
        path = str(self.home / f"{name}.dtach")
        subprocess.run(["dtach", "-n", path, *command], env=self.environment, check=True)
        while not os.path.exists(path):
            time.sleep(0.005)

    def attach_command(self, name: str) -> list[str]:
        return ["dtach", "-a", str(self.home / f"{name}.dtach"), "-r", "winch"]

    def holders(self) -> list[int]:
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and str(self.home).encode() in _command_line(entry):
                found.append(int(entry))
        return found

    def stop(self) -> None:
        import signal

        for pid in self.holders():
            os.kill(pid, signal.SIGTERM)


class Bare(Rig):
    """What the kernel gives: a reader that throws away what it reads. The ceiling of all others."""

    label = "a bare PTY"
    _READER = (
        "import os, pty, sys\n"
        "pid, master = pty.fork()\n"
        "pid or os.execvp(sys.argv[1], sys.argv[1:])\n"
        "while os.read(master, 65536): pass\n"
    )

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self._readers: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, command: list[str]) -> None:
        del name
        arguments = [sys.executable, "-c", self._READER, *command]
        self._readers.append(subprocess.Popen(arguments, env=self.environment))

    def stop(self) -> None:
        for reader in self._readers:
            reader.kill()
            reader.wait()


def _command_line(pid: str) -> bytes:
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
    return text if text.startswith(b"dtach\0-n\0") else b""


@contextmanager
def rigs() -> Iterator[list[Rig]]:
    """Ours, and whatever else is installed; everything is ended and removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="iai-s-"))
    made: list[Rig] = []
    for kind, program in ((Ours, None), (Tmux, "tmux"), (Dtach, "dtach")):
        if program is None or shutil.which(program):
            (home / kind.label).mkdir()
            made.append(kind(home / kind.label))
    try:
        yield made
    finally:
        for rig in made:
            rig.stop()
        shutil.rmtree(home, ignore_errors=True)
