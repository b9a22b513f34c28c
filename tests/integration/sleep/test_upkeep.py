"""Compacting, checking and giving space back on a real file."""

from pathlib import Path

import pytest

from iai_mcp.adapters.keys import custody
from iai_mcp.adapters.sqlite.upkeep import StoreUpkeep
from iai_mcp.core import dispatch
from iai_mcp.domain.errors import StoreDamaged, TimedOut
from iai_mcp.store import MemoryStore


@pytest.fixture
def upkeep(store: MemoryStore) -> StoreUpkeep:
    for n in range(30):
        events = [{"text": f"word{n}x{k} " + "padding " * 60, "role": "user"} for k in range(30)]
        dispatch(store, "capture_events", {"session_id": f"s{n}", "events": events})
    return StoreUpkeep(store.database, store.copies)


def test_what_was_forgotten_is_given_back_a_little_at_a_time(
    store: MemoryStore, upkeep: StoreUpkeep, tmp_path: Path
) -> None:
    empty = MemoryStore(tmp_path / "empty")
    empty.close()
    tables = empty.database.path.stat().st_size  # a page for each, whatever is in them
    for n in range(29):
        dispatch(store, "memory_forget", {"session_id": f"s{n}"})
    store.database.checkpoint()
    before = store.database.path.stat().st_size
    released = []
    cursor, done = "", False
    while not done:
        cursor, done, _, number = upkeep.compact(cursor)
        released += [number] if number else []
    assert len(released) > 1
    assert max(released) <= 16
    assert store.database.path.stat().st_size - tables < (before - tables) * 0.65


def test_the_check_passes_whatever_was_merged_since_the_reader_last_looked(
    store: MemoryStore, upkeep: StoreUpkeep
) -> None:
    assert upkeep.check().finished(10)
    while upkeep.forget_words(begin=True):
        pass
    assert upkeep.check().finished(10)
    integrity = dispatch(store, "doctor", {})["checks"]
    assert isinstance(integrity, list)
    assert [c["status"] for c in integrity if c["name"] == "integrity"] == ["PASS"]


def test_after_the_key_was_changed_a_backup_is_due_at_once(
    store: MemoryStore, upkeep: StoreUpkeep
) -> None:
    assert upkeep.backup_due()
    assert upkeep.back_up().finished(30)
    assert not upkeep.backup_due()
    store.close()
    custody.rotate(store.directory, None, None)
    again = MemoryStore()
    try:
        renewed = StoreUpkeep(again.database, again.copies)
        assert renewed.backup_due()
        assert renewed.back_up().finished(30)
        assert not renewed.backup_due()
    finally:
        again.close()


def test_a_check_that_takes_too_long_gives_up(store: MemoryStore, upkeep: StoreUpkeep) -> None:
    hurried = StoreUpkeep(store.database, store.copies, check_seconds=-1.0)
    with pytest.raises(TimedOut):
        hurried.check().finished(10)


def test_damage_is_found(store: MemoryStore, upkeep: StoreUpkeep, tmp_path: Path) -> None:
    store.close()
    path = store.database.path
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    path.write_bytes(content)
    damaged = MemoryStore()
    try:
        with pytest.raises(StoreDamaged):
            StoreUpkeep(damaged.database, damaged.copies).check().finished(10)
    finally:
        damaged.close()
