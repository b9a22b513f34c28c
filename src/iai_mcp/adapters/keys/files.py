"""The store's files in a user-data directory, by name, and the copies that are kept beside it."""

from pathlib import Path

STORE_NAME = "memory.db"
LOG_NAME = f"{STORE_NAME}-wal"
SHARED_NAME = f"{STORE_NAME}-shm"
NEXT_NAME = "memory.next.db"  # while a rotation writes it
RESTORED_NAME = "memory.restore.db"  # while a restore checks it
BEFORE_RESTORE = ".before-restore"  # what was in the place of a restored store
BACKUPS = "backups"


def automatic_backups(directory: Path) -> list[Path]:
    """Those that sleep made, oldest first; a person's own files there are left alone."""
    return sorted((directory / BACKUPS).glob("sleep-*.backup"))


def stores_set_aside(directory: Path) -> list[Path]:
    """The stores that restores kept, but for one that is still in its place (a restore was killed)."""
    store = directory / STORE_NAME
    return [
        path
        for path in sorted(directory.glob(f"{STORE_NAME}{BEFORE_RESTORE}*"))
        if not path.name.endswith(("-wal", "-shm", "-journal"))
        and not (store.exists() and path.samefile(store))
    ]


def logs_left(directory: Path) -> list[Path]:
    """Logs that were set aside of stores that were lost: nobody can look into them any more."""
    return [
        log
        for log in sorted(directory.glob(f"{STORE_NAME}{BEFORE_RESTORE}*-wal"))
        if not log.with_name(log.name.removesuffix("-wal")).exists()
    ]
