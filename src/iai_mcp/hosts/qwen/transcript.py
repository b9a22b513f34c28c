"""Qwen Code: `~/.qwen/projects/<cwd>/chats/<session>.jsonl`.

Lines look like Claude Code's, with a message of Gemini's making: `{role, parts}`.
"""

from iai_mcp.hosts.gemini.transcript import parts_text
from iai_mcp.hosts.qwen import tool_calls
from iai_mcp.hosts.reading import Reading, lines_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn

_ID = "qwen"

# Of the records on the user's side that have a subtype, these are somebody's words.
_SPOKEN_SUBTYPES = (None, "mid_turn_user_message", "agent_launch_prompt", "realtime_message")


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: what was said and done in it; None if it is unknown."""
    kind, message = record.get("type"), record.get("message")
    if kind == "system":
        return []
    if kind == "tool_result":
        return tool_calls.end(record, reading)
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return None
    carry = reading.carry
    for key, name in (("session_id", "sessionId"), ("cwd", "cwd")):
        if key not in carry and isinstance(record.get(name), str):
            carry[key] = record[name]
    if kind == "user" and record.get("subtype") not in _SPOKEN_SUBTYPES:
        return []
    if kind == "assistant":
        tool_calls.begin(record, reading)
    return _turn(record, message, carry, reading)


def _turn(record: Record, message: Record, carry: Record, reading: Reading) -> list[Event]:
    kind = record["type"]
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
    elif kind == "user":
        carry["request"] = event["id"]
    return [event]


def _words(record: Record, message: Record) -> str:
    typed = text_at(record, "systemPayload", "displayText") if record["type"] == "user" else None
    return typed or parts_text(message.get("parts"))


walk = lines_of(parse)
