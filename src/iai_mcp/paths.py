"""Where things live, resolved from the environment of the moment, never frozen.

Returns plain strings and imports only `os`: hooks and the bridge pay for every import.
"""

import os

# The kernel's limit on a Unix socket path, without its closing NUL: 104 on macOS, 108 on Linux.
_MACOS_LIMIT = 103
_LINUX_LIMIT = 107

_WRITABLE_BY_ALL = 0o002
_STICKY = 0o1000  # who may write there can remove only what is their own

ELSEWHERE = "set IAI_DAEMON_SOCKET_PATH to a path in a directory of your own"


class NotOurs(PermissionError):
    """What is at a path that we rely on is another user's; `sentence` says so, and what to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(1, sentence)  # EPERM
        self.sentence = sentence


def home() -> str:
    return os.environ.get("HOME") or os.path.expanduser("~")


def user_data() -> str:
    """`$IAI_MCP_STORE`, else `~/.iai-mcp`; absolute."""
    named = os.environ.get("IAI_MCP_STORE")
    return os.path.abspath(named) if named else os.path.join(home(), ".iai-mcp")


def in_user_data(*parts: str) -> str:
    return os.path.join(user_data(), *parts)


def socket_path() -> str:
    """`$IAI_DAEMON_SOCKET_PATH`, else `<user data>/.daemon.sock`."""
    named = os.environ.get("IAI_DAEMON_SOCKET_PATH")
    return os.path.abspath(named) if named else in_user_data(".daemon.sock")


def page_socket_path() -> str:
    """Where commands reach the process that serves the page: beside the daemon's socket."""
    return f"{socket_path()}.page"


def remote_socket_path() -> str:
    """Where ssh forwards other machines to: beside the daemon's socket. Every caller is a remote one."""
    return f"{socket_path()}.remote"


def seen_from_home(path: str) -> str:
    """A directory as the memory knows it: with the machine before it, where the memory is on another."""
    machine = os.environ.get("IAI_MCP_MACHINE", "")
    return machine + path if path.startswith("/") else path


def lock_path() -> str:
    return in_user_data(".lock")


def spool_dir() -> str:
    return in_user_data(".deferred-captures")


def socket_path_limit() -> int:
    """How many bytes a Unix socket path may have on this system."""
    return _LINUX_LIMIT if os.uname().sysname == "Linux" else _MACOS_LIMIT


def socket_path_problem(path: str) -> str | None:
    """A sentence if `path` is too long for a Unix socket, else None."""
    limit = socket_path_limit()
    size = len(os.fsencode(path))
    if size <= limit:
        return None
    return (
        f"the socket path is {size} bytes long and a Unix socket allows {limit}: "
        f"set IAI_DAEMON_SOCKET_PATH to a shorter path ({path})"
    )


def private_dir(path: str) -> str:
    """Make `path`, the user-data directory or one inside it, one that only we may enter.

    Looser modes are tightened, where the directory is ours alone.

    Raises:
        NotOurs: it is another user's, or everybody's.
    """
    os.makedirs(path, mode=0o700, exist_ok=True)
    if is_loose(path):
        os.chmod(path, 0o700)
    return path


def sync_directory(path: str | os.PathLike[str]) -> None:
    """Make a rename or removal in the directory `path` survive power loss."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_loose(path: str) -> bool:
    """Whether the user-data directory at `path`, or one inside it, lets others in.

    Raises:
        NotOurs: it is another user's, or everybody's.
    """
    instead = "set IAI_MCP_STORE to a directory of your own"
    found = _own(path, f"who could read what is kept there: {instead}")
    if found.st_mode & _STICKY:
        raise NotOurs(f"{path} is everybody's, and private things are not kept there: {instead}")
    return bool(found.st_mode & 0o077)


def socket_dir(path: str) -> str:
    """The directory of the socket at `path`: made private if there is none, else left as it is.

    Raises:
        NotOurs: somebody else could put a socket of their own in the place of ours.
    """
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    found = _own(directory, f"who could put another socket in the place of yours: {ELSEWHERE}")
    if found.st_mode & _WRITABLE_BY_ALL and not found.st_mode & _STICKY:
        raise NotOurs(
            f"anybody could put another socket in the place of yours in {directory}: "
            f"run chmod o-w {directory}, or {ELSEWHERE}"
        )
    return directory


def stranger(path: str) -> int | None:
    """The user id of the other user who made what is at `path`; None if that is ours, or nothing."""
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return None
    return None if owner == os.geteuid() else owner


def _own(directory: str, danger: str) -> os.stat_result:
    """What the system says of a directory that we, or root, made; and so the link to it, if it is one."""
    found = os.stat(directory)
    for owner in (os.lstat(directory).st_uid, found.st_uid):
        if owner not in (os.geteuid(), 0):
            raise NotOurs(f"{directory} belongs to another user (uid {owner}), {danger}")
    return found
