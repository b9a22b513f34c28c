"""A reply never ranks above the memories that its session was given and that it repeats."""

from pathlib import Path
from typing import Any

from iai_mcp.core import dispatch
from iai_mcp.domain.injected_text import InjectedText, Source
from iai_mcp.store import MemoryStore

SAID = "the osprey cache is cleared with make osprey after each deploy of the pond"
REPLY = "As noted before, the osprey cache is cleared with make osprey after each deploy. How is the osprey cache cleared: make osprey."


def ask(store: MemoryStore, method: str, **params: object) -> dict[str, Any]:
    return dispatch(store, method, params)


def test_a_reply_stands_behind_what_its_session_was_given_also_after_a_restart(
    tmp_path: Path,
) -> None:
    store = MemoryStore(tmp_path)
    said = [{"text": SAID, "role": "assistant", "id": "1"}]
    ask(store, "capture_events", session_id="first", events=said, project="p")
    (memory,) = ask(store, "memory_timeline", project="p")["records"]
    page = InjectedText("Earlier work", 3, (Source(memory["id"], "work"),))
    store.injections.record("session_start", "second", "p", page)
    reply = [{"text": REPLY, "role": "assistant", "id": "2"}]
    ask(store, "capture_events", session_id="second", events=reply, project="p")
    cue = "how is the osprey cache cleared? osprey cache"

    first = ask(store, "memory_recall", cue=cue, project="p")["hits"]
    store.close()
    again = MemoryStore(tmp_path)
    again.injections.load()
    later = ask(again, "memory_recall", cue=cue, project="p")["hits"]
    again.close()

    assert [hit["session_id"] for hit in first] == ["first", "second"]
    assert [hit["session_id"] for hit in later] == ["first", "second"]
