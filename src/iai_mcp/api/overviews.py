"""Methods that say what there is: days, conversations, topics, how fast it all goes."""

from dataclasses import asdict
from datetime import date, timedelta

from iai_mcp.api.callers import PERSON_AND_AGENTS
from iai_mcp.api.reading import caller_of, filter_of, micros_of
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import iso
from iai_mcp.memory.calendar import By
from iai_mcp.memory.conversations import Conversation
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

_CONVERSATIONS, _MOST_CONVERSATIONS = 100, 1000
_TOPICS, _MOST_TOPICS = 60, 500
_COUNTED_BY: dict[str, By] = {
    "project": "project",
    "host": "host",
    "agent": "agent_name",
    "role": "role",
}


def _calendar(store: MemoryStore, params: Params) -> Json:
    by = params.text("by", "project")
    if by not in _COUNTED_BY:
        raise InvalidInput(f"by must be one of {', '.join(_COUNTED_BY)}")
    offset = params.integer("utc_offset", 0, -24 * 60, 24 * 60)
    found = store.calendar(filter_of(store, params), caller_of(params), _COUNTED_BY[by], offset)
    first = date(1970, 1, 1)
    return {
        "days": [
            {"day": str(first + timedelta(days=one.day)), by: one.name or None, "count": one.count}
            for one in found
        ]
    }


def _conversations(store: MemoryStore, params: Params) -> Json:
    limit = params.integer("limit", _CONVERSATIONS, 1, _MOST_CONVERSATIONS)
    found = store.conversations(
        filter_of(store, params), caller_of(params), limit, micros_of(store, params, "before")
    )
    told: Json = {"conversations": [_conversation_view(one) for one in found]}
    return {**told, "more": iso(found[-1].last)} if len(found) == limit else told


def _conversation_view(one: Conversation) -> Json:
    whence = one.opening.provenance
    return {
        "session_id": one.session_id,
        "opening": one.opening.text,
        "project": whence.project or None,
        "host": whence.host or None,
        "agent": whence.agent_name or None,
        "turns": one.turns,
        "first": iso(one.first),
        "last": iso(one.last),
    }


def _topics(store: MemoryStore, params: Params) -> Json:
    closed = store.access.closed_to(caller_of(params))
    found = store.topics.largest(params.integer("limit", _TOPICS, 1, _MOST_TOPICS), closed)
    return {
        "topics": [
            {
                "id": one.id,
                "label": one.label,
                "project": one.project or None,
                "memories": one.size,
                "first": iso(one.first),
                "last": iso(one.last),
            }
            for one in found
        ]
    }


def _pace(store: MemoryStore, params: Params) -> Json:
    since = micros_of(store, params, "since") or 0
    counts = not store.access.owners_view(caller_of(params)).not_projects
    return {
        "minutes": [
            {
                "ts": iso(one.begins),
                "recalls": one.recalls,
                "p50_ms": round(one.share(0.5) * 1000, 2),
                "p95_ms": round(one.share(0.95) * 1000, 2),
                **(asdict(one.sizes) if counts else {}),
            }
            for one in store.pace.minutes()
            if one.begins >= since
        ]
    }


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("memory_calendar", _calendar, page=True, callers=PERSON_AND_AGENTS),
    Method("memory_conversations", _conversations, page=True, callers=PERSON_AND_AGENTS),
    Method("memory_topics", _topics, page=True, callers=PERSON_AND_AGENTS),
    Method("pace", _pace, activity=False, page=True, callers=PERSON_AND_AGENTS),
)
