"""Methods of the memory half."""

from dataclasses import asdict

from iai_mcp.api.method import Json, Method
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore


def _recall(store: MemoryStore, params: Params) -> Json:
    params.text("cue")  # what is missing is said before anybody waits for a model
    store.embedder.wait(store.settings.model_wait_ms / 1000)
    found = store.recall(params)
    store.uses.hits(found)
    return found


def _forget(store: MemoryStore, params: Params) -> Json:
    done = store.forget(params)
    return {**done, "copies": store.reach_copies()} if done["forgotten"] else done


def _capture(store: MemoryStore, params: Params) -> Json:
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


def _capture_events(store: MemoryStore, params: Params) -> Json:
    return asdict(store.capture.events(params))


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("memory_recall", _recall, tool="memory_recall", page=True),
    Method("memory_capture", _capture, tool="memory_capture", names_as_given=True),
    Method("capture_events", _capture_events, names_as_given=True),
    Method(
        "memory_contradict",
        lambda store, params: store.contradict(params),
        tool="memory_contradict",
    ),
    Method(
        "memory_reinforce", lambda store, params: store.reinforce(params), tool="memory_reinforce"
    ),
    Method("memory_forget", _forget, tool="memory_forget"),
    Method(
        "memory_timeline",
        lambda store, params: store.timeline(params),
        tool="memory_timeline",
        page=True,
    ),
    Method("memory_show", lambda store, params: store.show(params), page=True),
    Method("project_privacy", lambda store, params: store.privacy(params)),
)
