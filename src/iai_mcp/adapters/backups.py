"""`Copies` on disk: the automatic backups, made and rotated here, and the stores that restores set aside."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

from iai_mcp import paths
from iai_mcp.adapters.keys import backup, descriptor, sources
from iai_mcp.adapters.keys.descriptor import KeyDescriptor
from iai_mcp.adapters.keys.files import (
    BACKUPS,
    NEXT_NAME,
    RESTORED_NAME,
    STORE_NAME,
    automatic_backups,
    logs_left,
    stores_set_aside,
)
from iai_mcp.adapters.private_files import io_failure
from iai_mcp.adapters.sqlite import write_ahead
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.forgetting import forget_in_copy
from iai_mcp.domain.errors import IaiError, InvalidInput, KeyMissing, KeyWrong, ReadOnly, StoreError
from iai_mcp.ports.upkeep import Gone, Reached

_KEPT = 3
_BACKUP_EVERY = 20 * 3600.0


class KeptCopies:
    def __init__(self, database: Database, directory: Path) -> None:
        self._db = database
        self._directory = directory
        # A backup that is being made is rewritten after that, never missed in between.
        self._lock = Lock()

    def count(self) -> int:
        return len(self._backups()) + len(stores_set_aside(self._directory))

    def due(self) -> bool:
        """Whether anything changed since the last backup, and that is some hours old."""
        made = self._backups()
        if made and self._under_another_key(made[-1]):
            return True
        newest = max((path.stat().st_mtime for path in made), default=0.0)
        files = (self._db.path, self._db.path.with_name(f"{self._db.path.name}-wal"))
        changed = max((path.stat().st_mtime for path in files if path.exists()), default=0.0)
        return changed > newest and time.time() - newest >= _BACKUP_EVERY

    def make(self) -> None:
        """Write a backup; the oldest beyond three go.

        Raises:
            IaiError: it could not be made; those that are there stay.
        """
        folder = self._directory / BACKUPS
        with self._lock:
            try:
                paths.private_dir(str(folder))
                self._tidy()
                name = time.strftime("sleep-%Y%m%dT%H%M%SZ.backup", time.gmtime())
                made = backup.create(self._db, self._directory, folder / name)
                self._rotate_out(int(str(made["records"])))
            except OSError as refused:
                raise io_failure(refused, folder) from refused

    def forget(self, gone: Sequence[Gone], stopping: Callable[[], bool]) -> Reached | None:
        change = partial(forget_in_copy, gone=gone)
        rewritten = 0
        logs = (*logs_left(self._directory), *write_ahead.copies(self._db.path))
        not_reached = [f"{log}: a log without its store can not be read" for log in logs]
        with self._lock:
            self._tidy()
            for path in (*self._backups(), *stores_set_aside(self._directory)):
                if stopping():
                    return None
                try:
                    self._rewrite(path, change, stopping)
                    rewritten += 1
                except IaiError as failed:
                    if stopping():
                        return None
                    not_reached.append(f"{path}: {_reason(failed)}")
        return Reached(rewritten, tuple(not_reached))

    def _rewrite(self, path: Path, change: backup.Change, stopping: Callable[[], bool]) -> None:
        if path.is_symlink():
            raise InvalidInput("what it leads to is not ours to change")
        try:
            if path.parent == self._directory:
                key = self._key(self._own_descriptor(path))
                backup.change_store(path, key, change, stopping)
            else:
                key = self._key(backup.read_header(path).key)
                backup.change_backup(path, key, change, stopping)
        except OSError as refused:
            raise io_failure(refused, path) from refused

    def _own_descriptor(self, kept: Path) -> KeyDescriptor:
        """Where the key comes from of a store that was set aside."""
        own = f"{descriptor.FILE_NAME}{kept.name.removeprefix(STORE_NAME)}"
        record = descriptor.load(self._directory, own) or descriptor.load(self._directory)
        if record is None:
            raise KeyMissing("there is no key description")
        return record.current

    def _key(self, wanted: KeyDescriptor) -> bytes:
        current = descriptor.load(self._directory)
        if current is not None and current.current.check == wanted.check:
            return sources.fetch(self._directory, current.current)
        return sources.fetch(self._directory, wanted)

    def _rotate_out(self, records: int) -> None:
        """Remove the oldest, but never the last one that has more than the store does."""
        made = self._backups()
        precious = [path for path in made if _records(path) > records][-1:]
        for old in made[:-_KEPT]:
            if old not in precious:
                old.unlink(missing_ok=True)

    def _tidy(self) -> None:
        """Remove what was being written when its process was killed."""
        folder = self._directory / BACKUPS
        for leftover in (
            *folder.glob(".*"),
            *self._directory.glob(f"{RESTORED_NAME}*"),
            *self._directory.glob(f"{NEXT_NAME}*"),
        ):
            leftover.unlink(missing_ok=True)

    def _backups(self) -> list[Path]:
        return automatic_backups(self._directory)

    def _under_another_key(self, made: Path) -> bool:
        """Whether the key was changed since: then nobody could restore it."""
        record = descriptor.load(self._directory)
        try:
            return record is not None and backup.read_header(made).key.check != record.current.check
        except IaiError:
            return True  # damaged: another one is wanted in any case


def _records(made: Path) -> int:
    """How many memories a backup holds; none if it can not be read."""
    try:
        return backup.read_header(made).records
    except IaiError:
        return 0


def _reason(error: IaiError) -> str:
    """Why a copy is out of reach.

    Raises:
        IaiError: the same, where it is not: the disk is full, or somebody is at it.
    """
    match error:
        case KeyMissing() | KeyWrong():
            return "it is under another key"
        case InvalidInput():
            return "it is no backup of ours, or a link to one"
        case StoreError():
            return "it is damaged, or of a newer version"
        case ReadOnly():
            return "it may not be changed"
        case _:
            raise error
