"""Where a session's files are: `<user data>/s/<id>/`, and a socket at a path short enough."""

import os
import stat

from iai_mcp import paths
from iai_mcp.domain.errors import InvalidInput, PtyFailed

_LONGEST_ID = 64
_MOST_TAILS = 64  # of at most 256 KB each


def sessions_dir() -> str:
    return paths.in_user_data("s")


def session_dir(session_id: str) -> str:
    """The directory of one session. Only ids that are one plain file name have one."""
    allowed = session_id.replace("-", "").replace("_", "").isalnum() and session_id.isascii()
    if not allowed or len(session_id) > _LONGEST_ID:
        raise InvalidInput(
            f"'{session_id}' is no session id: letters, digits, - and _ only, at most {_LONGEST_ID}"
        )
    return os.path.join(sessions_dir(), session_id)


def socket_path(session_id: str) -> str:
    """A bindable path for the session's socket, in a directory that only this user may enter."""
    name = _digest(session_id.encode())[:12] + ".sock"
    near = os.path.join(sessions_dir(), name)
    if len(os.fsencode(near)) <= paths.socket_path_limit():
        paths.private_dir(paths.user_data())
        paths.private_dir(sessions_dir())
        return near
    return os.path.join(short_dir(), name)


def tail_path(session_id: str) -> str:
    """Where the last output of an ended session is kept: in memory only, `""` if that can not be.

    What was said in a terminal does not go to a disk in the clear. The directory is made by the
    holder, and may belong to anybody: see `is_ours`.
    """
    for base in (os.environ.get("XDG_RUNTIME_DIR", ""), "/dev/shm"):  # noqa: S108 - `is_ours`
        if base and _in_memory(base):
            return os.path.join(
                base, f"iai-mcp-{os.getuid()}-{_store_hash()}", f"{session_id}.tail"
            )
    return ""


def is_ours(directory: str) -> bool:
    """Whether this is a directory that only we can have put things into."""
    try:
        found = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def bound_tails() -> None:
    """Keep the newest tails only: they live in memory, and nobody has to prune."""
    directory = os.path.dirname(tail_path("any"))
    if not is_ours(directory):
        return
    names = os.listdir(directory)
    if len(names) <= _MOST_TAILS:
        return
    found = sorted(names, key=lambda name: os.stat(os.path.join(directory, name)).st_mtime)
    for name in found[:-_MOST_TAILS]:
        os.unlink(os.path.join(directory, name))


def short_dir() -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime:
        short = os.path.join(runtime, f"iai-mcp-{_store_hash()}")
        # name of the socket and a separator: 18 bytes
        if len(os.fsencode(short)) + 18 <= paths.socket_path_limit() and os.path.isdir(runtime):
            return _own_dir(short)
    base = _own_dir(f"/tmp/iai-mcp-{os.getuid()}")  # noqa: S108 - ownership is checked
    return _own_dir(os.path.join(base, _store_hash()))


def _in_memory(path: str) -> bool:
    """Whether `path` is on a file system that lives in memory, as the mount table says."""
    best, kind = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            for line in mounts:
                fields = line.split(" ")
                point = fields[1]
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, kind = point, fields[2]
    except OSError:
        return False
    return kind == "tmpfs" and os.access(path, os.W_OK)


def _store_hash() -> str:
    return _digest(os.fsencode(paths.user_data()))[:10]


def _digest(data: bytes) -> str:
    import hashlib  # listing needs none of it, and it loads OpenSSL

    return hashlib.sha256(data).hexdigest()


def _own_dir(path: str) -> str:
    """A directory of ours alone, where others may have been first to make one of that name."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise PtyFailed(
                f"{path} belongs to somebody else: set XDG_RUNTIME_DIR to a directory of yours"
            ) from None
        if found.st_mode & 0o077:
            os.chmod(path, 0o700)
    except OSError as refused:
        raise PtyFailed(f"{path} can not be made ({refused.strerror})") from refused
    return path
