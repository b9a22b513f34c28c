"""From a launcher's order to a running program: read the order, leave the launcher, open the PTY.

The order comes through stdin, never through arguments or the environment of this process:
what a person asks of an agent does not belong in a process list.
"""

import os
import sys
import termios

from iai_mcp.terminal.holder.c_modules import signal, socket

_BACKLOG = 64
_FIRST_UNKNOWN = 3
_HIGHEST_LEAKED = 65_536
_IUTF8 = 0x4000  # the same on Linux and macOS; the termios module does not name it


class LaunchError(Exception):
    """The program was not executed: which step failed, and the system's error number."""


class SpawnRequest:
    """What to start, and where its files are. Fields are separated by NUL, which none can hold."""

    __slots__ = (
        "agent",
        "arguments",
        "cols",
        "cwd",
        "directory",
        "environment",
        "notify",
        "ring_size",
        "rows",
        "socket_path",
        "tail_path",
        "tethered",
        "umask",
    )

    def __init__(self, text: bytes) -> None:
        fields = text.split(b"\0")
        (self.directory, self.socket_path, self.tail_path, self.cwd) = map(os.fsdecode, fields[:4])
        numbers = [int(field) for field in fields[4:9]]
        self.rows, self.cols, self.ring_size, self.umask, tethered = numbers
        self.tethered = bool(tethered)
        rest = fields[9:]
        self.arguments, rest = _counted(rest)
        self.notify, rest = _counted(rest)
        pairs, rest = _counted(rest)
        self.environment = dict(pair.split(b"=", 1) for pair in pairs)
        # An id is letters, digits and dashes; what is none could break the line it is written in.
        agent = self.environment.get(b"IAI_MCP_AGENT_ID", b"").decode("ascii", "replace")
        self.agent = agent if agent.replace("-", "").replace("_", "").isalnum() else ""


def _counted(fields: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    count = int(fields[0])
    return fields[1 : 1 + count], fields[1 + count :]


def read_order() -> SpawnRequest:
    """The order on stdin: its length in a line of its own, then the order."""
    size = b""
    while not size.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit("the session's order never came")
        size += byte
    parts = []
    missing = int(size)
    while missing:
        part = os.read(0, min(missing, 65_536))
        if not part:
            sys.exit("the session's order was cut off")
        parts.append(part)
        missing -= len(part)
    return SpawnRequest(b"".join(parts))


def leave_launcher() -> None:
    """Become a process that no terminal, shell or launcher takes along when it goes."""
    if os.fork():
        os._exit(0)
    os.setsid()
    # A session's leader acquires a terminal by opening one; its child can not.
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    os.chdir("/")
    os.umask(0o077)
    os.closerange(_FIRST_UNKNOWN, _HIGHEST_LEAKED)


def listen(path: str) -> "socket.socket":
    """A socket that only this user can reach."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.path.exists(path):
        os.unlink(path)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(_BACKLOG)
    listener.setblocking(False)
    return listener


def start_program(order: SpawnRequest) -> tuple[int, int, str]:
    """Run the program in a new terminal: its pid, the master side, the name of the other side.

    Raises:
        LaunchError: it could not be executed; nothing is left of it.
    """
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (order.rows, order.cols))
    _expect_utf8(slave)
    name = os.ttyname(slave)
    report_read, report_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_program(order, slave, report_write)
    os.close(slave)
    os.close(report_write)
    failure = os.read(report_read, 32)
    os.close(report_read)
    if failure:
        os.waitpid(pid, 0)
        os.close(master)
        raise LaunchError(failure.decode())
    os.set_blocking(master, False)
    return pid, master, name


def _expect_utf8(slave: int) -> None:
    """Let the kernel's line editing erase whole characters, not bytes."""
    attributes = termios.tcgetattr(slave)
    attributes[0] |= _IUTF8
    termios.tcsetattr(slave, termios.TCSANOW, attributes)


def _become_program(order: SpawnRequest, slave: int, report: int) -> None:
    """In the new process: take the terminal, forget our signal settings, execute."""
    step = "terminal"
    try:
        os.login_tty(slave)
        for number in range(1, signal.NSIG):
            if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
                # 32 and 33 belong to the C library's threads.
                signal.signal(number, signal.SIG_DFL)
        os.umask(order.umask)
        step = "directory"
        os.chdir(order.cwd)
        step = "program"
        os.execvpe(order.arguments[0], order.arguments, order.environment)  # noqa: S606 - no shell
    except OSError as refused:
        os.write(report, f"{step} {refused.errno}".encode())
    finally:
        os._exit(127)
