"""Reads and replaces files atomically; keeps mode, owner and symlinks."""

import hashlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from iai_mcp.domain.errors import DiskFull, IoFailed, ReadOnly
from iai_mcp.paths import sync_directory

_PRIVATE = 0o600
# Nobody's settings are this large; a file beyond it is something else, and is left alone.
_LARGEST = 64 * 1024 * 1024
_NO_SPACE = (28, 122)  # ENOSPC, EDQUOT


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it was read: `text` is None when there is none."""

    path: str
    text: str | None

    @property
    def digest(self) -> str | None:
        return None if self.text is None else digest(self.text)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read(path: str) -> Found:
    """What stands in the file now, byte for byte (line ends are not touched).

    Raises:
        IoFailed: it can not be read, or is not UTF-8 text.
    """
    try:
        if os.path.getsize(path) > _LARGEST:
            raise IoFailed(f"{path} is too large for a settings file: it was left alone")
        with open(path, "rb") as file:
            return Found(path, file.read().decode("utf-8"))
    except FileNotFoundError:
        return Found(path, None)
    except UnicodeDecodeError as error:
        raise IoFailed(f"{path} is not UTF-8 text: it was left alone") from error
    except OSError as error:
        raise IoFailed(f"{path} can not be read ({error.strerror}): it was left alone") from error


def missing_directories(path: str) -> tuple[str, ...]:
    """The directories that have to be made before `path` can be written, innermost first."""
    directory = os.path.dirname(os.path.realpath(path))
    missing: list[str] = []
    while not os.path.isdir(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    return tuple(missing)


def write(path: str, text: str, *, expected: str | None) -> None:
    """Replace the file's content in one step, making the directories it needs.

    A symlink stays one: the file it points to is replaced, with its own mode and owner. If the
    file no longer says `expected` (None: did not exist), somebody else was quicker.

    Raises:
        Changed: the file has changed since it was read; read it again.
        IoFailed: it can not be written; it is as it was.
    """
    made = missing_directories(path)
    try:
        for directory in reversed(made):
            with suppress(FileExistsError):
                os.mkdir(directory, 0o700)
        _replace(os.path.realpath(path), text, expected)
    except OSError as error:
        remove_directories(made)
        raise _refusal(path, error) from error
    except Changed:
        remove_directories(made)
        raise


def delete(path: str, *, expected: str) -> None:
    """Remove a file that we made, if it still says what is expected."""
    _still(path, expected)
    try:
        os.unlink(os.path.realpath(path))
    except OSError as error:
        raise _refusal(path, error) from error


def remove_directories(made: Sequence[str]) -> None:
    """Remove those of our directories that are empty, innermost first."""
    for directory in sorted(made, key=len, reverse=True):
        with suppress(OSError):  # not empty: somebody lives there now
            os.rmdir(directory)


class Changed(Exception):
    """The file is no longer what it was when it was read."""


def _replace(target: str, text: str, expected: str | None) -> None:
    directory = os.path.dirname(target)
    try:
        before: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        before = None
    descriptor, scratch = tempfile.mkstemp(prefix=".iai-mcp-", dir=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fchmod(file.fileno(), _PRIVATE if before is None else before.st_mode & 0o7777)
            if before is not None and (before.st_uid, before.st_gid) != (
                os.geteuid(),
                os.getegid(),
            ):
                with suppress(PermissionError):  # only root may give a file away
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fsync(file.fileno())
        # The host may have written meanwhile; the window that is left is one system call wide.
        _still(target, expected)
        os.rename(scratch, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(scratch)
        raise
    sync_directory(directory)


def _still(path: str, expected: str | None) -> None:
    if read(path).text != expected:
        raise Changed(path)


def _refusal(path: str, error: OSError) -> IoFailed:
    if error.errno in _NO_SPACE:
        return DiskFull(f"the disk is full: {path} is as it was; make room and try again")
    if isinstance(error, PermissionError) or error.errno == 30:  # EROFS
        return ReadOnly(f"{path} may not be changed by you ({error.strerror}): it is as it was")
    return IoFailed(f"{path} can not be written ({error.strerror}): it is as it was")
