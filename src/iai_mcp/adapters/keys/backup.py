"""A backup is one file: a line that says what it is, then the store, still encrypted.

    {"iai-mcp-backup": 1, "created": …, "records": …, "derived": …, "size": …, "key": {…}}\\n<the encrypted file>

The key itself is not in it: whoever finds a backup can not read it. Where the key was a passphrase, that
passphrase opens the backup on any machine; where it was a file or a keyring entry, the key is brought
along apart (`crypto export-key`).
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from iai_mcp.adapters.keys import descriptor, sources
from iai_mcp.adapters.keys.descriptor import KeyDescriptor, KeyRecord, check_of
from iai_mcp.adapters.keys.files import (
    BEFORE_RESTORE,
    LOG_NAME,
    RESTORED_NAME,
    SHARED_NAME,
    STORE_NAME,
    stores_set_aside,
)
from iai_mcp.adapters.private_files import io_failure, write_private
from iai_mcp.adapters.sqlite.database import Database, copy_encrypted, count, translated, unlock
from iai_mcp.domain.errors import Busy, InvalidInput, KeyMissing, KeyWrong, StoreDamaged
from iai_mcp.domain.instants import iso
from iai_mcp.paths import sync_directory

_VERSION = 1
_LONGEST_HEADER = 65536
_CHUNK = 1 << 20
_STEPS_BETWEEN_LOOKS = 20_000
_COPIES_KEPT = 3  # of what restores put aside: each is a whole store

Change = Callable[[apsw.Connection], bool]  # whether anything was changed
Stopping = Callable[[], bool]


def never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class BackupHeader:
    """What a backup says about itself."""

    created: str
    records: int  # what was said; what sleep derived from it is counted apart
    derived: int
    size: int
    key: KeyDescriptor


def create(database: Database, directory: Path, target: Path) -> dict[str, object]:
    """Write a consistent copy of the open store to `target`; it appears whole or not at all."""
    record = descriptor.load(directory)
    if record is None:
        raise KeyMissing("this store has no key description: run iai-mcp doctor")
    plain = target.with_name(f".{target.name}.{os.getpid()}.copy")
    whole = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with database.reading() as db:
            records, derived = _counted(db)
            copy_encrypted(db, plain, sources.fetch(directory, record.current))
        header = {
            "iai-mcp-backup": _VERSION,
            "created": iso(time.time_ns() // 1000),
            "records": records,
            "derived": derived,
            "size": plain.stat().st_size,
            "key": descriptor.to_json(record.current),
        }
        _join(header, plain, whole)
        whole.replace(target)
        sync_directory(target.parent)
    except OSError as refused:
        raise io_failure(refused, target) from refused
    finally:
        plain.unlink(missing_ok=True)
        whole.unlink(missing_ok=True)
    size = target.stat().st_size
    return {"path": str(target), "records": records, "derived": derived, "bytes": size}


def read_header(source: Path) -> BackupHeader:
    """What the backup is.

    Raises:
        InvalidInput: it is not a backup of ours.
        StoreDamaged: it is cut off.
    """
    try:
        raw, size = _raw_header(source)
        if raw["iai-mcp-backup"] > _VERSION:
            raise InvalidInput(f"{source} was made by a newer iai-mcp: upgrade this one")
        header = BackupHeader(
            raw["created"],
            int(raw["records"]),
            int(raw.get("derived", 0)),
            int(raw["size"]),
            descriptor.from_json(raw["key"]),
        )
    except OSError as refused:
        raise InvalidInput(f"{source} can not be read: {refused.strerror}") from refused
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as strange:
        raise InvalidInput(f"{source} is not a backup made by iai-mcp") from strange
    if size != header.size:
        raise StoreDamaged(
            f"{source} is cut off: {size} of {header.size} bytes; use another backup"
        )
    return header


def _raw_header(source: Path) -> tuple[dict[str, Any], int]:
    """The first line, and the size of what follows it."""
    with source.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    raw: dict[str, Any] = json.loads(line)
    return raw, source.stat().st_size - len(line)


def restore(directory: Path, source: Path, key_text: str | None) -> dict[str, object]:
    """Put the backup in the store's place after checking all of it. The caller holds the lock.

    What was there is kept beside it with its key description, named after the moment; of those that
    earlier restores kept, the last ones stay.
    """
    header = read_header(source)
    key = _key_for(directory, header.key, key_text)
    fresh = directory / RESTORED_NAME
    try:
        _split(source, fresh)
        records, derived = _verified(fresh, key, source)
        aside = set_aside(directory)
        kept = _install_key(directory, header.key, key)
        fresh.replace(directory / STORE_NAME)
        sync_directory(directory)
        descriptor.save(directory, KeyRecord(kept))
        _let_go_of_old_copies(directory)
    except OSError as refused:
        raise io_failure(refused, directory) from refused
    finally:
        fresh.unlink(missing_ok=True)
    return {
        "records": records,
        "derived": derived,
        "created": header.created,
        "key_source": kept.source,
        "kept": aside,
    }


def change_backup(source: Path, key: bytes, change: Change, stopping: Stopping) -> None:
    """Rewrite a backup after `change` to what it holds; it is whole at every moment.

    Raises:
        StoreError: it can not be read; nothing was changed.
        Busy, StoreError: it was told to stop; nothing was changed.
    """
    body = source.with_name(f".{source.name}.{os.getpid()}.copy")
    whole = source.with_name(f".{source.name}.{os.getpid()}.tmp")
    try:
        _split(source, body, stopping)
        with _opened(body, key, stopping) as db:
            db.pragma("journal_mode", "off")  # it is nobody's yet
            db.pragma("synchronous", "off")
            if not _change(db, change):
                return
            if db.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise StoreDamaged(f"{source} is damaged")
            records, derived = _counted(db)
        header = {**_raw_header(source)[0], "records": records, "derived": derived}
        _join({**header, "size": body.stat().st_size}, body, whole, stopping)
        times = source.stat()  # when it was made decides when the next one is due
        os.utime(whole, ns=(times.st_atime_ns, times.st_mtime_ns))
        whole.replace(source)
        sync_directory(source.parent)
    finally:
        body.unlink(missing_ok=True)
        whole.unlink(missing_ok=True)


def change_store(path: Path, key: bytes, change: Change, stopping: Stopping) -> None:
    """The same for a store that is not in use, with its log."""
    with _opened(path, key, stopping) as db:
        _change(db, change)


def _change(db: apsw.Connection, change: Change) -> bool:
    db.execute("BEGIN IMMEDIATE")
    changed = change(db)
    db.execute("COMMIT")
    return changed


@contextlib.contextmanager
def _opened(path: Path, key: bytes, stopping: Stopping) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READWRITE
    with translated(path), contextlib.closing(apsw.Connection(str(path), flags=flags)) as db:
        unlock(db, key)
        db.pragma("foreign_keys", True)
        db.pragma("secure_delete", True)
        db.pragma("temp_store", "memory")
        db.set_progress_handler(stopping, _STEPS_BETWEEN_LOOKS)
        yield db


def export_key(directory: Path) -> str:
    """The store's key as text, for moving to another machine."""
    record = descriptor.load(directory)
    if record is None:
        raise KeyMissing("there is no store here yet")
    return sources.fetch(directory, record.current).hex()


def _key_for(directory: Path, wanted: KeyDescriptor, key_text: str | None) -> bytes:
    if key_text is not None:
        try:
            key = bytes.fromhex(key_text.strip())
        except ValueError as bad:
            raise KeyWrong("that is not a key as 'iai-mcp crypto export-key' prints it") from bad
        if not wanted.fits(key):
            raise KeyWrong("that key does not belong to this backup; nothing was changed")
        return key
    current = descriptor.load(directory)
    if current is not None and current.current.check == wanted.check:
        return sources.fetch(directory, current.current)
    if wanted.source == "passphrase":
        return sources.fetch(directory, wanted)
    raise KeyMissing(
        "this backup was made under another key: print it on the old machine with "
        "'iai-mcp crypto export-key', and give it here with --key-file; nothing was changed"
    )


def _install_key(directory: Path, wanted: KeyDescriptor, key: bytes) -> KeyDescriptor:
    """Where the restored store's key is kept from now on."""
    current = descriptor.load(directory)
    if wanted.source == "passphrase":
        return wanted
    if current is not None and current.current.check == wanted.check:
        return current.current
    name = f"store-{os.urandom(4).hex()}.key"
    write_private(directory / name, key.hex().encode() + b"\n")
    return KeyDescriptor("file", check_of(key), account=name)


def _verified(fresh: Path, key: bytes, source: Path) -> tuple[int, int]:
    """What the copy holds, after every page was read and checked."""
    try:
        with translated(fresh), contextlib.closing(apsw.Connection(str(fresh))) as db:
            unlock(db, key)
            if db.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise StoreDamaged("quick_check")  # noqa: TRY301 - told in full below
            return _counted(db)
    except StoreDamaged as damaged:
        raise StoreDamaged(
            f"{source} is damaged: use another backup; nothing was changed"
        ) from damaged


def _counted(db: apsw.Connection) -> tuple[int, int]:
    """How many memories were said, and how many sleep derived from them."""
    if not count(db, "pragma_table_info('memories') WHERE name = 'derived'"):
        return count(db, "memories"), 0  # of a version that derived nothing
    return count(db, "memories WHERE derived = 0"), count(db, "memories WHERE derived = 1")


def set_aside(directory: Path) -> str | None:
    """Keep the present store beside the one that takes its place, so that nothing is regretted.

    Where it is kept; None where there was none.
    """
    ending = _free_ending(directory)
    log = directory / LOG_NAME
    for present, name in (
        (directory / STORE_NAME, f"{STORE_NAME}{ending}"),
        (directory / descriptor.FILE_NAME, f"{descriptor.FILE_NAME}{ending}"),
        # What a killed daemon had committed last stands in the log alone.
        (log, f"{STORE_NAME}{ending}-wal"),
    ):
        if present.exists() and present.stat().st_size:
            os.link(present, directory / name)
    for leftover in (log, directory / SHARED_NAME):
        leftover.unlink(missing_ok=True)
    kept = directory / f"{STORE_NAME}{ending}"
    return str(kept) if kept.exists() else None


def _let_go_of_old_copies(directory: Path) -> None:
    for old in stores_set_aside(directory)[:-_COPIES_KEPT]:
        ending = old.name.removeprefix(STORE_NAME)
        for name in (old.name, f"{old.name}-wal", f"{descriptor.FILE_NAME}{ending}"):
            (directory / name).unlink(missing_ok=True)


def _free_ending(directory: Path) -> str:
    """No copy that an earlier restore kept is overwritten."""
    # With milliseconds: which of them are the oldest is told by their names.
    moment = f"{BEFORE_RESTORE}-{datetime.now().astimezone():%Y-%m-%d-%H%M%S-%f}"[:-3]
    ending, number = moment, 1
    while any((directory / f"{n}{ending}").exists() for n in (STORE_NAME, descriptor.FILE_NAME)):
        number += 1
        ending = f"{moment}-{number}"
    return ending


def _join(header: dict[str, object], body: Path, whole: Path, stopping: Stopping = never) -> None:
    with _private(whole) as target, body.open("rb") as source:
        target.write(json.dumps(header).encode() + b"\n")
        _copy(source, target, stopping)


def _split(source: Path, fresh: Path, stopping: Stopping = never) -> None:
    fresh.unlink(missing_ok=True)
    with _private(fresh) as target, source.open("rb") as file:
        file.readline(_LONGEST_HEADER)
        _copy(file, target, stopping)


@contextlib.contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    """A new file that only its owner may read, on disk when it is closed."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as target:
        yield target
        target.flush()
        os.fsync(target.fileno())


def _copy(source: BinaryIO, target: BinaryIO, stopping: Stopping) -> None:
    while part := source.read(_CHUNK):
        if stopping():
            raise Busy("there is no time left for it")
        target.write(part)
