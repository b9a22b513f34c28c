"""What every log of vectors promises, on the fake and on the encrypted file alike."""

import numpy as np
import pytest
from tests.fakes.memories import FakeMemories, FakeVectorLog, said
from tests.support.packed import PackedVectors

from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.vectors import Coded, CodedParts, VectorLog

Kit = tuple[Memories, VectorLog]
SCALE = b"\0\0\x80?"  # 1.0


@pytest.fixture(params=["fake", "sqlite", "packed"])
def kit(request: pytest.FixtureRequest) -> Kit:
    """Three memories, and no vector of theirs."""
    memories: Memories
    log: VectorLog
    if request.param == "fake":
        memories = fake = FakeMemories()
        log = FakeVectorLog(fake)
    else:
        database = request.getfixturevalue("database")
        memories = SqliteMemories(database)
        kind = PackedVectors if request.param == "packed" else SqliteVectors
        log = kind(database, "model", 4)
    memories.add([said(text) for text in ("one", "two", "three")])
    return memories, log


def _turn(key: int, code: bytes = b"\1\2\3\4") -> Coded:
    return Coded(key, 0.5, code)


def test_what_was_put_comes_back_in_pages_and_is_off_the_backlog(kit: Kit) -> None:
    memories, log = kit
    assert log.put([_turn(3), _turn(1)]) == [3, 1]
    assert list(log.page(0, 10)) == [_turn(1), _turn(3)]
    assert list(log.page(0, 1)) == [_turn(1)]
    assert list(log.page(1, 10)) == [_turn(3)]
    assert len(log.page(3, 10)) == 0
    assert memories.pending() == [2]


def test_what_is_unfinished_is_kept_and_stays_on_the_backlog(kit: Kit) -> None:
    memories, log = kit
    assert log.put([_turn(1), _turn(2)], unfinished={2}) == [1, 2]
    assert list(log.page(0, 10)) == [_turn(1), _turn(2)]
    assert sorted(memories.pending()) == [2, 3]
    log.put([_turn(2)], [CodedParts(2, 0, False, SCALE, b"abcd")])
    assert memories.pending() == [3]


def test_putting_again_takes_the_place_of_what_was_there(kit: Kit) -> None:
    _, log = kit
    log.put([_turn(1)])
    log.put([_turn(1, b"\4\3\2\1")])
    assert list(log.page(0, 10)) == [_turn(1, b"\4\3\2\1")]


def test_parts_are_found_by_key_and_those_with_topics_in_pages(kit: Kit) -> None:
    _, log = kit
    plain = CodedParts(1, 0, False, SCALE, b"abcd")
    wished = CodedParts(2, 1, True, SCALE * 2, b"abcdefgh")
    assert log.put([], [plain, wished]) == [1, 2]
    assert sorted(log.parts([1, 2, 3])) == [plain, wished]
    assert log.with_topics(0, 10) == [wished]
    assert log.with_topics(2, 10) == []


def test_a_memory_that_was_forgotten_is_passed_over_and_takes_its_vectors_along(kit: Kit) -> None:
    memories, log = kit
    parts = CodedParts(2, 1, False, SCALE, b"abcd")
    log.put([_turn(1), _turn(2)], [parts])
    memories.forget([2, 3], 1)
    assert log.put([_turn(3), _turn(1)], [parts]) == [1]
    assert list(log.page(0, 10)) == [_turn(1)]
    assert log.parts([2]) == log.with_topics(0, 10) == []


def test_every_byte_and_every_scale_comes_back_as_it_was(kit: Kit) -> None:
    _, log = kit
    scales = [float(np.float32(1) / np.float32(step)) for step in (3, 127, 1e7)]
    codes = [bytes(range(128)), bytes(range(128, 256)), bytes(128)]
    turns = [Coded(key, *one) for key, one in enumerate(zip(scales, codes, strict=True), 1)]
    log.put(turns)
    assert list(log.page(0, 10)) == turns
