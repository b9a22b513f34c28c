"""Receipts of our changes to configuration files, with backups, so that they can be undone.

One receipt per file in `<user data>/host-backups/`, with the backup beside it (0600). The
backup is made once, at the first install, and goes when the file has been restored.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from iai_mcp import paths
from iai_mcp.domain.errors import IoFailed

_FOLDER = "host-backups"


@dataclass(frozen=True, slots=True)
class Receipt:
    """`before` is the text from before us (None: there was no file), `result` the digest of what
    we left behind; `made` the directories we made for it."""

    path: str
    before: str | None
    result: str
    made: tuple[str, ...] = field(default=())


@contextmanager
def lock() -> Iterator[None]:
    """Holds the lock on installations; waits for another one."""
    try:
        folder = _folder()
        descriptor = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise IoFailed(f"no place for backups in {paths.user_data()} ({error.strerror})") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def backup_path(path: str) -> str:
    """Where the copy of `path` is kept: its own name, and a digest of where it stood."""
    place = os.path.realpath(path)
    key = hashlib.sha256(place.encode()).hexdigest()[:12]
    return paths.in_user_data(_FOLDER, f"{os.path.basename(place)}.{key}")


def find(path: str) -> Receipt | None:
    """The receipt for `path`, or None when we have not changed it (or it is unreadable)."""
    try:
        with open(backup_path(path) + ".receipt", encoding="utf-8") as file:
            kept = json.load(file)
        before = None
        if kept["existed"]:
            with open(backup_path(path), encoding="utf-8", newline="") as file:
                before = file.read()
        return Receipt(path, before, str(kept["result"]), tuple(map(str, kept["made"])))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError):
        # Without it the file is edited instead of restored: less exact, never wrong.
        return None


def keep(receipt: Receipt) -> None:
    """Write the receipt, and the backup unless it is there already."""
    _folder()
    place = backup_path(receipt.path)
    record = {
        "version": 1,
        "path": os.path.realpath(receipt.path),
        "existed": receipt.before is not None,
        "result": receipt.result,
        "made": list(receipt.made),
    }
    if receipt.before is not None:
        _write(place, receipt.before)
    _write(place + ".receipt", json.dumps(record, ensure_ascii=False) + "\n")


def drop(path: str, *, with_backup: bool) -> None:
    """Forget that we changed `path`; the backup stays unless the file has been restored."""
    place = backup_path(path)
    for name in [place + ".receipt"] + ([place] if with_backup else []):
        with suppress(FileNotFoundError):
            os.unlink(name)


def _folder() -> str:
    paths.private_dir(paths.user_data())
    return paths.private_dir(paths.in_user_data(_FOLDER))


def _write(path: str, text: str) -> None:
    scratch = f"{path}.{os.getpid()}.new"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(scratch, path)
