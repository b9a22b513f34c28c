"""What every `Strengths` promises, on the fake and on the encrypted file alike."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fakes.strengths import FakeStrengths

from iai_mcp.core import dispatch
from iai_mcp.ports.learned import Strengths, Trace, Use
from iai_mcp.ports.sleep import Page, Strengthened
from iai_mcp.store import MemoryStore

MOMENTS = {1: 1_000_000, 2: 2_000_000, 3: 3_000_000}


@pytest.fixture(params=["fake", "sqlite"])
def kit(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Strengths, Callable[[Strengthened], None]]]:
    """Three memories, the third one pinned, and the way a page's change is written."""
    if request.param == "fake":
        fake = FakeStrengths(MOMENTS, pinned=[3])
        yield fake, fake.write
        return
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    store = MemoryStore()
    for second in MOMENTS:
        ts = f"1970-01-01T00:00:0{second}Z"
        made = dispatch(store, "memory_capture", {"text": f"memory {second}", "ts": ts})
    dispatch(store, "memory_pin", {"id": made["record_id"]})
    store.sleep.begin()
    yield (
        store.strengths,
        lambda change: store.sleep.ledger.apply("fading", Page(changes=(change,)), 0),
    )
    store.close()


Kit = tuple[Strengths, Callable[[Strengthened], None]]


def test_before_any_sleep_nothing_is_written_down(kit: Kit) -> None:
    strengths, _ = kit
    assert strengths.of([1, 2, 3]) == {}
    found = strengths.standing(0, 10)
    assert [(one.key, one.said_at, one.pinned) for one in found] == [
        (1, 1_000_000, False),
        (2, 2_000_000, False),
        (3, 3_000_000, True),
    ]
    assert all(one.trace is None and one.strength is None for one in found)


def test_memories_come_in_pages_in_order_of_arrival(kit: Kit) -> None:
    strengths, _ = kit
    assert [one.key for one in strengths.standing(0, 2)] == [1, 2]
    assert [one.key for one in strengths.standing(2, 2)] == [3]
    assert strengths.standing(3, 2) == []


def test_what_a_page_wrote_is_read_back(kit: Kit) -> None:
    strengths, write = kit
    write(Strengthened(2, 7.5, 4.0, 9, 0.25))
    assert strengths.of([1, 2, 99]) == {2: 0.25}
    assert strengths.standing(1, 1)[0].trace == Trace(7.5, 4.0, 9)


def test_uses_wait_until_they_are_counted(kit: Kit) -> None:
    strengths, write = kit
    strengths.note([Use(2, 50, 1), Use(1, 60, 2), Use(2, 70, 1)])
    waiting = strengths.used(10)
    assert [(one.key, [use for _, use in one.uses]) for one in waiting] == [
        (1, [Use(1, 60, 2)]),
        (2, [Use(2, 50, 1), Use(2, 70, 1)]),
    ]
    assert [one.key for one in strengths.used(1)] == [1]
    numbers = tuple(number for number, _ in waiting[1].uses)
    write(Strengthened(2, 7.5, 4.0, 70, 1.0, numbers))
    assert [one.key for one in strengths.used(10)] == [1]


def test_the_weakest_come_first_and_what_is_pinned_does_not_fade(kit: Kit) -> None:
    strengths, write = kit
    for key, strength in ((1, 0.72), (2, 0.31), (3, 0.1)):
        write(Strengthened(key, 1.0, 5.0, 9_000_000, strength))
    assert strengths.weakest(9, []) == [(2, 0.31), (1, 0.72)]
    assert strengths.weakest(1, []) == [(2, 0.31)]
    assert strengths.weakest(9, [""]) == []
    assert strengths.levels() == [0, 1, 0, 1, 0, 0, 0, 1, 0, 0]
