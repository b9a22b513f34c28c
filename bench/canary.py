"""Looking for words in everything that a user-data directory holds, also behind our own key."""

import json
import shutil
import tempfile
from pathlib import Path

import apsw

from iai_mcp.adapters.sqlite.database import unlock

_PAGE = 16 * 1024


def holding(directory: Path, words: str) -> list[str]:
    """The files in which the words stand, as they are or decrypted with any key that lies there."""
    keys = [bytes.fromhex(path.read_text().strip()) for path in directory.rglob("*.key")]
    wanted = words.encode()
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return [
        str(path.relative_to(directory))
        for path in files
        if wanted in path.read_bytes() or any(wanted in page for page in _decrypted(path, keys))
    ]


def frames_in_log(directory: Path) -> int:
    """How many pages the store's log holds; what was overwritten in the store stands there too."""
    log = directory / "memory.db-wal"
    return log.stat().st_size // (_PAGE + 24) if log.exists() else 0


def _decrypted(path: Path, keys: list[bytes]) -> list[bytes]:
    """Every page of a database that one of the keys opens, those that are free too."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "copy")
        if path.suffix == ".backup":
            header, _, body = path.read_bytes().partition(b"\n")
            assert json.loads(header)["size"] == len(body)
            copy.write_bytes(body)
        else:
            shutil.copy(path, copy)
            log = path.with_name(f"{path.name}-wal")
            if log.exists():
                shutil.copy(log, f"{copy}-wal")
        for key in keys:
            try:
                return [_pages(copy, key)]
            except apsw.Error:
                continue
    return []


def _pages(path: Path, key: bytes) -> bytes:
    db = apsw.Connection(str(path))
    try:
        unlock(db, key)
        db.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return db.serialize("main")
    finally:
        db.close()
