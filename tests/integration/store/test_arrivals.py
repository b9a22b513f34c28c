"""Whatever way a memory came into the file, recall finds it."""

from collections.abc import Callable

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore


def _tell(store: MemoryStore, text: str) -> None:
    dispatch(store, "memory_capture", {"text": text, "session_id": "s"})


def _found(store: MemoryStore, cue: str) -> list[str]:
    hits = dispatch(store, "memory_recall", {"cue": cue})["hits"]
    assert isinstance(hits, list)
    return sorted(hit["text"] for hit in hits if cue in hit["text"])


def test_what_two_connections_store_in_turn_is_found_by_both(
    opened: Callable[[], MemoryStore],
) -> None:
    here, there = opened(), opened()
    _tell(here, "the heron is grey")
    assert _found(here, "heron") == ["the heron is grey"]
    for number in range(3):
        _tell(there, f"the stork {number} is white")
        _tell(here, f"the crane {number} is tall")

    for store in (here, there):
        assert _found(store, "stork") == [f"the stork {n} is white" for n in range(3)]
        assert _found(store, "crane") == [f"the crane {n} is tall" for n in range(3)]


def test_what_is_imported_after_the_first_recall_is_found(
    opened: Callable[[], MemoryStore],
) -> None:
    store = opened()
    _tell(store, "the heron is grey")
    page = dispatch(store, "export_page", {})
    records = page["records"]
    assert isinstance(records, list)
    dispatch(store, "memory_forget", {"session_id": "s"})
    _tell(store, "the crane is tall")
    assert _found(store, "crane") == ["the crane is tall"]
    stork = {**records[0], "id": "0" * 32, "text": "the stork is white"}
    dispatch(store, "import_records", {"records": [stork], "salt": page["salt"]})

    assert _found(store, "stork") == ["the stork is white"]
