"""What was set holds from then on, also for who read the settings at the same moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw
import pytest

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.store import MemoryStore


def test_a_setting_made_while_others_are_read_holds(
    opened: Callable[[], MemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = opened().journal
    journal.set_setting("learning", "on")
    read = Database.reading

    @contextmanager
    def and_then_set(database: Database) -> Iterator[apsw.Connection]:
        with read(database) as db:
            yield db
        monkeypatch.undo()
        journal.set_setting("learning", "off")

    monkeypatch.setattr(Database, "reading", and_then_set)
    journal.settings()

    assert journal.settings()["learning"] == "off"
