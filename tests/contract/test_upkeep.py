"""What every upkeep of a store promises, on the fake and on the encrypted file alike."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.fakes.upkeep import FakeUpkeep

from iai_mcp.adapters.backups import KeptCopies
from iai_mcp.adapters.keys import custody
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.upkeep import StoreUpkeep
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.upkeep import Upkeep

Kit = tuple[Memories, Upkeep]


@pytest.fixture(params=["fake", "sqlite"])
def kit(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """Four memories, said in another order than they came; the oldest is pinned."""
    memories: Memories
    upkeep: Upkeep
    if request.param == "fake":
        memories = fake = FakeMemories()
        upkeep = FakeUpkeep(fake)
    else:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        database = custody.open_database(tmp_path / "data")
        request.addfinalizer(database.close)
        memories = SqliteMemories(database)
        upkeep = StoreUpkeep(database, KeptCopies(database, tmp_path / "data"))
    memories.add([said(f"text {at}", at=at) for at in (30, 10, 20, 5)])
    memories.pin(4, True)
    return memories, upkeep


def test_the_oldest_come_first_and_what_is_pinned_never(kit: Kit) -> None:
    _, upkeep = kit
    assert upkeep.expired(30, 9) == [2, 3]
    assert upkeep.expired(30, 1) == [2]
    assert [key for key, _ in upkeep.oldest(2)] == [2, 3]


def test_the_notes_of_agents_come_before_what_was_said(kit: Kit) -> None:
    memories, upkeep = kit
    note = said("a note", at=40)
    whence = replace(note.provenance, captured_by="backend")
    memories.add([replace(note, provenance=whence)])
    assert [key for key, _ in upkeep.oldest(2)] == [5, 2]


def test_all_memories_are_weighed_in_pages(kit: Kit) -> None:
    _, upkeep = kit
    first = upkeep.weighed(0, 3)
    assert first is not None and first[0] == 3 and first[1] >= 3 * len("text 30")
    rest = upkeep.weighed(3, 3)
    assert rest is not None and rest[0] == 4
    assert upkeep.weighed(4, 3) is None


def test_forgetting_words_and_compacting_come_to_an_end(kit: Kit) -> None:
    memories, upkeep = kit
    memories.forget([1, 2], 1, purge=False)
    begin, turns = True, 0
    while upkeep.forget_words(begin=begin):
        begin, turns = False, turns + 1
        assert turns < 100
    cursor, done = "", False
    while not done:
        cursor, done, _, _ = upkeep.compact(cursor)
        turns += 1
        assert turns < 100
    assert [memory.text for memory in memories.get([3, 4])] == ["text 20", "text 5"]


def test_a_sound_store_passes_and_a_backup_is_due_only_once(kit: Kit) -> None:
    _, upkeep = kit
    assert upkeep.check().finished(10)
    assert upkeep.backup_due()
    assert upkeep.back_up().finished(10)
    assert not upkeep.backup_due()
