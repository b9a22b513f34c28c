"""Asking within a project costs about as much as asking everywhere."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iai_mcp.core import dispatch
from iai_mcp.ports.memories import Scope
from iai_mcp.store import MemoryStore

TERMS = [f"word{n}" for n in range(15)]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    opened = MemoryStore()
    said = " ".join(TERMS)
    events = [{"text": f"turn {n} says {said} {n * 7}", "id": str(n)} for n in range(3000)]
    params = {"session_id": "s", "project": "shop", "events": events}
    assert dispatch(opened, "capture_events", params)["inserted"] == 3000
    yield opened
    opened.close()


def test_the_index_is_asked_once_and_not_once_per_memory(store: MemoryStore) -> None:
    began = time.process_time()
    found = store.memories.by_words(TERMS, Scope(projects=("shop",)), 60)
    # Once per memory is well over a second of work; once is a few milliseconds.
    assert time.process_time() - began < 0.3
    assert len(found) == 60
    assert store.memories.by_words(TERMS, Scope(projects=("zoo",)), 60) == []
