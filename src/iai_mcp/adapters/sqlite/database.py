"""One encrypted SQLite file: opening it, sharing it between threads, and naming its failures."""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw

from iai_mcp.adapters.sqlite import write_ahead
from iai_mcp.domain.errors import (
    Busy,
    DiskFull,
    IaiError,
    IoFailed,
    ReadOnly,
    StoreDamaged,
    StoreError,
)

_T = TypeVar("_T")

PAGE_SIZE = 16 * 1024  # three times the insert rate of 4 KB pages with the cipher on
# AEGIS-256 takes next to no time where the processor knows AES. Files that earlier versions made
# have ChaCha20-Poly1305 and keep it; the room it leaves at the end of each page tells.
CIPHER, _EARLIER_CIPHER = "aegis", "chacha20"
_ROOM_AT, _EARLIER_ROOM = 20, 32  # where the header says it, unencrypted, and what it says
_BUSY_MS = 5_000
_CACHE_KIB = 4 * 1024
_IDLE_READERS = 3


# A statement kept for the next time holds on to what it was last given.
_LONGEST_KEPT = 1 << 16


def cacheable(text: str) -> bool:
    """Whether a statement that is given this text may be kept prepared."""
    return len(text) <= _LONGEST_KEPT


class Database:
    """Connections to one file: a single writer at a time, readers beside it (WAL).

    A committed transaction has been fsynced: it survives `kill -9` and power loss
    (`synchronous=FULL`). One that is `repeatable` survives `kill -9`; power loss may take the last
    few of them back, in order and each as a whole.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key
        self._closed = False
        self._write_turn = threading.RLock()
        self._readers: deque[apsw.Connection] = (
            deque()
        )  # the last one used first: its cache is warm
        self.written = threading.Event()  # something was, since it was last cleared
        self.commits = 0  # of this process, which is the only one that writes
        self._is_new = not path.exists() or not path.stat().st_size
        with translated(path):
            self.lost = self._take_log()
            self._writer = self._connect()
            # The first page tells whether the key fits; nothing is written before that.
            self._writer.execute("SELECT count(*) FROM sqlite_master").fetchall()
            self._writer.pragma("journal_mode", "wal")
        self._file = _identity(path)

    @property
    def in_place(self) -> bool:
        """Whether the file that is open is still the one that will be opened next time."""
        return _identity(self.path) == self._file

    @contextmanager
    def writing(self, *, repeatable: bool = False) -> Iterator[apsw.Connection]:
        """The writer inside one transaction: committed at the end, rolled back on any error.

        Args:
            repeatable: what is written can be worked out again, so nobody waits for the disk.
        """
        with self._write_turn, translated(self.path):
            self._check_open()
            self._check_in_place()
            if repeatable:
                self._writer.pragma("synchronous", "NORMAL")
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
                self._writer.execute("COMMIT")
                self.commits += 1
                self.written.set()
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            finally:
                if repeatable:
                    self._writer.pragma("synchronous", "FULL")

    @contextmanager
    def outside_transactions(self) -> Iterator[apsw.Connection]:
        """The writer without a transaction, for what SQLite allows only there (VACUUM, pragmas)."""
        with self._write_turn, translated(self.path):
            self._check_open()
            yield self._writer

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A reader with a consistent view; it never waits for the writer."""
        with translated(self.path):
            self._check_open()
            try:
                reader = self._readers.pop()
            except IndexError:
                reader = self._connect()
            try:
                yield reader
            finally:
                if self._closed or len(self._readers) >= _IDLE_READERS:
                    reader.close()
                else:
                    self._readers.append(reader)

    def checkpoint(self) -> bool:
        """Bring what was committed into the file itself; whether nothing is left in the log.

        Nobody is held up: where somebody reads or writes at the moment, something may be left.
        """
        with self.reading() as db:
            db.set_busy_timeout(0)
            try:
                # Most of it while others write; the second locks them out, for the little that is left.
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return False
            finally:
                db.set_busy_timeout(_BUSY_MS)
        return True

    def shrink(self) -> None:
        """Free what the connections keep in case it is read again."""
        with self.outside_transactions() as db:
            db.execute("PRAGMA shrink_memory")
        self._close_readers()

    def close(self) -> None:
        with self._write_turn:
            if self._closed:
                return
            self._closed = True
            self._close_readers()
            with translated(self.path):
                self._writer.close()

    def _close_readers(self) -> None:
        """Those that nobody uses; others may take one at the same moment."""
        with contextlib.suppress(IndexError):
            while True:
                self._readers.pop().close()

    @property
    def closed(self) -> bool:
        return self._closed

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed: the daemon is stopping; try again in a moment")

    def _check_in_place(self) -> None:
        # SQLite would go on writing into a file that nobody ever finds again.
        if not self.in_place:
            raise IoFailed(
                f"{self.path} was moved or deleted while it was open, and nothing is written to it any "
                "more: put it back, or restore a backup with: iai-mcp restore FILE; to begin with an "
                "empty memory on purpose: iai-mcp down, iai-mcp up --anew"
            )

    def _take_log(self) -> write_ahead.Loss | None:
        """See what a process that was killed left in the log, and what of it SQLite takes.

        Raises:
            StoreDamaged: what it takes does not fit the file any more.
        """
        log = write_ahead.read(self.path, PAGE_SIZE)
        if log is None:
            return None
        taken = self._frames_taken()
        missing = log.missing(taken)
        now = write_ahead.read(self.path, PAGE_SIZE)
        if not missing or now is None or now.commits != log.commits:
            return None  # all is there; or somebody has it open, and went on writing
        if log.index is not None and log.index.is_older(taken):
            if not log.index.is_in_file:
                raise _damaged(self.path)
            write_ahead.drop(self.path)  # the file has all of it
            return None
        return write_ahead.Loss(missing, write_ahead.set_aside(self.path))

    def _frames_taken(self) -> int:
        """How much of the log SQLite takes for good; nothing is changed by asking."""
        with contextlib.closing(apsw.Connection(str(self.path))) as asked:
            asked.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            asked.set_busy_timeout(_BUSY_MS)
            unlock(asked, self._key)
            asked.execute("SELECT count(*) FROM sqlite_master").fetchall()
            return asked.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]

    def _connect(self) -> apsw.Connection:
        # Where the file went away another one must not appear in its place.
        connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(_BUSY_MS)
        unlock(connection, self._key)
        if self._is_new:
            connection.pragma("page_size", PAGE_SIZE)
            # With this, what was forgotten can be given back a little at a time.
            connection.pragma("auto_vacuum", "incremental")
            self._is_new = False
        connection.pragma("synchronous", "FULL")
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("cache_size", -_CACHE_KIB)
        connection.pragma("temp_store", "memory")
        return connection


class Remembered(Generic[_T]):
    """What a query found, until something is written: no other process writes while this one has the file.

    For what every call asks and few calls change. Safe from any thread.
    """

    def __init__(self, database: Database, ask: Callable[[apsw.Connection], _T]) -> None:
        self._db = database
        self._ask = ask
        self._known: tuple[int, _T] | None = None

    def __call__(self) -> _T:
        # Read before asking: what is committed meanwhile is asked for again.
        commits, known = self._db.commits, self._known
        if known is not None and known[0] == commits:
            return known[1]
        with self._db.reading() as db:
            found = self._ask(db)
        self._known = (commits, found)
        return found


def unlock(connection: apsw.Connection, key: bytes, cipher: str | None = None) -> None:
    """Give a fresh connection the raw key. It comes before everything else."""
    cipher = cipher or cipher_of(Path(connection.db_filename("main")))
    connection.execute(f"PRAGMA cipher = '{cipher}'")
    connection.execute(f'PRAGMA key = "raw:{key.hex()}"')


def cipher_of(path: Path) -> str:
    """Which cipher the file is encrypted with, or will be if it is empty or not there."""
    try:
        with path.open("rb") as file:
            header = file.read(_ROOM_AT + 1)
    except OSError:
        return CIPHER  # SQLite says what is wrong with it
    return _EARLIER_CIPHER if header[_ROOM_AT:] == bytes([_EARLIER_ROOM]) else CIPHER


def copy_encrypted(source: apsw.Connection, target: Path, key: bytes) -> None:
    """A consistent, checked and durable copy of an open database under `key`, in its cipher.

    Pages are copied as they are, and each cipher leaves another room at their end.
    """
    for leftover in (target, target.with_name(target.name + "-journal")):
        leftover.unlink(missing_ok=True)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with translated(target), contextlib.closing(apsw.Connection(str(target))) as copy:
        unlock(copy, key, cipher_of(Path(source.db_filename("main"))))
        copy.pragma("page_size", PAGE_SIZE)
        # One view from beginning to end: else every write meanwhile would start the copy anew.
        with source:
            source.execute("SELECT count(*) FROM sqlite_master").fetchall()
            with copy.backup("main", source, "main") as progress:
                while not progress.done:
                    progress.step(256)
        copy.pragma("journal_mode", "delete")
        if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise StoreDamaged("the store did not copy whole: run iai-mcp doctor")
    with target.open("rb") as file:
        os.fsync(file.fileno())


def scalar(db: apsw.Connection, sql: str, values: "Sequence[apsw.SQLiteValue]" = ()) -> object:
    """The one value of a query that always has one."""
    row = db.execute(sql, tuple(values)).fetchone()
    if row is None:
        raise StoreError("the store lacks a row that it always has: run iai-mcp doctor")
    return row[0]


def fetched(
    db: apsw.Connection, sql: str, values: "Sequence[apsw.SQLiteValue]" = ()
) -> "list[tuple[Any, ...]]":
    """All rows of a query at once, for who writes to what it reads."""
    return db.execute(sql, tuple(values)).fetchall()


def count(db: apsw.Connection, table: str) -> int:
    found = scalar(db, f"SELECT count(*) FROM {table}")
    assert isinstance(found, int)  # noqa: S101 - count(*) is a number
    return found


def verdict(db: apsw.Connection) -> str:
    """SQLite's word on every page of the file: "ok", or what is wrong first."""
    with db:
        # A connection keeps the layout of the words index in mind and checks it against a file that
        # others have merged since: a question makes it look again.
        db.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchall()
        found = db.execute("PRAGMA quick_check(1)").fetchone()
    return "nothing" if found is None else str(found[0])


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's failures as sentences that say what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _as_ours(error, path) from error


def _damaged(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is damaged: stop using it, keep a copy, and restore the last backup "
        "with: iai-mcp restore FILE; nothing was changed"
    )


def _as_ours(error: apsw.Error, path: Path) -> IaiError:
    match error:
        case apsw.FullError():
            return DiskFull("the disk is full: free some space and try again; nothing was lost")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return ReadOnly(f"{path} may not be written: give your user write access to it")
        case apsw.CantOpenError():
            return ReadOnly(
                f"{path} can not be opened: check that {path.parent} exists and that your user "
                "may write there"
            )
        case apsw.NotADBError() | apsw.CorruptError():
            return _damaged(path)
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path} is in use by another process: try again in a moment")
        case apsw.IOError():
            return IoFailed(f"reading or writing {path} failed: check the disk; nothing was lost")
        case _:
            return StoreError(f"the store refused that ({type(error).__name__})")
