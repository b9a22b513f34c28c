"""The one-daemon rule: a lock that dies with its process, and a socket that is never stolen.

`SOCKET_PATH` and `LOCK_PATH` look like constants and are computed on each access, from the
environment of that moment.
"""

import contextlib
import fcntl
import os
import socket
import stat
import sys
from collections.abc import MutableMapping
from pathlib import Path
from types import ModuleType

from iai_mcp import paths

SOCKET_PATH: Path
LOCK_PATH: Path

_PROBE_SECONDS = 1.0


def _computed(name: str) -> Path:
    return Path(paths.socket_path() if name == "SOCKET_PATH" else paths.lock_path())


class _ComputedPaths(ModuleType):
    """This module with its two paths computed on access.

    Assigning one overrides it (embedders do); assigning what would be computed anyway, as undoing an
    override does, lifts it again instead of freezing today's value.
    """

    def __getattr__(self, name: str) -> Path:
        if name in ("SOCKET_PATH", "LOCK_PATH"):
            return _computed(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("SOCKET_PATH", "LOCK_PATH") and value == _computed(name):
            self.__dict__.pop(name, None)
        else:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _ComputedPaths


class ProcessLock:
    """An advisory lock on a file. The kernel releases it when its holder dies, however it dies.

    The file holds the pid of the exclusive holder, for messages only.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = Path(path) if path is not None else Path(paths.lock_path())
        self._descriptor: int | None = None

    def try_acquire_exclusive(self) -> bool:
        """Take the lock alone, at once or not at all."""
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        _sign(descriptor)
        return True

    @property
    def descriptor(self) -> int:
        """The open file behind the lock; the lock lives as long as any copy of it is open."""
        return self._open()

    def adopt(self, descriptor: int) -> None:
        """Go on holding a lock that this process inherited."""
        self._descriptor = descriptor
        _sign(descriptor)

    def holder(self) -> int | None:
        """The pid that the current exclusive holder wrote, if any."""
        try:
            return int(self.path.read_text("ascii").strip() or 0) or None
        except (OSError, ValueError):
            return None

    def release(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # a lock file on a vanished disk is released anyway
                os.ftruncate(self._descriptor, 0)
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = _opened(self.path)
        return self._descriptor


def _opened(path: Path) -> int:
    """The file at `path`, made if need be; in a shared directory somebody else may have made it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except PermissionError:
        _refuse(path, paths.stranger(str(path)))
        raise
    found = os.fstat(descriptor)
    if found.st_uid != os.geteuid():
        os.close(descriptor)
        _refuse(path, found.st_uid)
    if found.st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
    return descriptor


def _refuse(path: Path, stranger: int | None) -> None:
    if stranger is not None:
        raise paths.NotOurs(
            f"{path} belongs to another user (uid {stranger}): remove it, or {paths.ELSEWHERE}"
        )


def _sign(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # on a full disk it is a lock all the same
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


async def _dispatch_socket_request(
    req: dict[str, object],
    store: object,
    lock: object,
    state: MutableMapping[str, object],
) -> dict[str, object]:
    """Answer one control message. A name that programs import; the server calls it too.

    What the message asks for is left in the server's queue of requests, else in
    `state["requests"]`: nothing here changes the lifecycle.
    """
    from iai_mcp.daemon import control

    if isinstance(state, control.WiredState):
        return control.answer(req, state, state.requests, state.facts)
    requests = state.setdefault("requests", control.Requests())
    if not isinstance(requests, control.Requests):
        raise TypeError("state['requests'] must be the queue that was left there")
    return control.answer(req, state, requests, dict)


def is_served(path: Path | str) -> bool:
    """Whether somebody accepts connections on the socket at `path`."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.settimeout(_PROBE_SECONDS)
    try:
        probe.connect(str(path))
    except (ConnectionRefusedError, FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # its backlog is full, or it is not ours to connect to: somebody's all the same
    finally:
        probe.close()
    return True


def cleanup_stale_socket(path: Path | str) -> bool:
    """Remove what a killed daemon left at `path`; whether anything was removed.

    A socket that is served is never touched, and neither is a directory or what another user made. A
    file with something in it is no leftover of ours: it is moved aside.
    """
    place = Path(path)
    try:
        found = place.lstat()
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or is_served(place):
        return False
    if stat.S_ISREG(found.st_mode) and found.st_size > 0:
        _move_aside(place)
    else:
        place.unlink(missing_ok=True)
    return True


def _move_aside(place: Path) -> None:
    number = 0
    while True:
        number += 1
        aside = place.with_name(f"{place.name}.kept-{number}")
        try:
            os.link(place, aside, follow_symlinks=False)  # unlike a rename it replaces nothing
        except FileExistsError:
            continue
        place.unlink()
        return
