"""What copies of the store and turns in files promise to forget, on fakes and on real files alike."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.memories import FakeMemories, said
from tests.fakes.upkeep import FakeCopies, FakeLeftovers

from iai_mcp.adapters.backups import KeptCopies
from iai_mcp.adapters.keys import custody
from iai_mcp.adapters.spool_forgetting import SpooledTurns
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.upkeep import Copies, Leftovers

TURNS = [said("one"), said("two")]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return tmp_path / "data"


@pytest.fixture(params=["fake", "real"])
def kit(request: pytest.FixtureRequest, home: Path) -> tuple[Memories, Copies]:
    """Two memories, and one copy that holds both."""
    memories: Memories
    if request.param == "fake":
        memories = FakeMemories()
        memories.add(TURNS)
        return memories, FakeCopies({turn.identity for turn in TURNS})
    database = custody.open_database(home)
    request.addfinalizer(database.close)
    memories = SqliteMemories(database)
    memories.add(TURNS)
    copies = KeptCopies(database, home)
    copies.make()
    return memories, copies


def test_every_copy_is_reached_and_doing_it_over_harms_nothing(
    kit: tuple[Memories, Copies],
) -> None:
    memories, copies = kit
    memories.forget([1], 5)
    gone = memories.unreached()
    assert copies.count() == 1
    for _ in range(2):
        reached = copies.forget(gone, lambda: False)
        assert reached is not None and (reached.rewritten, reached.not_reached) == (1, ())


def test_told_to_stop_it_leaves_the_rest_for_later(kit: tuple[Memories, Copies]) -> None:
    memories, copies = kit
    memories.forget([1], 5)
    assert copies.forget(memories.unreached(), lambda: True) is None
    done = copies.forget(memories.unreached(), lambda: False)
    assert done is not None and done.rewritten == 1


@pytest.fixture(params=["fake", "real"])
def waiting(
    request: pytest.FixtureRequest, home: Path
) -> tuple[Leftovers, Callable[[], list[str]]]:
    """Two turns of session "s" that wait, and how to look at what waits."""
    turns = [{"text": "one", "role": "user", "id": "1"}, {"text": "two", "role": "user", "id": "2"}]
    if request.param == "fake":
        fake = FakeLeftovers(*(("s", turn) for turn in turns))
        return fake, lambda: [str(turn["text"]) for _, turn in fake.turns]
    file = home / ".deferred-captures" / "s-1.jsonl"
    file.parent.mkdir(mode=0o700, parents=True)
    header = {"version": 1, "session_id": "s"}
    file.write_text("".join(json.dumps(line) + "\n" for line in (header, *turns)))

    def texts() -> list[str]:
        return [json.loads(line)["text"] for line in file.read_text().splitlines()[1:]]

    return SpooledTurns(), texts


def test_a_turn_that_waits_is_dropped_by_its_session_and_itself(
    waiting: tuple[Leftovers, Callable[[], list[str]]],
) -> None:
    leftovers, texts = waiting
    assert leftovers.drop(lambda session, turn: session == "t") == []
    assert texts() == ["one", "two"]
    assert leftovers.drop(lambda session, turn: (session, turn["id"]) == ("s", "1")) == []
    assert texts() == ["two"]
