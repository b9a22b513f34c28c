"""`FileSystem` on this machine's disk."""

import errno
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from iai_mcp.domain.errors import AlreadyExists, DiskFull, IoFailed, NotFound, ReadOnly

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS}


class LocalFileSystem:
    """Whole files, replaced by rename; directories and files private unless told otherwise."""

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError as absent:
            raise NotFound(f"there is no file {path}") from absent
        except OSError as refused:
            raise io_failure(refused, path) from refused

    def write(self, path: str, data: bytes, *, private: bool = True) -> None:
        # A link is written through, so that a person who keeps the file elsewhere still does.
        target = Path(os.path.realpath(path))
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            mode = 0o600 if private else _mode_of(target)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
            _sync(target.parent)
        except OSError as refused:
            temporary.unlink(missing_ok=True)
            raise io_failure(refused, path) from refused

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def create_dir_all(self, path: str, *, private: bool = True) -> None:
        try:
            if not private:
                Path(path).mkdir(parents=True, exist_ok=True)
                return
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
            if Path(path).stat().st_mode & 0o077:
                Path(path).chmod(0o700)
        except OSError as refused:
            raise io_failure(refused, path) from refused

    def list(self, path: str) -> Sequence[str]:
        try:
            return sorted(entry.name for entry in Path(path).iterdir())
        except FileNotFoundError:
            return []
        except OSError as refused:
            raise io_failure(refused, path) from refused

    def symlink(self, target: str, path: str) -> None:
        try:
            Path(path).symlink_to(target)
        except FileExistsError as taken:
            raise AlreadyExists(f"{path} exists already") from taken
        except OSError as refused:
            raise io_failure(refused, path) from refused

    def remove(self, path: str) -> None:
        try:
            if Path(path).is_symlink() or not Path(path).is_dir():
                Path(path).unlink(missing_ok=True)
            else:
                shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as refused:
            raise io_failure(refused, path) from refused


def _mode_of(path: Path) -> int:
    """The mode a file has; for a new one all that the umask leaves."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o666


def _sync(directory: Path) -> None:
    """Make a rename survive power loss."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def io_failure(error: OSError, path: str) -> IoFailed:
    """The same failure as a sentence that says what to do."""
    if error.errno in _FULL:
        return DiskFull(f"the disk is full: free some space and try again; {path} is unchanged")
    if error.errno in _REFUSED:
        return ReadOnly(f"{path} may not be changed: give your user write access to its directory")
    if error.errno == errno.ENOTDIR:
        return IoFailed(f"{path} can not be used: a part of this path is a file, not a directory")
    return IoFailed(f"{path} can not be used ({error.strerror or error})")
