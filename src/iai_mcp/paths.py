"""Where things live, resolved from the environment of the moment, never frozen.

Returns plain strings and imports only `os`: hooks and the bridge pay for every import.
"""

import os

# The kernel's limit on a Unix socket path, without its closing NUL: 104 on macOS, 108 on Linux.
_MACOS_LIMIT = 103
_LINUX_LIMIT = 107


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
    """Make `path` a directory only its owner may enter; looser modes are tightened."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    if os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o700)
    return path
