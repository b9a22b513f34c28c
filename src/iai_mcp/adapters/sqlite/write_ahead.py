"""What SQLite's write-ahead log should hold, as its file and its index say, read without SQLite.

After a crash SQLite takes the log up to the first frame that is not as it was written, and whatever
follows for remains: right for a write that was cut off, but a damaged byte drops every transaction after
it, in silence. Here that is noticed. Page contents are encrypted; the headers of frames are not.
"""

import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from iai_mcp.adapters.private_files import io_failure
from iai_mcp.paths import sync_directory

_HEADER = struct.Struct(">8I")  # magic, version, page size, number, salts, check sums
_MAGIC = 0x377F0682  # the lowest bit: check sums are made of big-endian words
_FRAME = struct.Struct(">II8s8s")  # page, pages in the file after a commit (else 0), salts, sums
# The index: version, -, change, whether it is made, byte order, page size, last frame, pages,
# sums, salts, sums of all this; twice. Then how many frames a checkpoint has copied into the
# database file, marks of readers and locks, and how many it was about to copy.
_INDEX = struct.Struct("=3I2BHII8s8s8s")
_CHECKPOINT = struct.Struct("=I28xI")
_INDEX_VERSION = 3_007_000
_COPIES = 3


@dataclass(frozen=True, slots=True)
class Loss:
    """What the log held and SQLite could not take: so many frames (pages), kept in `copy`."""

    frames: int
    copy: Path


@dataclass(frozen=True, slots=True)
class Index:
    """How many frames were committed, and what of them may be in the database file already."""

    committed: int
    copied: int
    begun: int

    def is_older(self, taken: int) -> bool:
        """Whether so many frames are older than the file: they would put old pages among its new ones."""
        return taken < max(self.copied, self.begun)

    @property
    def is_in_file(self) -> bool:
        return self.copied == self.committed


@dataclass(frozen=True, slots=True)
class Log:
    """A log with something in it.

    `commits` has an entry for each frame, by its place: whether it ends a transaction, or None for
    one of an earlier use of the file. `index` is there where SQLite left one for this log.
    """

    commits: tuple[bool | None, ...]
    index: "Index | None"

    def missing(self, taken: int) -> int:
        """How many frames of committed transactions lie behind those that SQLite takes."""
        if self.index is not None:
            return max(0, self.index.committed - taken)
        behind = self.commits[taken:]
        last = max((n for n, commit in enumerate(behind, 1) if commit is not None), default=0)
        # The last one of all may have been cut off while it was written. One before it was not.
        return last if any(behind[: max(0, last - 1)]) else 0


def read(database: Path, page_size: int) -> Log | None:
    """The log of a database that nobody has open; None where it is empty, or there is none."""
    try:
        with _log(database).open("rb") as file:
            header = file.read(_HEADER.size)
            whole = _is_whole(header)
            frames = _frames(file.fileno(), _HEADER.unpack(header)[2] if whole else page_size)
    except FileNotFoundError:
        return None
    if not frames:
        return None
    # A header that is damaged tells nothing: its frames are those of the first one's kind.
    salts = header[16:24] if whole else frames[0][2]
    commits = tuple(commit != 0 if found == salts else None for _, commit, found, _ in frames)
    return Log(commits, _index(database, salts))


def set_aside(database: Path) -> Path:
    """A copy of the log beside it, because SQLite writes over it; the oldest of several go.

    Raises:
        IoFailed: there is no room for it.
    """
    log = _log(database)
    name = time.strftime(f"{log.name}.damaged-%Y%m%dT%H%M%SZ", time.gmtime())
    copy = log.with_name(name)
    try:
        descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as target, log.open("rb") as source:
            while part := source.read(1 << 20):
                target.write(part)
            target.flush()
            os.fsync(descriptor)
        sync_directory(copy.parent)
    except OSError as refused:
        copy.unlink(missing_ok=True)
        raise io_failure(refused, copy) from refused
    for old in copies(database)[:-_COPIES]:
        old.unlink(missing_ok=True)
    return copy


def copies(database: Path) -> list[Path]:
    """The damaged logs that were set aside, oldest first."""
    return sorted(database.parent.glob(f"{_log(database).name}.damaged-*"))


def drop(database: Path) -> None:
    """Go on with the database file alone."""
    _shared(database).unlink(missing_ok=True)
    _log(database).unlink(missing_ok=True)


def _log(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def _shared(database: Path) -> Path:
    return database.with_name(f"{database.name}-shm")


def _frames(descriptor: int, page_size: int) -> list[tuple[int, int, bytes, bytes]]:
    """The headers of all frames that are there whole, and of one that is cut off."""
    found = []
    at = _HEADER.size
    while len(head := os.pread(descriptor, _FRAME.size, at)) == _FRAME.size:
        found.append(_FRAME.unpack(head))
        at += _FRAME.size + page_size
    return found


def _is_whole(header: bytes) -> bool:
    if len(header) < _HEADER.size:
        return False
    magic, *_, first, second = _HEADER.unpack(header)
    words = struct.unpack(">6I" if magic & 1 else "<6I", header[:24])
    one = two = 0
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return magic & ~1 == _MAGIC and (one, two) == (first, second)


def _index(database: Path, salts: bytes) -> Index | None:
    """The index of the log that has these salts.

    It lives in memory, and outlives a process that is killed; after power loss it may be of another
    time, and then has other salts or contradicts itself.
    """
    try:
        with _shared(database).open("rb") as file:
            first, second = file.read(_INDEX.size), file.read(_INDEX.size)
            checkpoint = file.read(_CHECKPOINT.size)
    except FileNotFoundError:
        return None
    if first != second or len(checkpoint) < _CHECKPOINT.size:
        return None
    version, _, _, made, _, _, committed, _, _, own_salts, _ = _INDEX.unpack(first)
    if version != _INDEX_VERSION or not made or own_salts != salts:
        return None
    return Index(committed, *_CHECKPOINT.unpack(checkpoint))
