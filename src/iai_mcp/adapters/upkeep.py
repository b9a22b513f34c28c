"""`Upkeep` of the encrypted file: compacting, checking, and backups beside it."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.keys import backup, descriptor
from iai_mcp.adapters.keys.files import BACKUPS, automatic_backups
from iai_mcp.adapters.private_files import io_failure
from iai_mcp.adapters.sqlite.database import Database, scalar, verdict
from iai_mcp.domain.errors import IaiError, StoreDamaged, StoreError, TimedOut

_KEPT = 3
_MERGED_PAGES = 16
_CHECK_SECONDS = 60.0
_STEPS_BETWEEN_LOOKS = 10_000
_BACKUP_EVERY = 20 * 3600.0
# A memory's own bytes. The length of a value is in its row's header: nothing long is read for it.
_BYTES = (
    "octet_length(m.text) + octet_length(m.cue) + octet_length(m.meta) "
    "+ coalesce(octet_length(v.code), 0) + coalesce(octet_length(p.codes), 0)"
)
_WEIGHED = (
    "FROM memories AS m LEFT JOIN vectors AS v USING (key) LEFT JOIN passages AS p USING (key)"
)


class _Thread:
    """One function in a thread of its own; a failure is raised where somebody asks."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        self._work = work
        self._failure: IaiError | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def finished(self, wait: float) -> bool:
        self._thread.join(wait)
        if self._thread.is_alive():
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def _run(self) -> None:
        try:
            self._work()
        except IaiError as failed:
            self._failure = failed


class StoreUpkeep:
    def __init__(
        self, database: Database, directory: Path, check_seconds: float = _CHECK_SECONDS
    ) -> None:
        self._db = database
        self._directory = directory
        self._check_seconds = check_seconds

    def expired(self, before: int, limit: int) -> list[int]:
        sql = "SELECT key FROM memories WHERE at < ? AND pinned = 0 AND derived = 0 ORDER BY at, key LIMIT ?"
        with self._db.reading() as db:
            return [row[0] for row in db.execute(sql, (before, limit))]

    def weighed(self, after: int, limit: int) -> tuple[int, int] | None:
        sql = (
            f"SELECT max(key), sum(bytes) FROM (SELECT m.key AS key, {_BYTES} AS bytes {_WEIGHED} "
            "WHERE m.key > ? AND m.derived = 0 ORDER BY m.key LIMIT ?)"
        )
        with self._db.reading() as db:
            row = db.execute(sql, (after, limit)).fetchone()
        return None if row is None or row[0] is None else (int(row[0]), int(row[1]))

    def oldest(self, limit: int) -> list[tuple[int, int]]:
        sql = (
            f"SELECT m.key, {_BYTES} {_WEIGHED} WHERE m.pinned = 0 AND m.derived = 0 "
            "ORDER BY m.at, m.key LIMIT ?"
        )
        with self._db.reading() as db:
            return [(row[0], row[1]) for row in db.execute(sql, (limit,))]

    def merge_words(self, *, all_of_it: bool = False) -> bool:
        pages = -_MERGED_PAGES if all_of_it else _MERGED_PAGES
        with self._db.writing() as db:
            before = db.total_changes()
            db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
            # The command itself counts as one change.
            return db.total_changes() - before >= 2

    def release(self, pages: int) -> int:
        with self._db.outside_transactions() as db:
            before = _number(scalar(db, "PRAGMA freelist_count"))
            db.execute(f"PRAGMA incremental_vacuum({int(pages)})").fetchall()
            return before - _number(scalar(db, "PRAGMA freelist_count"))

    def checkpoint(self) -> None:
        self._db.checkpoint()

    def check(self) -> _Thread:
        return _Thread(self._check, "check")

    def backup_due(self) -> bool:
        made = self._backups()
        if made and self._under_another_key(made[-1]):
            return True
        newest = max((path.stat().st_mtime for path in self._backups()), default=0.0)
        changed = max(
            (path.stat().st_mtime for path in self._store_files() if path.exists()), default=0.0
        )
        return changed > newest and time.time() - newest >= _BACKUP_EVERY

    def back_up(self) -> _Thread:
        return _Thread(self._back_up, "backup")

    def _check(self) -> None:
        """Read and check every page; it gives up rather than take a minute."""
        until = time.monotonic() + self._check_seconds
        late = False

        def look() -> bool:
            nonlocal late
            late = time.monotonic() > until
            return late

        try:
            with self._db.reading() as db:
                db.set_progress_handler(look, _STEPS_BETWEEN_LOOKS)
                try:
                    found = verdict(db)
                finally:
                    db.set_progress_handler(None)
        except StoreError as stopped:
            if not late:
                raise
            raise TimedOut(
                "checking the store took too long; 'iai-mcp doctor' checks all of it"
            ) from stopped
        if found != "ok":
            raise StoreDamaged(
                "the store is damaged: restore the last backup with: iai-mcp restore FILE"
            )

    def _back_up(self) -> None:
        folder = self._directory / BACKUPS
        try:
            paths.private_dir(str(folder))
            for leftover in folder.glob(".*"):
                leftover.unlink(missing_ok=True)
            name = time.strftime("sleep-%Y%m%dT%H%M%SZ.backup", time.gmtime())
            made = backup.create(self._db, self._directory, folder / name)
            self._rotate_out(int(str(made["records"])))
        except OSError as refused:
            raise io_failure(refused, folder) from refused

    def _rotate_out(self, records: int) -> None:
        """Remove the oldest, but never the last one that has more than the store does."""
        made = self._backups()
        precious = [path for path in made if _records(path) > records][-1:]
        for old in made[:-_KEPT]:
            if old not in precious:
                old.unlink(missing_ok=True)

    def _backups(self) -> list[Path]:
        return automatic_backups(self._directory)

    def _under_another_key(self, made: Path) -> bool:
        """Whether the key was changed since: then nobody could restore it."""
        record = descriptor.load(self._directory)
        try:
            return record is not None and backup.read_header(made).key.check != record.current.check
        except IaiError:
            return True  # damaged: another one is wanted in any case

    def _store_files(self) -> Sequence[Path]:
        return self._db.path, self._db.path.with_name(f"{self._db.path.name}-wal")


def _records(made: Path) -> int:
    """How many memories a backup holds; none if it can not be read."""
    try:
        return backup.read_header(made).records
    except IaiError:
        return 0


def _number(found: object) -> int:
    assert isinstance(found, int)  # noqa: S101 - these pragmas give numbers
    return found
