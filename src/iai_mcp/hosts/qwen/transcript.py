"""Qwen Code: `~/.qwen/projects/<cwd>/chats/<session>.jsonl`.

Lines look like Claude Code's, with a message of Gemini's making: `{role, parts}`.

Qwen Code's tool calls: `functionCall` parts of the assistant, `functionResponse` parts after.
"""

from iai_mcp.hosts import work
from iai_mcp.hosts.gemini.tool_calls import result_of
from iai_mcp.hosts.gemini.transcript import parts_text
from iai_mcp.hosts.reader import Reading, lines_of
from iai_mcp.hosts.turns import (
    Event,
    Record,
    by_parent,
    count_occurrence,
    is_wrapper,
    text_at,
    turn,
)
from iai_mcp.hosts.usage import settle, spend, total, usage
from iai_mcp.hosts.work import Call, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "qwen"

# Of the records on the user's side that have a subtype, these are somebody's words.
_SPOKEN_SUBTYPES = (None, "mid_turn_user_message", "agent_launch_prompt", "realtime_message")


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: what was said and done in it; None if it is unknown."""
    kind, message = record.get("type"), record.get("message")
    if kind == "system":
        return []
    if kind == "tool_result":
        return _end_calls(record, reading)
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return None
    carry = reading.carry
    for key, name in (("session_id", "sessionId"), ("cwd", "cwd")):
        if key not in carry and isinstance(record.get(name), str):
            carry[key] = record[name]
    if kind == "user" and record.get("subtype") not in _SPOKEN_SUBTYPES:
        return []
    if kind == "assistant":
        _begin_calls(record, reading)
        spend(carry, _usage(record))
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
    if kind == "assistant":
        settle(event, carry)
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    elif kind == "user":
        carry["request"] = event["id"]
    return [by_parent(event)]


def _usage(record: Record) -> Record:
    known = record.get("usageMetadata")
    if not isinstance(known, dict):
        return {}
    received = total(known.get("candidatesTokenCount"), known.get("thoughtsTokenCount"))
    cached = known.get("cachedContentTokenCount")
    return usage(record.get("model"), known.get("promptTokenCount"), received, cached)


def _words(record: Record, message: Record) -> str:
    typed = text_at(record, "systemPayload", "displayText") if record["type"] == "user" else None
    return typed or parts_text(message.get("parts"))


walk = lines_of(parse)


def _begin_calls(record: Record, reading: Reading) -> None:
    """Take note of the calls of an assistant's line."""
    for call in _calls_in(record):
        if call.is_work:
            work.begin(reading, call)


def _end_calls(record: Record, reading: Reading) -> list[Event]:
    """What was done by the calls whose results this line holds."""
    done: list[Event] = []
    for answer in _parts(record, "functionResponse"):
        call = work.end(reading, answer.get("id"), _calls_in)
        if call is None:
            continue
        output = text_at(answer, "response", "output")
        error = text_at(answer, "response", "error")
        status = text_at(record, "toolCallResult", "status")
        if status in ("cancelled", "canceled"):
            continue
        result = result_of(output or error or "", failed=error is not None or status == "error")
        result.seconds = work.between(call.ts, record.get("timestamp"))
        setting = Setting(
            "qwen",
            cwd=record.get("cwd") or reading.carry.get("cwd"),
            root=reading.carry.get("cwd"),
            branch=record.get("gitBranch"),
            agent_id=record.get("agentId"),
            agent_name=record.get("agentName"),
            turn=reading.carry.get("request"),
        )
        done += work.events_of(call, result, setting)
    return done


def _calls_in(record: Record) -> "Iterator[Call]":
    """The tool calls of one line."""
    for given in _parts(record, "functionCall"):
        name = given.get("id")
        if isinstance(name, str) and name:
            yield Call(name, given.get("name"), given.get("args"), record.get("timestamp"))


def _parts(record: Record, kind: str) -> "Iterator[Record]":
    message = record.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    for part in parts if isinstance(parts, list) else ():
        value = part.get(kind) if isinstance(part, dict) else None
        if isinstance(value, dict):
            yield value
