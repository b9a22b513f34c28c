"""What a start reads of every memory is read from packed blocks, and never from one that is stale."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw
import numpy as np
import pytest
from tests.fakes.memories import said
from tests.support.packed import take_out_packing

from iai_mcp.adapters.sqlite import entries, packing
from iai_mcp.adapters.sqlite.database import Database, unlock
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.packing import BLOCK, PackedBlocks
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.background.workers import BlockPacker
from iai_mcp.core import dispatch
from iai_mcp.domain.traits import TRAITS_VERSION
from iai_mcp.engine.columns import Columns
from iai_mcp.engine.vectors import Vectors
from iai_mcp.ports.memories import Entry
from iai_mcp.ports.vectors import Coded
from iai_mcp.store import MemoryStore

EVERYTHING = 1 << 40
MODEL, DIMENSIONS = "model", 4


@dataclass
class Kit:
    """Three full blocks, of which the last holds nothing, and the beginning of a fourth."""

    database: Database
    memories: SqliteMemories
    vectors: SqliteVectors
    blocks: PackedBlocks
    keys: list[int]

    def packed(self) -> tuple[list[int], list[int]]:
        """Which blocks are, of rows and of vectors."""
        with self.database.reading() as db:
            return (
                [row[0] for row in db.execute("SELECT block FROM packed_entries ORDER BY block")],
                [row[0] for row in db.execute("SELECT block FROM packed_vectors ORDER BY block")],
            )

    def execute(self, sql: str, *values: object) -> None:
        with self.database.writing() as db:
            db.execute(sql, values)

    def read(self) -> tuple[list[Entry], list[Coded]]:
        """As a start reads them."""
        rows, coded = [], []
        after = 0
        while len(page := self.memories.entries(after, EVERYTHING)):
            rows += list(page)
            after = rows[-1].key
        after = 0
        while len(some := self.vectors.page(after, EVERYTHING)):
            coded += list(some)
            after = coded[-1].key
        return rows, coded

    def truth(self) -> tuple[list[Entry], list[Coded]]:
        """What the tables say."""
        with self.database.reading() as db:
            ((space,),) = db.execute("SELECT id FROM spaces WHERE model = ?", (MODEL,)).fetchall()
            rows = entries.between(db, -1, EVERYTHING, EVERYTHING)
            coded = packing.vectors_between(db, int(str(space)), -1, EVERYTHING, EVERYTHING)
        return list(rows), list(coded)


def _kit(path: Path) -> Kit:
    path.touch()
    database = Database(path, bytes(32))
    memories = SqliteMemories(database)
    vectors = SqliteVectors(database, MODEL, DIMENSIONS)
    return Kit(database, memories, vectors, PackedBlocks(database), [])


def _say(kit: Kit, *texts: str, session: str = "s", project: str = "pond") -> list[int]:
    turns = [said(text, at=n, session=session, project=project) for n, text in enumerate(texts, 1)]
    keys = [one.key or 0 for one in kit.memories.add(turns)]
    kit.vectors.put([_vector(key) for key in keys])
    return keys


def _vector(key: int, last: int = 7) -> Coded:
    return Coded(key, 0.25, bytes([key % 100, 2, 250, last]))


def _skip_to(kit: Kit, key: int) -> None:
    kit.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'memories'", key - 1)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    made = _kit(tmp_path / "memory.db")
    made.keys += _say(made, "is it grey?", "it is, always", "and the egret?")
    made.keys += _say(made, "a fork of it", session="fork")
    _skip_to(made, 2 * BLOCK - 1)
    made.keys += _say(made, "the last of a block")
    _skip_to(made, 3 * BLOCK)
    made.keys += _say(made, "in the block that is not full", session="late", project="")
    assert made.keys == [1, 2, 3, 4, 2 * BLOCK - 1, 3 * BLOCK]
    for block in made.blocks.missing():
        made.blocks.pack(block)
    assert made.packed() == ([0, 1, 2], [0, 1, 2])
    assert made.blocks.missing() == []
    yield made
    made.database.close()


def test_what_is_packed_is_what_the_tables_say(kit: Kit) -> None:
    assert kit.read() == kit.truth()
    assert [row.key for row in kit.read()[0]] == kit.keys


def test_it_is_read_from_the_blocks(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the tables were read")

    monkeypatch.setattr(entries, "between", refused)
    monkeypatch.setattr(packing, "vectors_between", refused)
    assert [row.key for row in kit.memories.entries(0, EVERYTHING)] == kit.keys[:4]
    assert [row.key for row in kit.memories.entries(2, 1)] == [3]
    assert [row.key for row in kit.memories.entries(4, EVERYTHING)] == [2 * BLOCK - 1]
    assert [one.key for one in kit.vectors.page(0, EVERYTHING)] == kit.keys[:4]
    assert [one.key for one in kit.vectors.page(2, 1)] == [3]
    assert [one.key for one in kit.vectors.page(4, EVERYTHING)] == [2 * BLOCK - 1]


def test_columns_and_vectors_are_the_same_from_blocks_and_from_rows(kit: Kit) -> None:
    def loaded() -> tuple[object, ...]:
        columns = Columns(kit.memories)
        columns.catch_up()
        view = columns.view()
        vectors = Vectors(kit.vectors, DIMENSIONS)
        vectors.load(len(kit.keys))
        cue = np.eye(1, DIMENSIONS, dtype=np.float32)
        held = [np.asarray(getattr(view, name)).tolist() for name in view.__slots__]
        return held, columns._numbers, vectors.nearest(cue, 9), vectors.of(kit.keys).tolist()

    packed = loaded()
    kit.execute("DELETE FROM packed_entries")
    kit.execute("DELETE FROM packed_vectors")
    assert loaded() == packed


def _other_model(kit: Kit) -> None:
    SqliteVectors(kit.database, "another", DIMENSIONS).put([_vector(2, 9)])


def _mended(kit: Kit) -> None:
    kit.execute("UPDATE memories SET ts = '2026-01-01T00:00:00.001Z', host = 'h', at = 1")
    kit.execute("UPDATE memories SET text = 'the same' WHERE key IN (1, 4)")
    kit.execute("UPDATE meta SET value = ? WHERE name = 'unmended'", EVERYTHING)
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    assert kit.packed()[0] == [0, 1, 2]
    assert kit.memories.mend(100)[1] == [4]


def _corrected(kit: Kit) -> None:
    (old,) = kit.memories.get([2])
    kit.memories.supersede(old, said("it is not"), 5)


def _left_a_session(kit: Kit) -> None:
    kit.execute("INSERT INTO further_sessions VALUES (1, 'also', 0)")
    assert kit.memories.leave([1], "s") == [1]


def _forgotten_and_said_again(kit: Kit) -> None:
    kit.memories.forget([2], 1)
    kit.execute("DELETE FROM tombstones")
    _say(kit, "it is, always")


def _renewed(kit: Kit) -> None:
    kit.execute("UPDATE traits SET version = ?, length = 99", TRAITS_VERSION - 1)
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    assert len(kit.memories.renew(2)) == 2


Change = Callable[[Kit], object]

# With what each leaves of the blocks of rows and of vectors.
CHANGES: dict[str, tuple[Change, list[int], list[int]]] = {
    "a memory is forgotten": (lambda kit: kit.memories.forget([2], 1), [1, 2], [1, 2]),
    "and said again": (_forgotten_and_said_again, [1, 2], [1, 2]),
    "the only one of a block is forgotten": (
        lambda kit: kit.memories.forget([2 * BLOCK - 1], 1),
        [0, 2],
        [0, 2],
    ),
    "a new one comes": (lambda kit: _say(kit, "a new one"), [0, 1, 2], [0, 1, 2]),
    "one is superseded": (_corrected, [0, 1, 2], [0, 1, 2]),
    "one is pinned": (lambda kit: kit.memories.pin(2, True), [0, 1, 2], [0, 1, 2]),
    "one gets another vector": (lambda kit: kit.vectors.put([_vector(2, 9)]), [0, 1, 2], [1, 2]),
    "one gets a vector of another model": (_other_model, [0, 1, 2], [1, 2]),
    "one loses its vector": (
        lambda kit: kit.execute("DELETE FROM vectors WHERE key = 2"),
        [0, 1, 2],
        [1, 2],
    ),
    "a vector is changed where it stands": (
        lambda kit: kit.execute("UPDATE vectors SET scale = 0.5 WHERE key = 2"),
        [0, 1, 2],
        [1, 2],
    ),
    "two are found to be one turn": (_mended, [1, 2], [1, 2]),
    "one leaves its session": (_left_a_session, [1, 2], [0, 1, 2]),
    "what follows from a text is derived anew": (
        _renewed,
        [1, 2],
        [0, 1, 2],
    ),
    "a fact is changed where it stands": (
        lambda kit: kit.execute("UPDATE traits SET flags = 0 WHERE key = 2"),
        [1, 2],
        [0, 1, 2],
    ),
    "what is derived of one goes": (
        lambda kit: kit.execute("DELETE FROM traits WHERE key = 2"),
        [1, 2],
        [0, 1, 2],
    ),
    "a project gets another name": (
        lambda kit: kit.execute("UPDATE projects SET key = 'lake'"),
        [],
        [0, 1, 2],
    ),
    "a project becomes private": (
        lambda kit: kit.memories.set_private("pond", True),
        [0, 1, 2],
        [0, 1, 2],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_block_is_dropped_with_what_it_was_made_from(kit: Kit, change: str) -> None:
    happens, rows, vectors = CHANGES[change]
    happens(kit)
    assert kit.read() == kit.truth()
    assert kit.packed() == (rows, vectors)
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    assert kit.read() == kit.truth()


CIRCLE = (
    "INSERT INTO circles (id, name, place, founder, device, signing, sealing, member, machine) "
    "VALUES ('c', 'friends', '', '', 'd', x'', x'', 'me', 'here')"
)
OF_CIRCLES = {
    "a circle comes": CIRCLE,
    "a circle gets another name": "UPDATE circles SET name = 'others'",
    "a circle goes": "DELETE FROM circles",
    "I am called otherwise there": "UPDATE circles SET member = 'ada'",
    "a member is called otherwise": "UPDATE tellers SET member = 'bea'",
    "a machine is called otherwise": "UPDATE tellers SET machine = 'there'",
    "who told it is another": "UPDATE memories SET teller = NULL WHERE key = 1",
}


@pytest.mark.parametrize("change", OF_CIRCLES)
def test_no_block_holds_the_names_of_before(kit: Kit, change: str) -> None:
    kit.execute("INSERT INTO tellers VALUES (1, 'c', 'd', 'ada', 'box')")
    kit.execute("UPDATE memories SET teller = 1 WHERE key < 3")
    if change != "a circle comes":
        kit.execute(CIRCLE)
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    before = kit.read()
    assert kit.packed()[0] == [0, 1, 2]
    kit.execute(OF_CIRCLES[change])
    assert kit.packed()[0] == ([1, 2] if "who told" in change else [])
    assert kit.read() == kit.truth() != before


def test_contact_with_a_circle_drops_nothing(kit: Kit) -> None:
    kit.execute(CIRCLE)
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    kit.execute("UPDATE circles SET contact = 5, trouble = 'away'")
    kit.execute("INSERT INTO tellers VALUES (1, 'c', 'd', 'ada', 'box')")
    kit.execute("UPDATE tellers SET member = member, machine = machine")
    assert kit.packed()[0] == [0, 1, 2]


def test_what_was_forgotten_stands_in_no_block_even_if_forgetting_was_cut_off(kit: Kit) -> None:
    def holds(name: bytes) -> bool:
        with kit.database.reading() as db:
            return any(name in row[0] for row in db.execute("SELECT data FROM packed_entries"))

    assert holds(b"fork")
    with pytest.raises(KeyboardInterrupt), kit.database.writing() as db:
        db.execute("DELETE FROM memories WHERE key = 4")
        raise KeyboardInterrupt
    assert holds(b"fork") and kit.read() == kit.truth()
    kit.memories.forget([4], 1)
    assert not holds(b"fork")
    kit.blocks.pack(0)
    assert not holds(b"fork")


def test_blocks_with_vectors_to_come_wait_for_them(kit: Kit) -> None:
    kit.execute("INSERT INTO pending_vectors VALUES (2)")
    kit.execute("DELETE FROM packed_vectors")
    assert kit.blocks.missing() == [1, 2]
    kit.vectors.put([_vector(2)])
    assert kit.blocks.missing() == [0, 1, 2]


def test_a_block_that_is_laid_out_otherwise_is_not_read(kit: Kit) -> None:
    kit.execute("UPDATE packed_entries SET format = format + 1, data = x'00'")
    kit.execute("UPDATE packed_vectors SET format = format + 1, data = x'00'")
    assert kit.read() == kit.truth()
    assert kit.blocks.missing() == [0, 1, 2]


def test_a_store_from_before_there_were_blocks_gets_them(kit: Kit, tmp_path: Path) -> None:
    truth = kit.truth()
    with kit.database.writing() as db:
        take_out_packing(db)
    kit.database.close()
    again = _kit(tmp_path / "memory.db")
    assert again.packed() == ([], [])
    assert again.read() == truth
    for block in again.blocks.missing():
        again.blocks.pack(block)
    assert again.packed() == ([0, 1, 2], [0, 1, 2])
    assert again.read() == truth
    again.memories.forget([1], 1)
    assert again.read() == again.truth()
    again.database.close()


@pytest.mark.parametrize(
    ("statement", "rows", "vectors"),
    [
        ("DELETE FROM memories WHERE key = 2", [1, 2], [1, 2]),
        ("REPLACE INTO vectors SELECT 1, space, 1, code FROM vectors", [0, 1, 2], [1, 2]),
        ("DELETE FROM projects", [], [0, 1, 2]),
        ("DELETE FROM tellers", [], [0, 1, 2]),
    ],
)
def test_a_writer_that_keeps_no_promises_drops_them_all_the_same(
    kit: Kit, tmp_path: Path, statement: str, rows: list[int], vectors: list[int]
) -> None:
    kit.execute("INSERT INTO tellers VALUES (1, 'c', 'd', 'ada', 'box')")
    kit.execute("UPDATE memories SET teller = 1 WHERE key = 3")
    kit.blocks.pack(0)
    before = kit.read()
    kit.database.close()
    with contextlib.closing(apsw.Connection(str(tmp_path / "memory.db"))) as db:
        unlock(db, bytes(32))
        db.execute(statement)
    again = _kit(tmp_path / "memory.db")
    assert again.packed() == (rows, vectors)
    assert again.read() == again.truth() != before
    again.database.close()


def test_vectors_of_another_model_are_not_mixed_in(kit: Kit) -> None:
    another = SqliteVectors(kit.database, "another", DIMENSIONS)
    assert len(another.page(0, EVERYTHING)) == 0
    another.put([_vector(1, 9)])
    kit.execute("DELETE FROM pending_vectors")
    for block in kit.blocks.missing():
        kit.blocks.pack(block)
    assert kit.packed()[1] == [0, 1, 2]
    assert list(another.page(0, EVERYTHING)) == [_vector(1, 9)]
    assert kit.read() == kit.truth()


KILLED = """
import os, signal, sys
from pathlib import Path
from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.adapters.sqlite.packing import PackedBlocks

database = Database(Path(sys.argv[1]), bytes(32))
if sys.argv[2] == "packing":
    PackedBlocks(database).pack(1)  # committed
with database.writing() as db:
    if sys.argv[2] == "packing":
        db.execute("DELETE FROM packed_entries; DELETE FROM packed_vectors")
        db.execute("INSERT INTO packed_entries VALUES (0, 1, zeroblob(3000000))")
        db.execute("INSERT INTO packed_vectors VALUES (0, 1, 1, 9, zeroblob(3000000))")
    else:
        db.execute("DELETE FROM memories WHERE key = 2")
    if sys.argv[3] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("work", "moment"),
    [("packing", "before"), ("forgetting", "before"), ("forgetting", "after")],
)
def test_killed_at_any_moment_blocks_are_right_or_not_there(
    kit: Kit, tmp_path: Path, work: str, moment: str
) -> None:
    path = tmp_path / "memory.db"
    kit.database.close()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), work, moment], env=os.environ, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    again = _kit(path)
    dropped = work == "forgetting" and moment == "after"
    assert again.packed() == (([1, 2], [1, 2]) if dropped else ([0, 1, 2], [0, 1, 2]))
    assert again.read() == again.truth()
    again.database.close()


def test_a_thread_packs_what_was_left_alone_for_a_while(kit: Kit) -> None:
    failures: list[Exception] = []
    packed, packs = threading.Event(), kit.blocks.pack

    def pack(block: int) -> None:
        packs(block)
        packed.set()

    kit.blocks.pack = pack  # type: ignore[method-assign]
    thread = BlockPacker(
        kit.blocks, lambda: True, lambda _, failure: failures.append(failure), settled=0.0
    )
    thread.start()
    kit.memories.forget([1], 1)
    assert kit.packed() == ([1, 2], [1, 2])
    thread.wake()
    assert packed.wait(10)
    thread.stop()
    assert kit.packed() == ([0, 1, 2], [0, 1, 2])
    assert failures == []


def test_a_start_and_an_end_wait_for_no_packing(kit: Kit) -> None:
    kit.memories.forget([1], 1)
    thread = BlockPacker(kit.blocks, lambda: True, lambda *_: None, settled=3600.0)
    thread.start()
    thread.wake()
    thread.stop()
    assert kit.packed() == ([1, 2], [1, 2])


def test_the_store_packs_after_what_was_said_embedded_or_forgotten(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    woken = store.packing._wanted
    for happens in (
        lambda: dispatch(store, "memory_capture", {"text": "hello", "session_id": "s"}),
        store.backlog.work,  # what lacked vectors has them by now, or will not get them
        lambda: dispatch(store, "memory_forget", {"session_id": "s"}),
    ):
        woken.clear()
        happens()
        assert woken.is_set()
