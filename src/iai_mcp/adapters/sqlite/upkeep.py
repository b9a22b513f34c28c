"""`Upkeep` of the encrypted file: compacting, checking, copies beside it, and a short log."""

import logging
import threading
import time
from collections.abc import Callable

from iai_mcp.adapters.backups import KeptCopies
from iai_mcp.adapters.sqlite import words, work_words
from iai_mcp.adapters.sqlite.database import Database, scalar, verdict
from iai_mcp.domain.errors import IaiError, StoreDamaged, StoreError, TimedOut
from iai_mcp.ports.upkeep import Compacted

_log = logging.getLogger(__name__)

_MERGED_PAGES, _RELEASED_PAGES = 16, 16  # of 16 KB, at a time
_RELEASE = "release"  # the cursor behind the merging
_CHECK_SECONDS = 60.0
# After the first write that is not in the file yet. Often enough that little hangs on the log, and
# seldom enough that a stream of captures does not wait for the disk twice.
_CHECKPOINT_WITHIN = 2.0
_STEPS_BETWEEN_LOOKS = 10_000
# A memory's own bytes. The length of a value is in its row's header: nothing long is read for it.
_BYTES = (
    "octet_length(m.text) + octet_length(m.cue) + octet_length(m.meta) "
    "+ coalesce(octet_length(v.code), 0) + coalesce(octet_length(p.codes), 0)"
)
_WEIGHED = (
    "FROM memories AS m LEFT JOIN vectors AS v USING (key) LEFT JOIN passages AS p USING (key)"
)


class Thread:
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
        self, database: Database, copies: KeptCopies, check_seconds: float = _CHECK_SECONDS
    ) -> None:
        self._db = database
        self._copies = copies
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
        found: list[tuple[int, int]] = []
        with self._db.reading() as db:
            for kind in ("IN", "NOT IN"):  # agents' notes first
                sql = (
                    f"SELECT m.key, {_BYTES} {_WEIGHED} WHERE m.pinned = 0 AND m.derived = 0 "
                    f"AND m.key {kind} (SELECT key FROM agent_notes) ORDER BY m.at, m.key LIMIT ?"
                )
                found += [(row[0], row[1]) for row in db.execute(sql, (limit - len(found),))]
        return found

    def forget_words(self, *, begin: bool) -> bool:
        with self._db.writing() as db:
            merged = words.merge(db, _MERGED_PAGES, begin=begin)
            return work_words.merge(db, _MERGED_PAGES, begin=begin) or merged

    def compact(self, cursor: str) -> Compacted:
        if cursor != _RELEASE:
            merged = self.forget_words(begin=False)
            return Compacted("" if merged else _RELEASE, merged=int(merged))
        released = self._released(_RELEASED_PAGES)
        if not released:
            self._db.checkpoint()
        return Compacted(_RELEASE, done=not released, released=released)

    def _released(self, pages: int) -> int:
        with self._db.outside_transactions() as db:
            before = _number(scalar(db, "PRAGMA freelist_count"))
            db.execute(f"PRAGMA incremental_vacuum({pages:d})").fetchall()
            return before - _number(scalar(db, "PRAGMA freelist_count"))

    def check(self) -> Thread:
        return Thread(self._check, "check")

    def backup_due(self) -> bool:
        return self._copies.due()

    def back_up(self) -> Thread:
        return Thread(self._copies.make, "backup")

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


class Checkpoints:
    """Brings what was committed into the file itself soon: what is only in the log hangs on every byte
    of it. A thread that rests until something is written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._database.written.set()
        if self._thread is not None:
            self._thread.join(timeout=3)

    def _run(self) -> None:
        written = self._database.written
        while written.wait() and not self._stopping.wait(_CHECKPOINT_WITHIN):
            written.clear()
            try:
                if not self._database.checkpoint():
                    written.set()  # somebody is at it: soon again
            except IaiError as failed:
                # The log has it all the same, and the next write brings us back.
                _log.warning("checkpoint_failed", extra={"reason": failed.code})


def _number(found: object) -> int:
    assert isinstance(found, int)  # noqa: S101 - these pragmas give numbers
    return found
