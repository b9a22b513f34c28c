"""Methods that show: events, and the shape of what is stored."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile

from iai_mcp.api.method import Json, Method
from iai_mcp.api.reading import caller_of, micros_of
from iai_mcp.checks import examination
from iai_mcp.domain.project_identity import is_within
from iai_mcp.memory.room import Room, weight_of
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_HUBS = 5


def _events(store: MemoryStore, params: Params) -> Json:
    store.agent_news.gather()  # who asks wants to know what just happened, not a second ago
    found = store.journal.events(
        params.text("kind", ""),
        micros_of(params, "since"),
        params.integer("limit", 100, 1, 10_000),
    )
    caller = caller_of(params)
    if caller.visitor:
        closed = store.access.closed_to(caller)
        found = [event for event in found if not _is_about(event, closed)]
    room = Room()
    newest = list(takewhile(lambda event: room.takes(weight_of(event)), reversed(found)))
    told: Json = {"events": newest[::-1], "count": len(newest)}
    return {**told, "more": True} if len(newest) < len(found) else told


def _is_about(event: Json, closed: Sequence[str]) -> bool:
    """Whether it happened in one of these projects."""
    data = event["data"]
    where = data.get("project") if isinstance(data, dict) else None
    return isinstance(where, str) and any(is_within(where, key) for key in closed)


def _topology(store: MemoryStore, params: Params) -> Json:
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


def _hubs(store: MemoryStore, params: Params) -> list[Json]:
    ties = {hub.id: hub.ties for hub in store.topics.hubs(_HUBS)}
    shown = store.access.within(store.memories.find(list(ties)), caller_of(params))
    return [{"id": memory.id, "ties": ties[memory.id]} for memory in shown]


def _session_exit(store: MemoryStore, params: Params) -> Json:
    session = params.text("session_id")
    store.journal.record_event("session_exit", {"session_id": session}, store.clock.now())
    return {"ok": True}


def _doctor(store: MemoryStore, params: Params) -> Json:
    checks = [*examination.of_store(store)]
    if not params.flag("store_only"):
        checks = [*examination.of_machine(), *checks]
    return {"checks": [asdict(check) for check in checks]}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("events_query", _events, activity=False, tool="events_query", page=True),
    Method("topology", _topology, activity=False, tool="topology", page=True),
    Method("session_exit", _session_exit),
    Method("doctor", _doctor, activity=False, page=True),
)
