"""Methods that run sleep and report on it."""

from iai_mcp.api.method import Json, Method
from iai_mcp.api.reading import caller_of
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

# A store that a command opened by itself has no model yet, and sleep begins with vectors.
_MODEL_SECONDS = 20.0


def _consolidate(store: MemoryStore, params: Params) -> Json:
    if not params.flag("wait"):
        before = store.sleep.report()
        store.nights.ask()
        return {**before, "queued": True, "suggested": _suggested(store, params)}
    store.embedder.wait(_MODEL_SECONDS)
    report = store.nights.wait()
    return {**report, "queued": False, "suggested": _suggested(store, params)}


def _report(store: MemoryStore, params: Params) -> Json:
    return {**store.sleep.report(), "suggested": _suggested(store, params)}


def _suggested(store: MemoryStore, params: Params) -> list[Json]:
    """What may be shown to whoever asks: a private project's words stay in it."""
    project = params.text("project", "")
    return store.sleep.suggested(store.access.closed_unless_named(caller_of(params), project))


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("memory_consolidate", _consolidate, tool="memory_consolidate", waits_for_sleep=True),
    Method("sleep_report", _report, page=True),
)
