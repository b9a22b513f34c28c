"""Another machine, reached with the person's own `ssh`: their keys, agents, jump hosts and settings.

    machine = Machine.of(RemoteRef.parse("ssh://ann@build"))
    machine.call("files.read", root="/home/ann/shop", path=".ideai/agents.json")

One ssh connection per machine is kept open in the background and shared by all our processes (ssh's own
multiplexing, with a socket in a directory of ours). Every process has one `serve` over there, started
with its first call. Whatever is asked interactively is refused: host keys are never accepted for a person.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import select
import socket
import subprocess
import time
from collections.abc import Sequence
from threading import Lock
from typing import IO

from iai_mcp import paths
from iai_mcp.child_environment import without_secrets
from iai_mcp.domain.errors import (
    DiskFull,
    NotFound,
    NotInstalled,
    RemoteFailed,
    TimedOut,
)
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote import archive, wire
from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.rpc_client import RpcClient
from iai_mcp.terminal import layout

CONNECT_SECONDS = 15.0
_CALL_SECONDS = 60.0
_KEPT_OPEN = 600  # seconds without any use
_MOST_NOISE = 1_000_000  # bytes that start-up files may print before we are heard
# ssh reads more than a path from the ends of a forwarding: ports, `%u`, and variables as `${NAME}`.
_PLAIN_PATH = re.compile(r"/[^:$%\\\[\]\x00-\x1f\x7f]+")
_TEMPORARY = 18  # bytes that ssh appends to the name of its socket while it makes it
_CONTROL = ".mux"
_OLDER_CONTROL = ".ssh"  # connections of earlier versions: they forward to the owner's socket
_SETTINGS = (
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "RemoteCommand=none",
    "RequestTTY=no",
    "PermitLocalCommand=no",
    "ClearAllForwardings=yes",
)
_PYTHONS = (
    "python3 python3.14 python3.13 python3.12 python3.11 /usr/local/bin/python3 "
    "/opt/homebrew/bin/python3 ~/.local/bin/python3"
)
# For any login shell: one word in single quotes, without a quote, `!`, backslash or line break in it.
_START = (
    'exec /bin/sh -c \'d=$HOME/.iai-mcp/far/DIGEST; p=`cat "$d/python" 2>/dev/null`; '
    'if [ -x "$p" ]; then exec "$p" -I -S "$d/iai_mcp/remote/__main__.py" serve MARK HOME_ID MACHINE; fi; '
    "for p in PYTHONS; do "
    'v=`$p -I -c "import sys; print(int(sys.version_info >= (3, 11)))" 2>/dev/null`; '
    'if [ "$v" = 1 ]; then '
    'exec $p -I -c "import sys; print(chr(10) + sys.argv[1] + chr(123) + chr(125), flush=True); '
    'exec(sys.stdin.buffer.readline())" MARK HOME_ID MACHINE; fi; '
    'if [ -n "$v" ]; then old=1; fi; done; '
    'echo; echo "MARK${old:-0}"\''
)


def end_older_connections(ssh: Sequence[str] = ("ssh",)) -> list[str]:
    """End ssh connections that an earlier version left open; those that could not be ended.

    They lead another machine to the owner's socket.
    """
    left = []
    for directory in (paths.in_user_data("far"), layout.short_dir()):
        names = os.listdir(directory) if os.path.isdir(directory) else []
        for control in (os.path.join(directory, n) for n in names if n.endswith(_OLDER_CONTROL)):
            if _answers(control):
                command = [*ssh, "-F", "none", "-S", control, "-O", "exit", "--", "far"]
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    subprocess.run(
                        command, env=without_secrets(), capture_output=True, check=False, timeout=5
                    )
            if _answers(control):
                left.append(control)
    return left


class Machine:
    """One machine. Safe from any thread; a lost connection is made anew by the next call."""

    _known: "dict[RemoteRef, Machine]" = {}  # noqa: RUF012 - one for each machine in this process

    def __init__(self, remote: RemoteRef, ssh: Sequence[str] = ("ssh",)) -> None:
        self.remote = remote
        self.name = remote.machine + (f":{remote.port}" if remote.port else "")
        self._ssh = ssh
        self._calls: RpcClient | None = None
        self._hello: Fields | None = None
        self._opening: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    @classmethod
    def of(cls, remote: RemoteRef) -> "Machine":
        """The one of this process."""
        return cls._known.setdefault(remote, cls(remote))

    def call(self, method: str, /, patience: float | None = None, **params: object) -> object:
        """What the other side answers.

        Raises:
            RemoteFailed, TimedOut: it can not be reached, or no longer; the next call tries again.
            IaiError: what it refused, as it would have been refused here.
        """
        patience = _CALL_SECONDS if patience is None else patience
        calls = self._connected(patience)
        try:
            return calls.ask(method, params, patience)
        except (TimedOut, ConnectionError) as gone:
            self._drop(calls)
            if isinstance(gone, TimedOut):
                raise
            raise RemoteFailed(f"the connection to {self.name} was lost: try again") from gone

    def hello(self, patience: float = CONNECT_SECONDS) -> Fields:
        """What it says of itself: its home directory, our directory there …"""
        self._connected(patience)
        assert self._hello is not None  # noqa: S101 - set with the connection
        return self._hello

    def dial(self, path: str) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
        """A stream to the Unix socket at `path` over there, and the process that carries it.

        Raises:
            NotFound: nobody listens there.
        """
        there = self.hello()
        root = f"{there.text('home')}/.iai-mcp/far/{archive.current().digest}"
        mark = os.urandom(8).hex()
        words = (there.text("python"), "-I", "-S", f"{root}/iai_mcp/remote/__main__.py", "dial")
        near, far = socket.socketpair()
        with far:
            line = " ".join(_quoted(word) for word in (*words, mark, path))
            process = self._channel(f"exec {line}", stdin=far.fileno(), stdout=far.fileno())
        try:
            said = _Marked(near.fileno(), mark).wait(time.monotonic() + CONNECT_SECONDS)
        except (TimedOut, EOFError) as silent:
            near.close()
            process.kill()
            process.wait()
            raise NotFound("the session has ended") from silent
        if said:
            raise RemoteFailed(f"{self.name} says something that nobody asked for")
        return near, process

    def close(self) -> None:
        """End what this process has over there; the connection stays open for others."""
        with self._lock:
            if self._calls is not None:
                self._calls.close()
                self._calls = None

    def disconnect(self) -> None:
        """End the connection itself."""
        self.close()
        if self._opening is not None and self._opening.poll() is None:
            self._opening.kill()
            self._opening.wait()
        control = self._control()
        if _answers(control):
            command = [*self._ssh, "-F", "none", "-S", control, "-O", "exit", "--", "far"]
            subprocess.run(command, capture_output=True, check=False, timeout=10)

    def is_connected(self) -> bool:
        """Whether the shared connection is open, as far as this side knows; costs a system call."""
        return _answers(self._control())

    def _drop(self, calls: RpcClient) -> None:
        with self._lock:
            calls.close()
            if self._calls is calls:
                self._calls = None

    def _connected(self, patience: float) -> RpcClient:
        deadline = time.monotonic() + min(patience, CONNECT_SECONDS)
        # Another thread may be at it, with more patience.
        if not self._lock.acquire(timeout=max(0.0, min(patience, CONNECT_SECONDS))):
            raise TimedOut(f"{self.name} does not answer")
        try:
            if self._calls is not None and self._calls.ended:
                self._calls.close()
                self._calls = None
            if self._calls is None:
                self._open_shared(deadline)
                self._calls, self._hello = self._begin(deadline)
                if not self._hello.flag("memory"):
                    self._lead_memory_home(self._hello.text("socket"), deadline)
            return self._calls
        finally:
            self._lock.release()

    # The connection that all our processes share.

    def _open_shared(self, deadline: float) -> None:
        """One process at a time opens it. The lock is on what ssh says, so ssh itself holds it on."""
        control = self._control()
        if _answers(control):
            return
        with open(f"{control}.said", "a+b") as said:
            os.fchmod(said.fileno(), 0o600)
            while not _took(said):
                if time.monotonic() > deadline:
                    raise TimedOut(f"{self.name} does not answer")
                time.sleep(0.01)
                if _answers(control):
                    return
            if not _answers(control):
                said.truncate(0)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(control)
                self._start_shared(control, said, deadline)

    def _start_shared(self, control: str, said: IO[bytes], deadline: float) -> None:
        keep = ["-f", "-N", "-M", "-o", f"ControlPersist={_KEPT_OPEN}"]
        # A file, not a pipe: the process that stays would hold its other end.
        self._opening = self._started([*keep, *self._destination(control)], stderr=said)
        while self._opening.poll() is None:
            if time.monotonic() > deadline:
                # It goes on by itself, within its own limit: who asks again may find it open.
                raise TimedOut(f"{self.name} does not answer")
            time.sleep(0.005)
        if self._opening.returncode:
            from iai_mcp.adapters.ssh_errors import ssh_ended

            said.seek(0)
            raise ssh_ended(self.name, said.read(20_000).decode("utf-8", "replace"))

    def _destination(self, control: str) -> list[str]:
        port = ["-p", str(self.remote.port)] if self.remote.port else []
        settings = [part for each in _SETTINGS for part in ("-o", each)]
        return [*settings, "-S", control, *port, "--", self.remote.machine]

    def _started(
        self,
        arguments: list[str],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: "int | IO[bytes]" = subprocess.DEVNULL,
    ) -> "subprocess.Popen[bytes]":
        try:
            return subprocess.Popen(
                [*self._ssh, *arguments],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=without_secrets(),
                start_new_session=True,  # a Ctrl-C at a command is not meant for it
            )
        except FileNotFoundError as absent:
            raise NotInstalled("the program `ssh` is needed for other machines") from absent

    def _channel(
        self,
        command: str,
        *,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
    ) -> "subprocess.Popen[bytes]":
        control = self._control()
        arguments = ["-T", "-o", "ControlMaster=no", *self._destination(control), command]
        return self._started(arguments, stdin=stdin, stdout=stdout)

    def _control(self) -> str:
        """Where the shared connection listens: a path that is short enough for ssh."""
        named = hashlib.sha256(f"{self.remote} {paths.user_data()}".encode()).hexdigest()[:12]
        near = paths.in_user_data("far", f"{named}{_CONTROL}")
        if len(os.fsencode(near)) + _TEMPORARY <= paths.socket_path_limit():
            paths.private_dir(paths.user_data())
            paths.private_dir(os.path.dirname(near))
            return near
        return os.path.join(layout.short_dir(), f"{named}{_CONTROL}")

    def _lead_memory_home(self, far_socket: str, deadline: float) -> None:
        """Forward this side's socket for remote callers, so that hooks and bridges over there reach it."""
        near_socket = paths.remote_socket_path()
        if not _PLAIN_PATH.fullmatch(far_socket) or paths.socket_path_problem(near_socket):
            return  # what it would get to see instead is of this side's environment
        route = f"{far_socket}:{near_socket}"
        # What ssh believes to be forwarded already it would not ask for again.
        for act in ("cancel", "forward"):
            command = ["-F", "none", "-S", self._control(), "-O", act, "-R", route, "--", "far"]
            process = self._started(command)
            try:
                process.wait(min(5.0, max(0.1, deadline - time.monotonic())))
            except subprocess.TimeoutExpired:  # refused: kept over there until somebody takes it
                process.kill()
                process.wait()

    # The process of ours over there.

    def _begin(self, deadline: float) -> tuple[RpcClient, Fields]:
        mark, ours = os.urandom(8).hex(), archive.current()
        line = (
            _START.replace("DIGEST", ours.digest)
            .replace("MARK", mark)
            .replace("HOME_ID", home_id())
            .replace("PYTHONS", _PYTHONS)
            .replace("MACHINE", str(self.remote))
        )
        process = self._channel(line)
        try:
            return self._greeted(process, mark, ours, deadline)
        except BaseException:
            process.kill()
            process.communicate()
            raise

    def _greeted(
        self,
        process: "subprocess.Popen[bytes]",
        mark: str,
        ours: archive.Archive,
        deadline: float,
    ) -> tuple[RpcClient, Fields]:
        assert process.stdin is not None and process.stdout is not None  # noqa: S101 - pipes
        heard = _Marked(process.stdout.fileno(), mark)
        said = self._heard(heard, deadline)
        if not said.all():
            from iai_mcp.remote import bootstrap  # at the first contact only

            data = ours.read()
            with open(f"{os.path.dirname(__file__)}/bootstrap.py", encoding="utf-8") as file:
                source = file.read()
            deadline += CONNECT_SECONDS
            script = bootstrap.script(source, mark, ours.digest, len(data))
            with contextlib.suppress(BrokenPipeError):  # its silence says so below
                wire.send(process.stdin.fileno(), script + data, deadline)
            said = self._heard(heard, deadline)
        if "refused" in said.all():
            kind = DiskFull if said.flag("full") else RemoteFailed
            raise kind(f"{self.name} could not take what runs there ({said.text('refused')})")
        return RpcClient(process, self.name), said

    def _heard(self, heard: "_Marked", deadline: float) -> Fields:
        try:
            said = json.loads(heard.wait(deadline))
        except TimedOut as silent:
            raise TimedOut(f"{self.name} does not answer") from silent
        except EOFError as ended:
            raise RemoteFailed(
                f"{self.name} ended the connection before anything ran there: does `ssh "
                f"{self.remote.machine} true` work?"
            ) from ended
        except (ValueError, RecursionError) as bad:
            raise RemoteFailed(f"{self.name} says something that nobody asked for") from bad
        if not isinstance(said, dict):
            found = "only an older Python" if said else "no Python"
            raise NotInstalled(f"{self.name} has {found}: install Python 3.11 or newer there")
        return Fields(said)


class _Marked:
    """Passes over whatever start-up files print, to the line that begins with our mark."""

    def __init__(self, descriptor: int, mark: str) -> None:
        self._descriptor = descriptor
        self._mark = mark.encode()

    def wait(self, deadline: float) -> bytes:
        """The rest of that line. What follows it is not touched.

        Raises:
            EOFError: the end came first.
            TimedOut: it did not come in time.
        """
        line, seen = bytearray(), 0
        while seen < _MOST_NOISE:
            if not wire.is_ready(self._descriptor, select.POLLIN, deadline):
                raise TimedOut("no answer")
            # By the letter: what comes after the line belongs to somebody else.
            letter = os.read(self._descriptor, 1)
            if not letter:
                break
            seen += 1
            if letter != b"\n":
                line += letter
            elif line.startswith(self._mark):
                return bytes(line[len(self._mark) :])
            else:
                line.clear()
        raise EOFError


def home_id() -> str:
    """What this store is known by on other machines: nothing of ours there is shared with another's."""
    with contextlib.suppress(FileNotFoundError), open(paths.in_user_data("far", "home")) as known:
        return known.read()
    from iai_mcp.adapters.files.local import LocalFileSystem

    own = LocalFileSystem(paths.user_data(), own=True)
    own.create_dir_all("far")
    with own.locked("far/lock"):
        if not own.exists("far/home"):
            own.write("far/home", os.urandom(6).hex().encode())
    return own.read("far/home").decode()


def _answers(control: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(control)
        except OSError:
            return False
    return True


def _quoted(word: str) -> str:
    """In single quotes, which every shell knows. No path of ours holds one."""
    if "'" in word or "\n" in word or "!" in word or "\\" in word:
        raise RemoteFailed("the home directory over there has a name that can not be used")
    return f"'{word}'"


def _took(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
