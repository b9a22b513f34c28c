"""When each hook of each host last ran: an empty file of that time, for the doctor to look at."""

import os

from iai_mcp import paths

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from iai_mcp.hosts.host import HookEvent


def note(host: str, event: "HookEvent") -> None:
    """Remember that this hook runs now. Where that can not be kept, nothing is lost."""
    path = _path(host, event)
    try:
        try:
            os.utime(path, follow_symlinks=False)
        except FileNotFoundError:
            if not os.path.isdir(paths.user_data()):
                return  # nothing was ever kept here: a hook is not what begins it
            paths.private_dir(os.path.dirname(path))
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    except OSError:
        return


def last(host: str, event: "HookEvent") -> float | None:
    """When that was, in seconds since the epoch."""
    try:
        return os.lstat(_path(host, event)).st_mtime
    except OSError:
        return None


def _path(host: str, event: "HookEvent") -> str:
    name = f"{host}.{event.name}".replace("/", "-").replace(" ", "-")
    return paths.in_user_data(".hooks-seen", name)
