"""Methods of the memory half."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from iai_mcp.memory.params import Params
from iai_mcp.store import MemoryStore

Method = Callable[[MemoryStore, Params], dict[str, object]]


def _recall(store: MemoryStore, params: Params) -> dict[str, object]:
    params.text("cue")  # what is missing is said before anybody waits for a model
    store.embedder.wait(store.settings.model_wait_ms / 1000)
    found = store.recall(params)
    store.uses.hits(found)
    return found


def _forget(store: MemoryStore, params: Params) -> dict[str, object]:
    done = store.forget(params)
    return {**done, "copies": store.reach_copies()} if done["forgotten"] else done


def _capture(store: MemoryStore, params: Params) -> dict[str, object]:
    if not params.text("text").strip():
        return {"status": "skipped", "record_id": None, "reason": "the text is blank"}
    outcome = store.capture.text(params)
    if isinstance(outcome, str):
        return {"status": "skipped", "record_id": None, "reason": outcome}
    if outcome.status == "forgotten":
        return {
            "status": "skipped",
            "record_id": outcome.id,
            "reason": "it was forgotten before, and what was forgotten stays away",
        }
    reason = "it was captured before" if outcome.status == "duplicate" else "new"
    return {"status": outcome.status, "record_id": outcome.id, "reason": reason}


def _capture_events(store: MemoryStore, params: Params) -> dict[str, object]:
    return asdict(store.capture.events(params))


METHODS: Mapping[str, Method] = {
    "memory_recall": _recall,
    "memory_capture": _capture,
    "capture_events": _capture_events,
    "memory_contradict": lambda store, params: store.contradict(params),
    "memory_reinforce": lambda store, params: store.reinforce(params),
    "memory_forget": _forget,
    "memory_timeline": lambda store, params: store.timeline(params),
    "memory_show": lambda store, params: store.show(params),
    "project_privacy": lambda store, params: store.privacy(params),
}
