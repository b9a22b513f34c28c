"""SQLite drops what follows a damaged byte of its log without a word: we notice, tell, and keep it."""

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.home import SOURCE

from iai_mcp.adapters.sqlite.database import PAGE_SIZE, Database
from iai_mcp.domain.errors import StoreDamaged

KEY = b"k" * 32
FRAME = PAGE_SIZE + 24
WRITE = """
import os, sys
from pathlib import Path
from iai_mcp.adapters.sqlite.database import Database
database = Database(Path(sys.argv[1]), b"k" * 32)
def say(*numbers):
    for number in numbers:
        with database.writing() as db:
            db.execute("INSERT INTO said VALUES (?)", (f"{number}" + "x" * 40_000,))
with database.writing() as db:
    db.execute("CREATE TABLE IF NOT EXISTS said (words)")
"""
KILLED = "\nos.kill(os.getpid(), 9)\n"


def run(path: Path, script: str) -> None:
    """A process that writes, and is killed at its end."""
    done = subprocess.run(
        [sys.executable, "-c", WRITE + script + KILLED, str(path)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "m.db"
    file.touch(0o600)  # a store is made on purpose, never by opening it
    return file


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def copies(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.damaged-*"))


def said(database: Database) -> list[int]:
    with database.reading() as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = [row[0] for row in db.execute("SELECT words FROM said ORDER BY rowid")]
    return [int(words.rstrip("x")) for words in found]


def frames(path: Path) -> int:
    return (log_of(path).stat().st_size - 32) // FRAME


def flip(path: Path, at: int) -> None:
    with log_of(path).open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


def in_frame(number: int, offset: int) -> int:
    return 32 + (number - 1) * FRAME + offset


def middle(path: Path) -> int:
    return frames(path) // 2


DAMAGE: dict[str, Callable[[Path], None]] = {
    "words in the middle": lambda path: flip(path, in_frame(middle(path), 5000)),
    "words at the end": lambda path: flip(path, in_frame(frames(path), 5000)),
    "a check sum": lambda path: flip(path, in_frame(middle(path), 17)),
    "a salt": lambda path: flip(path, in_frame(middle(path), 9)),
    "a page number": lambda path: flip(path, in_frame(middle(path), 1)),
    "the first frame": lambda path: flip(path, in_frame(1, 5000)),
    "the header's magic": lambda path: flip(path, 1),
    "the header's salt": lambda path: flip(path, 18),
    "the header's check sum": lambda path: flip(path, 30),
    "the end cut off": lambda path: os.truncate(log_of(path), in_frame(middle(path), 100)),
}


# Only SQLite's index tells these from a crash in the middle of writing.
NEED_THE_INDEX = ("words at the end", "the end cut off")


@pytest.mark.parametrize(
    ("damage", "with_index"),
    [(damage, True) for damage in DAMAGE]
    + [(damage, False) for damage in DAMAGE if damage not in NEED_THE_INDEX],
)
def test_what_a_damaged_log_drops_is_noticed_and_kept(
    path: Path, damage: str, with_index: bool
) -> None:
    run(path, "say(*range(10))")
    DAMAGE[damage](path)
    if not with_index:
        path.with_name(path.name + "-shm").unlink()
    before = log_of(path).read_bytes()

    database = Database(path, KEY)
    assert database.lost is not None
    (copy,) = copies(path)
    assert database.lost.copy == copy
    assert database.lost.frames > 0
    assert copy.read_bytes() == before
    assert copy.stat().st_mode & 0o777 == 0o600
    with database.reading() as db:
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    kept = said(database) if tables == (1,) else []
    assert kept == list(range(len(kept)))
    assert len(kept) < 10
    database.close()

    again = Database(path, KEY)  # it is told once, the copy stays
    assert again.lost is None
    again.close()
    assert copies(path) == [copy]


@pytest.mark.parametrize(
    "script",
    [
        "say(*range(10))",
        # In the middle of a transaction that is so large that it is in the log already.
        """
say(*range(10))
database._writer.pragma("cache_size", 5)
database._writer.execute("BEGIN")
for number in range(60):
    database._writer.execute("INSERT INTO said VALUES (?)", (str(number) * 40_000,))
""",
        # One that was taken back, and a smaller one written over its beginning.
        """
database._writer.pragma("cache_size", 5)
database._writer.execute("BEGIN")
for number in range(60):
    database._writer.execute("INSERT INTO said VALUES (?)", (str(number) * 40_000,))
database._writer.execute("ROLLBACK")
say(*range(10))
""",
        # A log that was begun again: behind the new frames are those of before.
        """
say(*range(10, 40))
database._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
with database.writing() as db:
    db.execute("DELETE FROM said")
say(*range(10))
""",
        # A log that is in the file already.
        """
say(*range(10))
database._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
""",
        # One that is empty.
        """
say(*range(10))
database.checkpoint()
""",
    ],
)
def test_a_kill_is_no_damage(path: Path, script: str) -> None:
    run(path, script)
    database = Database(path, KEY)
    assert database.lost is None
    assert copies(path) == []
    assert said(database) == list(range(10))
    database.close()


@pytest.mark.parametrize("written", [10, 24, 24 + 8192, FRAME - 1])
def test_a_last_frame_that_was_not_written_whole_is_no_damage(path: Path, written: int) -> None:
    run(path, "say(*range(10))")
    log = log_of(path).read_bytes()
    salts = log[16:24]
    torn = struct.pack(">II", 3, 99) + salts + b"\1" * 8 + b"\2" * PAGE_SIZE
    with log_of(path).open("ab") as file:
        file.write(torn[:written])
    database = Database(path, KEY)
    assert database.lost is None
    assert said(database) == list(range(10))
    database.close()


def test_damage_in_what_the_file_has_already_costs_nothing(path: Path) -> None:
    run(
        path,
        """
say(*range(10))
database._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
""",
    )
    flip(path, in_frame(middle(path), 5000))
    database = Database(path, KEY)
    assert database.lost is None
    assert said(database) == list(range(10))
    database.close()


def test_old_pages_are_not_put_in_among_new_ones(path: Path) -> None:
    run(
        path,
        """
say(*range(5))
with database.reading() as reader:
    with reader:
        reader.execute("SELECT count(*) FROM said").fetchall()
        say(*range(5, 8))
        # Up to what the reader sees: what comes after is only in the log.
        reader_sees = database._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        assert 0 < reader_sees[2] < reader_sees[1], reader_sees
        os.kill(os.getpid(), 9)
""",
    )
    flip(path, in_frame(4, 5000))
    before = log_of(path).read_bytes()
    with pytest.raises(StoreDamaged, match="restore"):
        Database(path, KEY)
    assert log_of(path).read_bytes() == before


def test_what_is_read_or_written_meanwhile_is_left_for_the_next_time(path: Path) -> None:
    database = Database(path, KEY)
    with database.writing() as db:
        db.execute("CREATE TABLE said (words)")
    with database.writing() as db:
        db.execute("INSERT INTO said VALUES ('meanwhile')")
        assert not database.checkpoint()
    with database.reading() as db, db:
        assert db.execute("SELECT count(*) FROM said").fetchall() == [(1,)]
        assert not database.checkpoint()
    assert database.checkpoint()
    assert log_of(path).stat().st_size == 0
    database.close()


def test_who_only_reads_leaves_nothing_in_the_log(path: Path) -> None:
    database = Database(path, KEY)
    with database.writing() as db:
        db.execute("CREATE TABLE said (words)")
    assert database.checkpoint()
    with database.reading() as one, database.reading() as another:
        assert one.execute("SELECT count(*) FROM said").fetchall() == [(0,)]
        assert another.execute("SELECT count(*) FROM said").fetchall() == [(0,)]
    assert log_of(path).stat().st_size == 0
    database.close()


def test_on_a_full_disk_nothing_is_opened_and_nothing_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(path, "say(*range(10))")
    flip(path, in_frame(middle(path), 5000))
    before = log_of(path).read_bytes()
    # No regular file may grow larger than this: as a full disk, but for this process alone.
    limited = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({FRAME * 3}, resource.RLIM_INFINITY))
from pathlib import Path
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.errors import IoFailed
try:
    Database(Path({str(path)!r}), b"k" * 32)
except IoFailed as refused:
    print("refused:", refused.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", limited],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("refused:"), done.stderr
    assert log_of(path).read_bytes() == before
    assert copies(path) == []
