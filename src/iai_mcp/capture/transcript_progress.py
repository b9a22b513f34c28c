"""How far a long transcript was delivered, so that the next capture reads only what is new.

Nothing depends on it: a turn delivered twice is one turn. A state that does not fit the file (cut,
rewritten, another file under the same name) is ignored, and the file is read from its start.

Short transcripts have no state and are always sent whole. That costs a millisecond, and it mends
whatever was lost on the way: a spool file that somebody deleted, a store restored from a backup.
"""

import os
import time
from binascii import crc32

from iai_mcp import paths, regular_files
from iai_mcp.hosts.turns import digest
from iai_mcp.protocol.compact_json import dumps, loads

# Below this a transcript is read in a few milliseconds, whatever is new in it.
ALWAYS_WHOLE = 256 * 1024

_SAMPLE = 4096
_KEEP_DAYS = 60
_VERSION = 1


def load(path: str) -> tuple[int, dict[str, object]]:
    """(offset to read on from, what the parser knew there); (0, {}) for a fresh start."""
    state = _read(_state_path(path))
    offset, carry = state.get("offset"), state.get("carry")
    if not isinstance(offset, int) or not isinstance(carry, dict) or offset <= 0:
        return 0, {}
    if state.get("marks") != _marks(path, offset):
        return 0, {}
    return offset, carry


def save(path: str, offset: int, carry: dict[str, object]) -> None:
    """Remember that everything before `offset` was delivered."""
    if offset <= ALWAYS_WHOLE:
        return
    marks = _marks(path, offset)
    if marks is not None:
        _write(_state_path(path), {"offset": offset, "marks": marks, "carry": carry})


def changed(directory: str, files: list[str]) -> list[str]:
    """Those of `files` that are not as they were when `remember` was last told of them."""
    known = _read(_state_path(directory)).get("files")
    if not isinstance(known, dict):
        return files
    return [file for file in files if known.get(os.path.basename(file)) != _stamp(file)]


def remember(directory: str, stamps: dict[str, list[int]]) -> None:
    """Keep the stamps of files that were delivered whole; see `stamp_of`."""
    state = _read(_state_path(directory))
    known = state.get("files")
    _write(_state_path(directory), {"files": (known if isinstance(known, dict) else {}) | stamps})


def stamp_of(file: str) -> tuple[str, list[int]] | None:
    """What tells a file from its later self; take it before reading."""
    stamp = _stamp(file)
    return None if stamp is None else (os.path.basename(file), stamp)


def prune() -> None:
    """Remove states that nobody touched for long: their sessions are over."""
    oldest = time.time() - _KEEP_DAYS * 86_400
    try:
        with os.scandir(_directory()) as entries:
            old = [e.path for e in entries if e.stat(follow_symlinks=False).st_mtime < oldest]
        for path in old:
            os.unlink(path)
    except OSError:
        return  # another one cleans, or there is nothing yet


def _directory() -> str:
    return paths.in_user_data(".capture-progress")


def _state_path(path: str) -> str:
    real = os.path.realpath(path)
    return os.path.join(_directory(), f"{digest(os.fsencode(real), 16)}.json")


def _marks(path: str, offset: int) -> list[int] | None:
    """The file's identity, and check sums of its first bytes and of those before `offset`."""
    try:
        with regular_files.opened(path, links=regular_files.ANYWHERE) as file:
            status = os.fstat(file.fileno())
            if status.st_size < offset:
                return None
            head = file.read(min(_SAMPLE, offset))
            file.seek(max(0, offset - _SAMPLE))
            tail = file.read(min(_SAMPLE, offset))
    except (OSError, ValueError):
        return None
    return [status.st_dev, status.st_ino, crc32(head), crc32(tail)]


def _stamp(file: str) -> list[int] | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def _read(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            state = loads(file.read().decode("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) and state.get("version") == _VERSION else {}


def _write(path: str, state: dict[str, object]) -> None:
    """Replace the state. It is not synced: after a power cut an empty one is a fresh start."""
    paths.private_dir(paths.user_data())
    directory = paths.private_dir(_directory())
    hidden = os.path.join(directory, f".{os.path.basename(path)}.{os.getpid()}")
    descriptor = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(dumps({"version": _VERSION} | state).encode("utf-8", "replace"))
    os.replace(hidden, path)
