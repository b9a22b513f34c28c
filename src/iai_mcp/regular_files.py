"""Reading what somebody else may have put there: a regular file, so much of it, and at once.

A pipe or a device would keep us waiting for ever, or never end; a link leads to files that are
none of the project's. Hooks and the daemon read by these functions whatever lies in a project or
is named by a caller. Only what a plain interpreter has loaded already is imported.
"""

import os
from errno import EINVAL, ELOOP
from stat import S_ISLNK, S_ISREG

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from typing import BinaryIO

ANYWHERE = "/"
LONGEST_PATH = 4096  # no system opens a longer one

_USUAL = 64 * 1024

# Not blocking: a pipe that took the file's place after we looked, or a lease that somebody holds.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def read(path: str, limit: int, *, links: str = "") -> bytes:
    """All of a regular file that has at most `limit` bytes.

    A link at the end of `path` is followed if it leads to a place below the directory `links`:
    `ANYWHERE` for what is the user's own. Without that no link is followed.

    Raises:
        OSError: it is not there, no regular file, longer, or may not be read.
        ValueError: no file can have such a name.
    """
    with opened(path, links=links) as file:
        size = os.fstat(file.fileno()).st_size
        # As much is asked for as is set aside for it; some systems know no sizes.
        data = file.read(min(limit, max(size, _USUAL)) + 1) if size <= limit else b""
    if max(size, len(data)) > limit:
        raise OSError(EINVAL, f"longer than {limit} bytes", path)
    return data


def tail(path: str, size: int) -> bytes:
    """The last bytes of a regular file, `size` at most; see `read`."""
    with opened(path, links=ANYWHERE) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - size))
        return file.read(size)


def opened(path: str, *, links: str = "") -> "BinaryIO":
    """A regular file, opened for reading; see `read`."""
    found = os.lstat(path)
    if links and S_ISLNK(found.st_mode):
        path = _followed(path, links)
        found = os.lstat(path)
    _check(path, found)  # before it is opened: with some devices that does something
    descriptor = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _followed(path: str, root: str) -> str:
    """Where a link leads. What lies elsewhere by its letters alone is not even looked at."""
    if root == ANYWHERE:
        return os.path.realpath(path)
    named = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    if _is_below(named, root):
        real = os.path.realpath(path)
        if _is_below(real, os.path.realpath(root)):
            return real
    raise OSError(ELOOP, "a link that leads elsewhere", path)


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root if root.endswith("/") else f"{root}/")


def _check(path: str, found: os.stat_result) -> None:
    if not S_ISREG(found.st_mode):
        raise OSError(EINVAL, "not a regular file", path)
