"""A rule that was corrected is no longer told, whatever else happens to the store."""

from collections.abc import Iterator

import pytest

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

RULE = "From now on always use tabs for indentation, never spaces."


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    store = MemoryStore()
    yield store
    store.close()


def rules(store: MemoryStore) -> list[str]:
    return [rule.ruling.sentence for rule in store.rules.of_project("birds").holding]


def test_forgetting_something_else_hides_no_correction(store: MemoryStore) -> None:
    said = {"session_id": "s", "project": "birds", "role": "user"}
    rule = dispatch(store, "memory_capture", {**said, "text": RULE})["record_id"]
    other = dispatch(store, "memory_capture", {**said, "text": "The heron is grey."})["record_id"]
    assert rules(store) == [RULE]

    dispatch(store, "memory_contradict", {"id": rule, "new_fact": "The formatter is black."})
    dispatch(store, "memory_forget", {"ids": [other]})
    assert rules(store) == []
