"""The spool: turns that wait for the daemon, one file per capture.

A file appears whole or not at all: written under a hidden name, synced, then renamed. The hidden
name belongs to whoever creates it first, and only its owner may rename it, so no two writers can
ever have the same file and nothing is overwritten.
"""

import os
import time

from iai_mcp import paths
from iai_mcp.protocol.compact_json import dumps

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
ENDING = ".jsonl"
TEMPORARY = ".tmp"
SET_ASIDE = "failed"

_NAME_LENGTH = 120  # with the time and the endings it stays below every file system's limit
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def write(header: dict[str, object], lines: "Iterable[bytes]") -> str:
    """Put one file into the spool and return its path. `header` names at least the session.

    Raises:
        OSError: the disk is full, or the directory may not be written.
    """
    paths.private_dir(paths.user_data())
    directory = paths.private_dir(paths.spool_dir())
    name, descriptor = _claim(directory, file_name_part(str(header.get("session_id") or "")))
    hidden = os.path.join(directory, f".{name}{TEMPORARY}")
    try:
        with os.fdopen(descriptor, "wb") as file:
            opening = {"version": VERSION, "deferred_at": _now()} | header
            file.write(dumps(opening).encode("utf-8", "replace") + b"\n")
            for line in lines:
                file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        visible = os.path.join(directory, name)
        os.rename(hidden, visible)
    except BaseException:
        os.unlink(hidden)
        raise
    paths.sync_directory(directory)
    return visible


def file_name_part(session_id: str) -> str:
    """The session's id as a part of a file name: it can not leave the directory or hide."""
    safe = "".join(c if c in _PLAIN else "_" for c in session_id[:_NAME_LENGTH]).lstrip(".")
    return safe or "session"


def _claim(directory: str, session: str) -> tuple[str, int]:
    """A name nobody has, and its hidden file opened for writing. The second may be a later one."""
    second = int(time.time())
    while True:
        name = f"{session}-{second}{ENDING}"
        hidden = os.path.join(directory, f".{name}{TEMPORARY}")
        try:
            descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            second += 1
            continue
        # Looked at only now: as owner of the hidden name nobody can bring up the visible one.
        if not os.path.lexists(os.path.join(directory, name)):
            return name, descriptor
        os.close(descriptor)
        os.unlink(hidden)
        second += 1


def _now() -> str:
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
