"""Wrong keys, damage, full disks: each a sentence that says what to do, and nothing overwritten."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.support.answers import ask
from tests.support.home import SOURCE

from iai_mcp.adapters.keys import backup, custody, descriptor
from iai_mcp.adapters.keys.descriptor import Argon2id
from iai_mcp.adapters.sqlite import database
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import (
    AlreadyExists,
    DiskFull,
    KeyMissing,
    KeyWrong,
    ReadOnly,
    StoreDamaged,
    StoreLost,
    StoreTooNew,
)
from iai_mcp.store import MemoryStore

PASSPHRASE = "IAI_MCP_CRYPTO_PASSPHRASE"


def remember(store: MemoryStore, text: str) -> None:
    assert (
        dispatch(store, "memory_capture", {"text": text, "session_id": "s"})["status"] == "inserted"
    )


def remembered(store: MemoryStore) -> list[str]:
    records = ask(store, "memory_timeline", limit=1000)["records"]
    return [record["text"] for record in records]


def everything(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(directory.iterdir()) if p.is_file()}


def test_nothing_that_was_said_can_be_read_from_the_files(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    remember(store, "the mongoose eats at midnight")
    for content in everything(tmp_path / "store").values():
        assert b"mongoose" not in content
        assert b"SQLite format" not in content
    store.close()
    for content in everything(tmp_path / "store").values():
        assert b"mongoose" not in content


def test_without_passphrase_or_keyring_the_key_is_a_private_file(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    opened()
    (key_file,) = (tmp_path / "store").glob("*.key")
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert custody.status(tmp_path / "store")["source"] == "file"


def test_a_passphrase_opens_what_it_made(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    store = opened()
    remember(store, "kept")
    store.close()
    assert remembered(opened()) == ["kept"]


def test_a_passphrase_that_is_absent_later_is_an_error_and_never_a_new_key(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    opened().close()
    before = everything(tmp_path / "store")
    monkeypatch.delenv(PASSPHRASE)
    with pytest.raises(KeyMissing, match=PASSPHRASE):
        opened()
    assert everything(tmp_path / "store") == before


def test_a_wrong_passphrase_is_told_from_damage_and_changes_nothing(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    opened().close()
    before = everything(tmp_path / "store")
    monkeypatch.setenv(PASSPHRASE, "wrong horse")
    with pytest.raises(KeyWrong, match="passphrase"):
        opened()
    assert everything(tmp_path / "store") == before


def test_the_parameters_of_the_derivation_are_stored_and_files_without_them_open(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    store = opened()
    remember(store, "kept")
    store.close()
    path = tmp_path / "store" / "key.json"
    written = json.loads(path.read_text())
    assert written["current"]["argon2id"] == {"memory_kib": 65536, "passes": 2, "lanes": 1}
    del written["current"]["argon2id"]
    path.write_text(json.dumps(written))
    assert remembered(opened()) == ["kept"]


@pytest.mark.parametrize(
    "given", [{"memory_kib": 1 << 40}, {"passes": 0}, {"lanes": "2"}, {"rounds": 1}, [], "x"]
)
def test_parameters_that_no_store_was_made_with_are_refused(
    opened: Callable[[], MemoryStore],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: object,
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    opened().close()
    path = tmp_path / "store" / "key.json"
    written = json.loads(path.read_text())
    written["current"]["argon2id"] = given
    path.write_text(json.dumps(written))

    with pytest.raises(KeyMissing, match="damaged"):
        opened()


def test_a_store_made_with_other_parameters_opens_with_them(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSPHRASE, "correct horse")
    with monkeypatch.context() as stronger:
        stronger.setattr("iai_mcp.adapters.keys.sources.Argon2id", lambda: Argon2id(1024, 3, 2))
        store = opened()
        remember(store, "kept")
        store.close()
    assert remembered(opened()) == ["kept"]


def test_a_lost_key_file_is_named(opened: Callable[[], MemoryStore], tmp_path: Path) -> None:
    opened().close()
    (key_file,) = (tmp_path / "store").glob("*.key")
    key_file.unlink()
    with pytest.raises(KeyMissing, match=key_file.name):
        opened()


def test_a_store_without_its_key_description_is_not_given_a_new_key(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    remember(store, "precious")
    store.close()
    (tmp_path / "store" / "key.json").unlink()
    with pytest.raises(KeyMissing, match=r"key\.json"):
        opened()
    assert not (tmp_path / "store" / "key.json").exists()


def test_a_damaged_file_is_told_and_left_as_it_is(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    remember(store, "precious")
    store.close()
    path = tmp_path / "store" / "memory.db"
    path.write_bytes(b"\x00" * 4096 + path.read_bytes()[4096:])
    before = everything(tmp_path / "store")
    with pytest.raises(StoreDamaged, match="restore"):
        opened()
    assert everything(tmp_path / "store") == before


def test_a_store_of_a_newer_version_is_refused_with_a_sentence(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    with store.database.writing() as db:
        db.pragma("user_version", 999)
    store.close()
    with pytest.raises(StoreTooNew, match="upgrade"):
        opened()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a place where even root may not write")
def test_a_read_only_directory_is_a_clear_error(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", "/sys/iai-mcp-store")
    with pytest.raises(ReadOnly, match="write"):
        opened()


def test_a_full_disk_loses_nothing_that_was_acknowledged(opened: Callable[[], MemoryStore]) -> None:
    store = opened()
    remember(store, "before the disk was full")
    with store.database.outside_transactions() as db:
        pages = int(db.pragma("page_count"))
        db.pragma("max_page_count", pages)  # SQLite's own "disk full"
    with pytest.raises(DiskFull, match="free some space"):
        for n in range(200):
            dispatch(store, "memory_capture", {"text": f"{n} " + "x" * 20_000, "session_id": "s"})
    kept = remembered(store)
    assert kept[0] == "before the disk was full"
    with store.database.outside_transactions() as db:
        db.pragma("max_page_count", 0x7FFFFFFF)
    remember(store, "after there was room again")
    assert remembered(store) == [*kept, "after there was room again"]


def test_rotation_keeps_everything_and_the_old_key_no_longer_opens_it(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    remember(store, "survives the new key")
    store.close()
    (old,) = (tmp_path / "store").glob("*.key")
    old_key = bytes.fromhex(old.read_text().strip())
    custody.rotate(tmp_path / "store", None, None)
    assert not old.exists()
    assert remembered(opened()) == ["survives the new key"]
    raw = apsw.Connection(str(tmp_path / "store" / "memory.db"))
    raw.execute(f'PRAGMA key = "raw:{old_key.hex()}"')
    with pytest.raises(apsw.NotADBError):
        raw.execute("SELECT * FROM memories").fetchall()
    raw.close()


def test_a_store_of_an_earlier_cipher_opens_rotates_and_is_backed_up(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "CIPHER", "chacha20")
        store = opened()
        remember(store, "said long ago")
        store.close()
    directory = tmp_path / "store"
    assert custody.status(directory)["cipher"] == "chacha20"
    store = opened()
    remember(store, "said today")
    backup.create(store.database, directory, tmp_path / "copy")
    store.close()
    (key_file,) = directory.glob("*.key")
    key = key_file.read_text().strip()
    custody.rotate(directory, None, None)
    assert custody.status(directory)["cipher"] == "chacha20"
    assert remembered(opened()) == ["said long ago", "said today"]
    (tmp_path / "other").mkdir()
    assert backup.restore(tmp_path / "other", tmp_path / "copy", key)["records"] == 2


def test_rotation_can_move_from_a_file_to_a_passphrase_and_on_to_another(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = opened()
    remember(store, "kept")
    store.close()
    monkeypatch.setenv(PASSPHRASE, "first")
    custody.rotate(tmp_path / "store", "passphrase", None)
    custody.rotate(tmp_path / "store", "passphrase", "second")
    with pytest.raises(KeyWrong):
        opened()
    monkeypatch.setenv(PASSPHRASE, "second")
    assert remembered(opened()) == ["kept"]


ROTATE = """
import os, sys, threading, time
from pathlib import Path
from iai_mcp.adapters.keys import custody
threading.Timer(float(sys.argv[2]), lambda: os.kill(os.getpid(), 9)).start()
custody.rotate(Path(sys.argv[1]), None, None)
os.kill(os.getpid(), 9)
"""


def test_a_rotation_killed_at_any_moment_leaves_a_store_that_opens(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    store = opened()
    for n in range(50):
        remember(store, f"memory {n} " + "word " * 200)
    store.close()
    for step in range(12):
        killed = subprocess.run(
            [sys.executable, "-c", ROTATE, str(tmp_path / "store"), str(0.002 * step)],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL
        again = opened()
        assert len(remembered(again)) == 50
        again.close()
    custody.rotate(tmp_path / "store", None, None)
    assert not list((tmp_path / "store").glob("memory.next.db*"))
    assert not list((tmp_path / "store").glob(".*.tmp"))
    assert len(list((tmp_path / "store").glob("*.key"))) == 1


OPEN = """
import os, sys, threading
from iai_mcp.store import MemoryStore
threading.Timer(float(sys.argv[1]), lambda: os.kill(os.getpid(), 9)).start()
MemoryStore()
os.kill(os.getpid(), 9)
"""


def test_a_first_opening_killed_at_any_moment_is_no_loss(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    for step in range(20):
        killed = subprocess.run(
            [sys.executable, "-c", OPEN, str(0.001 * step)],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL
        store = opened()
        remember(store, "the first thing said")
        store.close()
        shutil.rmtree(tmp_path / "store")


def test_a_store_whose_tables_are_gone_is_lost_and_can_be_begun_anew(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    directory = tmp_path / "store"
    opened().close()
    (key_file,) = directory.glob("*.key")
    (directory / "memory.db").unlink()
    (directory / "memory.db").touch(0o600)
    database.Database(directory / "memory.db", bytes.fromhex(key_file.read_text())).close()
    assert (directory / "memory.db").stat().st_size > 0
    with pytest.raises(StoreLost, match="up --anew"):
        opened()
    custody.begin_anew(directory)
    remember(opened(), "a new beginning")


def test_a_key_of_an_earlier_version_stands_for_a_store(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    opened().close()
    assert "unused" not in json.loads((tmp_path / "store" / "key.json").read_text())
    (tmp_path / "store" / "memory.db").unlink()
    with pytest.raises(StoreLost):
        opened()


def test_a_rotation_of_a_lost_store_touches_nothing(
    opened: Callable[[], MemoryStore], tmp_path: Path
) -> None:
    directory = tmp_path / "store"
    opened().close()
    record = descriptor.load(directory)
    assert record is not None
    descriptor.save(directory, descriptor.KeyRecord(record.current, record.current))
    (directory / "memory.db").rename(directory / "memory.next.db")
    before = everything(directory)
    with pytest.raises(StoreLost):
        custody.rotate(directory, None, None)
    assert everything(directory) == before


def test_a_key_is_made_once(opened: Callable[[], MemoryStore], tmp_path: Path) -> None:
    custody.init(tmp_path / "store", None)
    with pytest.raises(AlreadyExists, match="rotate"):
        custody.init(tmp_path / "store", None)


def test_many_first_openings_at_once_agree_on_one_key(tmp_path: Path) -> None:
    code = "from iai_mcp.store import MemoryStore; MemoryStore().close()"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(SOURCE)}
        )
        for _ in range(4)
    ]
    ended = [process.wait(timeout=30) for process in running]
    assert ended == [0, 0, 0, 0]
    assert len(list((tmp_path / "store").glob("*.key"))) == 1
    MemoryStore().close()
