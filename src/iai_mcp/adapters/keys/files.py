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
