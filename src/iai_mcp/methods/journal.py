"""Methods that show: events, and the shape of what is stored."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from iai_mcp.domain.project_identity import is_within
from iai_mcp.memory.params import Params
from iai_mcp.memory.room import Room
from iai_mcp.memory.scoping import VISITOR, closed_to, within_reach
from iai_mcp.methods.memory import Method
from iai_mcp.store import MemoryStore

_HUBS = 5


def _events(store: MemoryStore, params: Params) -> dict[str, object]:
    since = params.instant("since")
    store.agent_news.gather()  # who asks wants to know what just happened, not a second ago
    found = store.journal.events(
        params.text("kind", ""),
        None if since is None else since.micros,
        params.integer("limit", 100, 1, 10_000),
    )
    if params.flag(VISITOR):
        closed = closed_to(params, store.memories, store.projects)
        found = [event for event in found if not _is_about(event, closed)]
    room = Room()
    newest = list(takewhile(room.takes, reversed(found)))
    told: dict[str, object] = {"events": newest[::-1], "count": len(newest)}
    return {**told, "more": True} if len(newest) < len(found) else told


def _is_about(event: dict[str, object], closed: Sequence[str]) -> bool:
    """Whether it happened in one of these projects."""
    data = event["data"]
    where = data.get("project") if isinstance(data, dict) else None
    return isinstance(where, str) and any(is_within(where, key) for key in closed)


def _topology(store: MemoryStore, params: Params) -> dict[str, object]:
    pending = store.memories.pending_count()
    return {
        "records": store.memories.count(),
        "projects": len(store.memories.projects()),
        "vectors": len(store.vectors) if store.vectors is not None else 0,
        "vectors_pending": pending,
        "communities": store.topics.count(),
        "derived": store.topics.derived_count(),
        "hubs": _hubs(store, params),
        "backlog": {"vectors": pending, "sleep": store.topics.waiting_count()},
    }


def _hubs(store: MemoryStore, params: Params) -> list[dict[str, object]]:
    ties = {hub.id: hub.ties for hub in store.topics.hubs(_HUBS)}
    found = store.memories.find(list(ties))
    shown = within_reach(found, params, store.memories, store.projects)
    return [{"id": memory.id, "ties": ties[memory.id]} for memory in shown]


def _session_exit(store: MemoryStore, params: Params) -> dict[str, object]:
    session = params.text("session_id")
    store.journal.record_event("session_exit", {"session_id": session}, store.clock.now())
    return {"ok": True}


METHODS: Mapping[str, Method] = {
    "events_query": _events,
    "topology": _topology,
    "session_exit": _session_exit,
}
