"""Qwen Code: `~/.qwen/projects/<cwd>/chats/<session>.jsonl`.

Lines look like Claude Code's, with a message of Gemini's making: `{role, parts}`.
"""

from iai_mcp.hosts.gemini.transcript import parts_text
from iai_mcp.hosts.reading import Reading, lines_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn

_ID = "qwen"

_SILENT_TYPES = ("tool_result", "system")
# Of the records on the user's side that have a subtype, these are somebody's words.
_SPOKEN_SUBTYPES = (None, "mid_turn_user_message", "agent_launch_prompt", "realtime_message")


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: one if somebody spoke, none if not, None if it is unknown."""
    kind, message = record.get("type"), record.get("message")
    if kind in _SILENT_TYPES:
        return []
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return None
    carry = reading.carry
    for key, name in (("session_id", "sessionId"), ("cwd", "cwd")):
        if key not in carry and isinstance(record.get(name), str):
            carry[key] = record[name]
    if kind == "user" and record.get("subtype") not in _SPOKEN_SUBTYPES:
        return []
    words = _words(record, message)
    if kind == "user" and is_wrapper(words):
        return []
    event = turn(
        _ID,
        str(kind),
        words,
        ts=record.get("timestamp"),
        turn_id=record.get("uuid"),
        cwd=record.get("cwd"),
        branch=record.get("gitBranch"),
        agent_id=record.get("agentId"),
        agent_name=record.get("agentName"),
    )
    if event is None:
        return []
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    return [event]


def _words(record: Record, message: Record) -> str:
    typed = text_at(record, "systemPayload", "displayText") if record["type"] == "user" else None
    return typed or parts_text(message.get("parts"))


walk = lines_of(parse)
