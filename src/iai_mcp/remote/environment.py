"""What surrounds programs over there: the person's own environment, and which archives are in use."""

import os
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from iai_mcp import paths

if TYPE_CHECKING:
    from iai_mcp.adapters.agent_runtime import LocalRuntime

_ROOT = os.path.abspath(__file__).rsplit("/", 3)[0]
# Start-up files that take longer are not waited for: programs start with what sshd gave us.
_PATIENCE_SECONDS = 5.0
_OURS = ("IAI_MCP_STORE", "IAI_DAEMON_SOCKET_PATH", "IAI_MCP_MACHINE")
_USES = "uses"
_ANSWER_SECONDS = 3.0  # two round trips over a slow line


def choose(home_id: str, machine: str) -> None:
    """Everything of the home `home_id` lives in a directory of its own, apart from any other's.

    `machine` is what this one is called there, `ssh://…`.
    """
    store = os.path.join(os.path.expanduser("~"), ".iai-mcp", "far", "homes", home_id)
    os.environ["IAI_MCP_STORE"] = store
    os.environ["IAI_MCP_MACHINE"] = machine
    os.environ["IAI_DAEMON_SOCKET_PATH"] = os.path.join(store, "d.sock")
    paths.private_dir(store)


@cache
def _login_environment() -> dict[str, str]:
    """What the person's login shell has in its environment; sshd alone gives little of it."""
    import subprocess

    shell = os.environ.get("SHELL") or "/bin/sh"
    # As login(1) says it: tcsh takes no `-l` beside other flags.
    login = f"-{os.path.basename(shell)}"
    mark = f"iai-mcp-{os.getpid()}"
    say = f"echo {mark}; exec /usr/bin/env -0"
    try:
        done = subprocess.run(
            [login, "-c", say],
            executable=shell,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_SECONDS,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    _, found, text = done.stdout.partition(f"{mark}\n".encode())
    pairs = (pair.partition(b"=") for pair in text.split(b"\0")) if found else ()
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name}


def adopt() -> None:
    """Programs that are started from now on find what they would at the person's prompt."""
    ours = {name: os.environ[name] for name in _OURS if name in os.environ}
    os.environ.update({**_login_environment(), **ours})


def runtime() -> "LocalRuntime":
    from iai_mcp.adapters.agent_runtime import LocalRuntime

    adopt()
    return LocalRuntime(os.environ)


def memory_answers() -> bool:
    """Whether the socket that leads home leads anywhere; one that does not is removed.

    An sshd that was never told of the end of its connection (the network was cut, and who called has
    another address now) accepts for hours, and hands nothing on: only an answer counts.
    """
    import socket

    path = paths.socket_path()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_ANSWER_SECONDS)
        try:
            probe.connect(path)
            probe.sendall(b'{"type":"status"}\n')
            probe.recv(1)  # an end is an answer too: the way is there, and no daemon at its end
        except FileNotFoundError:
            return False
        except (ConnectionResetError, BrokenPipeError):
            return True
        except OSError:
            with suppress(FileNotFoundError):  # a home with a name too long for a socket has none
                os.unlink(path)  # sshd would not replace it
            return False
    return True


def digest() -> str:
    """Of the archive that this runs from; nothing if what was unpacked from it is no longer that."""
    import hashlib
    import zipfile

    archive = os.path.join(_ROOT, "far.pyz")
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            with open(os.path.join(_ROOT, name), "rb") as source:
                if source.read() != packed.read(name):
                    return ""
    with open(archive, "rb") as source:
        return hashlib.sha256(source.read()).hexdigest()


def note_use(session_id: str) -> None:
    """The session's hooks and bridge come from this archive: it stays as long as the session."""
    uses = os.path.join(_ROOT, _USES)
    os.makedirs(uses, mode=0o700, exist_ok=True)
    with open(os.path.join(uses, session_id), "w", encoding="utf-8") as out:
        out.write(paths.user_data())


def sweep() -> None:
    """Remove archives that no session of any home uses, except this one."""
    far = os.path.dirname(_ROOT)
    if os.path.basename(far) != "far":
        return  # not unpacked from an archive: this is somebody's source tree
    import shutil

    for name in os.listdir(far):
        directory = os.path.join(far, name)
        if name == "homes" or directory == _ROOT or not os.path.isdir(directory):
            continue
        if not _in_use(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _in_use(directory: str) -> bool:
    from iai_mcp.terminal.records import holder_lives

    uses = os.path.join(directory, _USES)
    try:
        names = os.listdir(uses)
    except FileNotFoundError:
        # Just being unpacked, or swapped for this one while a launch was on its way.
        return _is_young(directory)
    for name in names:
        with open(os.path.join(uses, name), encoding="utf-8") as source:
            store = source.read()
        if holder_lives(os.path.join(store, "s", name)):
            return True
    return _is_young(directory)


def _is_young(directory: str) -> bool:
    import time

    try:
        return time.time() - os.stat(directory).st_mtime < 3600
    except FileNotFoundError:
        return False
