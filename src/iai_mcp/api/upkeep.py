"""Methods about memory's own work: what happened, what is stored, sleep, its health, backups."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path

from iai_mcp.adapters.bounded_stat import look_at
from iai_mcp.adapters.keys import backup
from iai_mcp.api.callers import EVERYBODY, PERSON_AND_AGENTS
from iai_mcp.api.reading import caller_of, micros_of
from iai_mcp.api.table import Json, Method, memory_methods
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.memory.room import Room, weight_of
from iai_mcp.ports.memories import Scope
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_HUBS = 5
_UNCOUNTED = ("state", "started", "finished")  # of a report
# A store that a command opened by itself has no model yet, and sleep begins with vectors.
_MODEL_SECONDS = 20.0


def _events(store: MemoryStore, params: Params) -> Json:
    store.agent_news.gather()  # who asks wants to know what just happened, not a second ago
    found = store.journal.events(
        params.text("kind", ""),
        micros_of(store, params, "since"),
        params.integer("limit", 100, 1, 10_000),
    )
    found = store.event_access.heard(found, caller_of(params))
    room = Room()
    newest = list(takewhile(lambda event: room.takes(weight_of(event)), reversed(found)))
    told: Json = {"events": newest[::-1], "count": len(newest)}
    return {**told, "more": True} if len(newest) < len(found) else told


def _topology(store: MemoryStore, params: Params) -> Json:
    view = store.access.owners_view(caller_of(params))
    if view.not_projects:
        return _topology_of(store, view)
    left = store.backlog.left()
    return {
        "records": store.memories.count(),
        "projects": len(store.memories.projects()),
        "vectors": len(store.vectors) if store.vectors is not None else 0,
        **left,
        "communities": store.topics.count(),
        "hubs": _hubs(store),
        "backlog": {"vectors": left["vectors_pending"], "sleep": store.topics.waiting_count()},
    }


def _topology_of(store: MemoryStore, view: Scope) -> Json:
    """The same of what the view opens."""
    keys, closed = store.memories.keys(replace(view, said=True)) or (), view.not_projects
    pending = len(set(store.memories.pending()).intersection(keys))
    topics = store.topics.count(closed)
    return {
        "records": len(keys),
        "projects": len(store.memories.projects()) - len(closed),
        "vectors": len(keys) - pending,
        "vectors_pending": pending,
        "first_vectors_pending": pending,
        "vectors_seconds": None,
        "communities": topics,
        "hubs": _hubs(store, closed),
        "backlog": {"vectors": pending},
    }


def _hubs(store: MemoryStore, closed: Sequence[str] = ()) -> list[Json]:
    return [{"id": hub.id, "ties": hub.ties} for hub in store.topics.hubs(_HUBS, closed)]


def _session_exit(store: MemoryStore, params: Params) -> Json:
    session = params.text("session_id")
    store.journal.record_event("session_exit", {"session_id": session}, store.clock.now())
    return {"ok": True}


def _doctor(store: MemoryStore, params: Params) -> Json:
    # Late: it knows all programs and their files, and whoever calls first would wait for that.
    from iai_mcp.checks import all_checks

    if params.flag("hosts_only"):
        return {"checks": [asdict(check) for check in all_checks.of_hosts()]}
    checks = [*all_checks.of_store(store)]
    if not params.flag("store_only"):
        checks = [*all_checks.of_machine(), *checks]
    if store.access.owners_view(caller_of(params)).not_projects:
        # They count what is private, and name places.
        checks = [replace(check, detail="", fix="") for check in checks]
    return {"checks": [asdict(check) for check in checks]}


def _consolidate(store: MemoryStore, params: Params) -> Json:
    person = not caller_of(params).visitor
    if not params.flag("wait"):
        before = store.sleep.report()
        store.nights.ask_by(person=person)
        return {**_shown(store, params, before), "queued": True}
    store.embedder.wait(_MODEL_SECONDS)
    return {**_shown(store, params, store.nights.wait(person=person)), "queued": False}


def _report(store: MemoryStore, params: Params) -> Json:
    return _shown(store, params, store.sleep.report())


def _shown(store: MemoryStore, params: Params, report: Mapping[str, object]) -> Json:
    """A report as the caller may see it: counts include private projects, so visitors get none."""
    if store.access.owners_view(caller_of(params)).not_projects:
        return {name: report[name] for name in _UNCOUNTED if name in report}
    return dict(report)


def _backup(store: MemoryStore, params: Params) -> Json:
    if store.access.owners_view(caller_of(params)).not_projects:
        raise InvalidInput("a backup holds private projects, too: let a person run iai-mcp backup")
    path = Path(params.text("path"))
    if not path.is_absolute():
        raise InvalidInput("path must be absolute: the daemon's directory is not yours")
    if not look_at(str(path.parent), path.parent.is_dir):
        raise InvalidInput(f"{path.parent} is not a directory")
    made = backup.create(store.database, store.directory, path)
    store.journal.record_event("backup", {"records": made["records"]}, store.clock.now())
    return made


def _methods(store: MemoryStore, params: Params) -> Json:
    """The memory half of the table, for those who stand before it and do not load it."""
    return {"methods": [{"name": one.name, "page": one.page} for one in memory_methods().values()]}


METHODS: tuple[Method[MemoryStore], ...] = (
    Method(
        "events_query", _events, activity=False, tool="events_query", page=True, callers=EVERYBODY
    ),
    Method("topology", _topology, activity=False, tool="topology", page=True, callers=EVERYBODY),
    Method("session_exit", _session_exit, callers=PERSON_AND_AGENTS),
    Method("doctor", _doctor, activity=False, page=True, callers=PERSON_AND_AGENTS),
    Method(
        "memory_consolidate",
        _consolidate,
        tool="memory_consolidate",
        waits_for_sleep=True,
        callers=EVERYBODY,
    ),
    Method("sleep_report", _report, page=True, callers=PERSON_AND_AGENTS),
    Method("backup", _backup, command="iai-mcp backup FILE"),
    Method("methods", _methods, activity=False, callers=PERSON_AND_AGENTS),
)
