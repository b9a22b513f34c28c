"""Opening the encrypted file with its key; making both on the first day; changing the key."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from iai_mcp import paths
from iai_mcp.adapters.keys import backup, descriptor, loss, sources
from iai_mcp.adapters.keys.descriptor import KeyDescriptor, KeyRecord, Source
from iai_mcp.adapters.keys.files import NEXT_NAME, STORE_NAME
from iai_mcp.adapters.private_files import io_failure
from iai_mcp.adapters.sqlite import schema
from iai_mcp.adapters.sqlite.database import Database, cipher_of, copy_encrypted
from iai_mcp.concurrency import ProcessLock
from iai_mcp.domain.errors import AlreadyExists, Busy, KeyMissing, StoreDamaged, StoreLost

_CUSTODY_SECONDS = 5.0
_MAKING = "another process is making this store"


def open_database(directory: Path) -> Database:
    """The encrypted database of a user-data directory; made on first use, never overwritten.

    Raises:
        KeyMissing, KeyWrong, StoreDamaged, StoreLost, StoreTooNew, IoFailed: each says what to do.
    """
    try:
        paths.private_dir(str(directory))
    except OSError as refused:
        raise io_failure(refused, directory) from refused
    record = descriptor.load(directory)
    if record is None or record.unused:
        record = _make_store(directory)
    lost = loss.loss(directory)
    if lost is not None:
        raise lost.as_error()
    path = directory / STORE_NAME
    if record.following is None:
        return _opened(path, sources.fetch(directory, record.current))
    with _custody(directory, "a new key is being given to the store"):
        return _finish_rotation(directory, path, record, record.following)


def status(directory: Path) -> dict[str, object]:
    """Where the key comes from, without touching it."""
    record = descriptor.load(directory)
    store = directory / STORE_NAME
    return {
        "initialized": record is not None,
        "source": record.current.source if record else None,
        "rotation_unfinished": bool(record and record.following),
        "store": str(store),
        "store_exists": store.exists(),
        "passphrase_set": bool(sources.passphrase()),
        "cipher": cipher_of(store),
        "kdf": "argon2id" if record and record.current.source == "passphrase" else None,
    }


def init(directory: Path, source: Source | None) -> KeyDescriptor:
    """Make the key before anything is stored.

    Raises:
        AlreadyExists: there is one.
    """
    paths.private_dir(str(directory))
    if descriptor.load(directory) is not None:
        raise AlreadyExists(
            "this store already has a key: 'iai-mcp crypto status' shows it, "
            "'iai-mcp crypto rotate' changes it"
        )
    with _custody(directory, _MAKING):
        return _first_key(directory, source).current


def begin_anew(directory: Path) -> None:
    """Let the next opening make an empty store under the same key. The caller holds the lock.

    What is left of the lost one is kept as a restore keeps it, and its backups can still be restored.

    Raises:
        AlreadyExists: no store was lost here.
    """
    record = descriptor.load(directory)
    try:
        if record is not None:
            open_database(directory).close()
    except StoreLost:
        assert record is not None  # noqa: S101 - without a key nothing is opened, nor lost
    else:
        raise AlreadyExists("no store was lost here: 'iai-mcp up' starts with what there is")
    try:
        backup.set_aside(directory)
        (directory / STORE_NAME).unlink(missing_ok=True)
    except OSError as refused:
        raise io_failure(refused, directory) from refused
    descriptor.save(directory, KeyRecord(record.current, unused=True))


def rotate(directory: Path, source: Source | None, new_passphrase: str | None) -> KeyDescriptor:
    """Re-encrypt the whole store under a new key. Killed at any moment, it opens with one of them.

    The caller holds the process lock.
    """
    if descriptor.load(directory) is None:
        raise KeyMissing("there is no store here yet: 'iai-mcp crypto init' makes its key")
    open_database(directory).close()  # finishes an interrupted rotation first
    with _custody(directory, "another rotation is under way"):
        record = descriptor.load(directory)
        assert record is not None  # noqa: S101 - it was there, and nobody else may change it
        _tidy(directory, record)
        old_key = sources.fetch(directory, record.current)
        following, new_key = _following_key(
            directory, source or record.current.source, new_passphrase
        )
        descriptor.save(directory, KeyRecord(record.current, following))
        path, fresh = directory / STORE_NAME, directory / NEXT_NAME
        _copy_under(path, old_key, fresh, new_key)
        fresh.replace(path)
        paths.sync_directory(directory)
        descriptor.save(directory, KeyRecord(following))
        sources.discard(directory, record.current)
        return following


def _make_store(directory: Path) -> KeyRecord:
    """The first day: a key if there is none yet, a store under it, and a note that there is one.

    Killed at any moment it is done over: before the note nothing was ever stored.
    """
    with _custody(directory, _MAKING):  # two processes on that day must not make two of either
        record = _first_key(directory)
        if not record.unused:
            return record
        path = directory / STORE_NAME
        try:
            # SQLite would make it with the process's umask.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as refused:
            raise io_failure(refused, path) from refused
        database = _open(path, sources.fetch(directory, record.current))
        try:
            with database.writing() as db:
                schema.upgrade(db)
            with database.outside_transactions() as db:
                db.pragma("wal_checkpoint(TRUNCATE)")  # without its log, too, it is a store
        finally:
            database.close()
        made = KeyRecord(record.current)
        descriptor.save(directory, made)
        return made


def _first_key(directory: Path, source: Source | None = None) -> KeyRecord:
    """The key there is, or a new one. The caller has custody."""
    known = descriptor.load(directory)
    if known is not None:
        return known
    store = directory / STORE_NAME
    if store.exists() and store.stat().st_size:
        raise KeyMissing(
            f"{store} exists and {directory / descriptor.FILE_NAME} does not: restore that "
            "file from a backup; nothing was changed"
        )
    record = KeyRecord(sources.make(directory, source)[0], unused=True)
    descriptor.save(directory, record)
    return record


@contextlib.contextmanager
def _custody(directory: Path, meanwhile: str) -> Iterator[None]:
    """Sole charge of the key. Making one takes a moment: wait that long before giving up."""
    lock = ProcessLock(directory / ".key.lock")
    deadline = time.monotonic() + _CUSTODY_SECONDS
    try:
        while not lock.try_acquire_exclusive():
            if time.monotonic() > deadline:
                raise Busy(f"{meanwhile}: try again in a moment")
            time.sleep(0.01)
        yield
    finally:
        lock.close()


def _tidy(directory: Path, record: KeyRecord) -> None:
    """Remove what a rotation left that was killed before it was written down."""
    for leftover in directory.glob(f"{NEXT_NAME}*"):
        leftover.unlink(missing_ok=True)
    for temporary in directory.glob(".*.tmp"):
        temporary.unlink(missing_ok=True)
    for key_file in directory.glob("store-*.key"):
        if key_file.name != record.current.account:
            key_file.unlink(missing_ok=True)


def _opened(path: Path, key: bytes) -> Database:
    """The store that is there.

    Raises:
        StoreLost: nothing is in it, not even its tables.
    """
    database = _open(path, key)
    with database.reading() as db:
        version = db.pragma("user_version")
    if not version:
        database.close()
        raise loss.of(path.parent, f"{path} holds nothing, and memories were kept in it").as_error()
    return database


def _open(path: Path, key: bytes) -> Database:
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return Database(path, key)


def _finish_rotation(
    directory: Path, path: Path, record: KeyRecord, following: KeyDescriptor
) -> Database:
    """A rotation was interrupted: the file tells which of the two keys is the true one."""
    for leftover in directory.glob(f"{NEXT_NAME}*"):
        leftover.unlink(missing_ok=True)
    try:
        database = _opened(path, sources.fetch(directory, record.current))
        kept, dropped = record.current, following
    except (StoreDamaged, KeyMissing):
        database = _opened(path, sources.fetch(directory, following))
        kept, dropped = following, record.current
    descriptor.save(directory, KeyRecord(kept))
    sources.discard(directory, dropped)
    return database


def _following_key(
    directory: Path, source: Source, new_passphrase: str | None
) -> tuple[KeyDescriptor, bytes]:
    if source != "passphrase" or new_passphrase is None:
        return sources.make(directory, source)
    return sources.make_from(new_passphrase)


def _copy_under(path: Path, old_key: bytes, fresh: Path, new_key: bytes) -> None:
    """Write the whole content of `path` to `fresh`, encrypted with another key, durably."""
    source = Database(path, old_key)
    try:
        with source.outside_transactions() as db:
            db.pragma("wal_checkpoint(TRUNCATE)")
            copy_encrypted(db, fresh, new_key)
    finally:
        source.close()
