"""`FileSystem` on this machine's disk.

Every step is taken from an open directory (`openat`) and over no link (`O_NOFOLLOW`), so that
whatever is swapped meanwhile leads nowhere. The root itself is opened by its path.
"""

import errno
import fcntl
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from iai_mcp import paths
from iai_mcp.domain.errors import Busy, DiskFull, IoFailed, NotFound, ReadOnly
from iai_mcp.domain.foreign_text import is_seen, quoted
from iai_mcp.ports.file_system import LARGEST_FILE

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS}
_IN_THE_WAY = {errno.ELOOP, errno.ENOTDIR}  # it may have been a link
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Opening a pipe would wait for its other end without the second, a terminal would become ours
# without the third.
_FILE = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
# What is done under these locks takes milliseconds; whoever waits longer waits for a hung process.
PATIENCE_SECONDS = 10.0
_BETWEEN_TRIES = 0.01
_Missing = type[NotFound] | type[IoFailed]


class LocalFileSystem:
    """Whole files, replaced by rename; directories and files private unless told otherwise.

    `own`: the root is a directory that nobody but this person writes to, where a link is theirs: it
    is followed, so that who keeps a file elsewhere still does.
    """

    def __init__(self, root: str, *, own: bool = False) -> None:
        self._root = root
        self._own = own
        self._follow = 0 if own else os.O_NOFOLLOW

    def read(self, path: str) -> bytes:
        with self._at(path) as (directory, name):
            descriptor = os.open(name, os.O_RDONLY | _FILE | self._follow, dir_fd=directory)
            try:
                self._require_file(os.fstat(descriptor).st_mode, path)
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    data = file.read(LARGEST_FILE + 1)
            finally:
                os.close(descriptor)
        return self.require_bounds(data, path)

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        self.require_bounds(data, path)
        if self._own and os.path.islink(self._whole(path)):
            folder, _, name = os.path.realpath(self._whole(path)).rpartition("/")
            LocalFileSystem(folder or "/", own=True).write(name, data, private=private)
            return
        with self._at(path, missing=IoFailed) as (directory, name):
            mode = self._mode_of(directory, name, path)
            temporary = f".{secrets.token_hex(8)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(temporary, flags, 0o600 if private else mode, dir_fd=directory)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=directory)
                raise
            os.fsync(directory)  # makes the rename survive power loss

    def _mode_of(self, directory: int, name: str, path: str) -> int:
        """The mode a file has; for a new one all that the umask leaves."""
        try:
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return 0o666
        self._require_file(mode, path)
        return mode & 0o777

    def exists(self, path: str) -> bool:
        try:
            with self._at(path) as (directory, name):
                os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (NotFound, IoFailed):
            return False
        return True

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        mode = 0o700 if private else 0o777
        with self._told(path, IoFailed):
            if self._own:
                paths.private_dir(self._root)
            elif not path:
                os.makedirs(self._root, mode=mode, exist_ok=True)
            with self._opened(_parts(path), make=mode) as directory:
                found = os.fstat(directory)
                # Another user's is not ours to close, even where we could.
                if private and found.st_mode & 0o077 and found.st_uid == os.geteuid():
                    os.fchmod(directory, 0o700)

    def list(self, path: str) -> Sequence[str]:
        try:
            with self._told(path), self._opened(_parts(path)) as directory:
                return sorted(os.listdir(directory))
        except NotFound:
            return []

    def require_plain(self, path: str) -> None:
        with suppress(NotFound), self._at(path) as (directory, name):
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode):
                self._require_file(mode, path)
                return
            for below, folders, files, opened in os.fwalk(name, dir_fd=directory):
                for each in (*folders, *files):  # a link to a directory counts among the folders
                    mode = os.stat(each, dir_fd=opened, follow_symlinks=False).st_mode
                    if not stat.S_ISDIR(mode):
                        self._require_file(mode, f"{path}{below.removeprefix(name)}/{each}")

    def remove(self, path: str) -> None:
        if not path:
            raise IoFailed(f"{self._root} is the root of these files and can not be removed")
        with suppress(NotFound), self._at(path) as (directory, name):
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                shutil.rmtree(name, dir_fd=directory)  # from open directories, over no link
            else:
                os.unlink(name, dir_fd=directory)

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        with self._at(path, missing=IoFailed) as (directory, name):
            flags = os.O_RDWR | os.O_CREAT | _FILE | self._follow
            descriptor = os.open(name, flags, 0o600, dir_fd=directory)
            try:
                self._require_file(os.fstat(descriptor).st_mode, path)
            except IoFailed:
                os.close(descriptor)
                raise
        try:
            _take(descriptor, self._shown(path))
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _at(self, path: str, missing: _Missing = NotFound) -> Iterator[tuple[int, str]]:
        """The open directory that holds `path`, and the name it has there."""
        with self._told(path, missing):
            *parents, name = _parts(path) or ["."]
            with self._opened(parents) as directory:
                yield directory, name

    @contextmanager
    def _opened(self, parts: Sequence[str], make: int | None = None) -> Iterator[int]:
        """The directory at `parts`, reached step by step; made on the way where `make` is a mode."""
        directory = os.open(self._root, _DIRECTORY)
        try:
            for part in parts:
                if make is not None:
                    with suppress(FileExistsError):
                        os.mkdir(part, make, dir_fd=directory)
                deeper = os.open(part, _DIRECTORY | self._follow, dir_fd=directory)
                os.close(directory)
                directory = deeper
            yield directory
        finally:
            os.close(directory)

    @contextmanager
    def _told(self, path: str, missing: _Missing = NotFound) -> Iterator[None]:
        """What the system refuses, as a sentence."""
        try:
            yield
        except FileNotFoundError as absent:
            kind = "file" if missing is NotFound else "directory for"
            raise missing(f"there is no {kind} {self._shown(path)}") from absent
        except RecursionError as deep:
            raise IoFailed(
                f"{self._shown(path)} is nested too deeply to be used: remove it yourself"
            ) from deep
        except OSError as refused:
            link = self._link_on(path) if refused.errno in _IN_THE_WAY else None
            raise (_is_link(link) if link else io_failure(refused, self._shown(path))) from refused

    def _link_on(self, path: str) -> str | None:
        """The link that was in the way, for the sentence about it."""
        parts = _parts(path)
        ways = ("/".join(parts[:length]) for length in range(1, len(parts) + 1))
        return next((self._shown(way) for way in ways if os.path.islink(self._whole(way))), None)

    def _require_file(self, mode: int, path: str) -> None:
        if stat.S_ISLNK(mode):
            raise _is_link(self._shown(path))
        if stat.S_ISDIR(mode):
            raise IoFailed(f"{self._shown(path)} can not be used: it is a directory, not a file")
        if not stat.S_ISREG(mode):
            raise IoFailed(
                f"{self._shown(path)} can not be used: it is a pipe, a socket or a device, not a "
                "file; remove it"
            )

    def require_bounds(self, data: bytes, path: str) -> bytes:
        if len(data) > LARGEST_FILE:
            raise IoFailed(
                f"{self._shown(path)} is too large: at most {LARGEST_FILE >> 20} MB can be used"
            )
        return data

    def _shown(self, path: str) -> str:
        """The whole path, for a sentence: names may have come with the project too."""
        whole = self._whole(path)
        return whole if is_seen(whole) else quoted(whole)

    def _whole(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}".rstrip("/") or "/"


def _parts(path: str) -> list[str]:
    """The steps of a relative path, each a plain name."""
    parts = path.split("/") if path else []
    for part in parts:
        if part in ("", ".", "..") or "\0" in part:
            raise IoFailed(f"{path!r} can not be used: it does not lead straight down")
    return parts


def _is_link(path: str) -> IoFailed:
    return IoFailed(
        f"{path} is a link, and links are not followed here, because a project may come from "
        "anybody: put the thing itself in its place, or remove it"
    )


def io_failure(error: OSError, path: str) -> IoFailed:
    """The same failure as a sentence that says what to do."""
    if isinstance(error, paths.NotOurs):
        return ReadOnly(error.sentence)
    if error.errno in _FULL:
        return DiskFull(f"the disk is full: free some space and try again; {path} is unchanged")
    if error.errno in _REFUSED:
        return ReadOnly(f"{path} may not be changed: give your user write access to its directory")
    if error.errno == errno.ENOTDIR:
        return IoFailed(f"{path} can not be used: a part of this path is a file, not a directory")
    return IoFailed(f"{path} can not be used ({error.strerror or error})")


def _take(descriptor: int, path: str) -> None:
    """Lock the open file; the kernel lets go of it when it is closed, or its holder dies.

    Raises:
        Busy: someone else held it for longer than a person would wait.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as taken:
            if time.monotonic() >= deadline:
                raise Busy(
                    f"another iai-mcp holds {path}: wait for it to end, then try again"
                ) from taken
            time.sleep(_BETWEEN_TRIES)
