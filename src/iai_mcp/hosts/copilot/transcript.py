"""Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl` (older: `<session>.jsonl`).

Lines are `{type, data, id, timestamp, parentId}` with dotted types.
"""

import os

from iai_mcp.hosts.copilot import tool_calls
from iai_mcp.hosts.reading import Reading, lines_of, name_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "copilot"

_ROLES = {"user.message": "user", "assistant.message": "assistant"}


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a session."""
    name = name_of(reading.path)
    if name == "events":
        name = os.path.basename(os.path.dirname(os.path.abspath(reading.path)))
    reading.carry.setdefault("session_id", name)
    yield from lines_of(parse)(reading)


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: what was said and done in it; None if it is unknown."""
    kind, data = record.get("type"), record.get("data")
    if not isinstance(kind, str) or "." not in kind or not isinstance(data, dict):
        return None
    if kind.startswith("session."):
        _learn(data, reading)
        return []
    if kind.startswith("tool."):
        return tool_calls.events_of(kind, record, data, reading)
    role = _ROLES.get(kind)
    words = text_at(data, "content")
    if role is None or words is None:
        return []
    if role == "user" and (data.get("source") not in (None, "user") or is_wrapper(words)):
        return []
    carry = reading.carry
    event = turn(
        _ID,
        role,
        words,
        ts=record.get("timestamp"),
        turn_id=record.get("id"),
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
        agent_id=data.get("parentToolCallId"),
    )
    if event is None:
        return []
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    elif role == "user":
        carry["request"] = event["id"]
    return [event]


def _learn(data: Record, reading: Reading) -> None:
    carry = reading.carry
    session = text_at(data, "sessionId")
    if session:
        carry["session_id"] = session
    for key, names in (("cwd", ("cwd", "gitRoot")), ("branch", ("branch",))):
        for name in names:
            value = text_at(data, "context", name) or text_at(data, name)
            if value:
                carry[key] = value
                break
