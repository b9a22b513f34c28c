"""Writing small private files so that they are there whole or not at all."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from iai_mcp.domain.errors import DiskFull, IoFailed, ReadOnly
from iai_mcp.paths import NotOurs, sync_directory

_FULL = {28, 122}  # ENOSPC, EDQUOT
_REFUSED = {1, 13, 30}  # EPERM, EACCES, EROFS


def write_private(path: Path, data: bytes) -> None:
    """Replace `path` by `data` atomically and durably, readable by its owner only.

    Raises:
        DiskFull, ReadOnly, IoFailed: with nothing changed.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as refused:
        temporary.unlink(missing_ok=True)
        raise io_failure(refused, path) from refused


def write_private_json(path: Path, value: Mapping[str, object]) -> None:
    write_private(path, json.dumps(value, indent=2).encode() + b"\n")


def io_failure(error: OSError, path: Path) -> IoFailed:
    """The same failure as a sentence that says what to do."""
    if isinstance(error, NotOurs):
        return ReadOnly(error.sentence)
    if error.errno in _FULL:
        return DiskFull(f"the disk is full: free some space and try again; {path} is unchanged")
    if error.errno in _REFUSED:
        return ReadOnly(f"{path} may not be written: give your user write access to {path.parent}")
    return IoFailed(f"{path} could not be written ({error.strerror or error}); nothing was changed")
