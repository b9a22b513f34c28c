"""What every recall would ask the store for is asked once, until something is written."""

from collections import Counter
from collections.abc import Callable

import apsw
from tests.support.answers import ask

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.store import MemoryStore


def test_a_second_recall_asks_for_nothing_that_only_writing_changes(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    ask(store, "memory_capture", text="the port is 5433", session_id="s")
    ask(store, "memory_recall", cue="which port is it?")
    asked = _statements(store.database)
    ask(store, "memory_recall", cue="which port was it?")
    assert not [
        sql for sql in asked if "max(key)" in sql or "private" in sql or "circle_trust" in sql
    ]
    ask(store, "memory_capture", text="the port is 5434 now", session_id="s")
    hits = ask(store, "memory_recall", cue="which port is it now?")["hits"]
    assert isinstance(hits, list) and len(hits) == 2


def test_a_project_that_was_made_private_is_closed_from_the_next_recall_on(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    ask(store, "memory_capture", text="the port is 5433", session_id="s", project="secret")
    assert ask(store, "memory_recall", cue="which port?")["hits"]
    ask(store, "project_privacy", project="secret", private=True)
    assert not ask(store, "memory_recall", cue="which port?", cwd="/")["hits"]


def _statements(database: Database) -> Counter[str]:
    """The statements of the readers that are opened from now on."""
    asked: Counter[str] = Counter()

    def note(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        asked[sql] += 1
        return True

    for reader in database._readers:
        reader.exec_trace = note
    return asked
