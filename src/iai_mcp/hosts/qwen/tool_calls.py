"""Qwen Code's tool calls: `functionCall` parts of the assistant, `functionResponse` parts after."""

from iai_mcp.hosts import work
from iai_mcp.hosts.gemini.tool_calls import result_of
from iai_mcp.hosts.turns import Event, Record, text_at
from iai_mcp.hosts.work import Call, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.reading import Reading


def begin(record: Record, reading: "Reading") -> None:
    """Take note of the calls of an assistant's line."""
    for call in calls_in(record):
        if call.is_work:
            work.begin(reading, call)


def end(record: Record, reading: "Reading") -> list[Event]:
    """What was done by the calls whose results this line holds."""
    done: list[Event] = []
    for answer in _parts(record, "functionResponse"):
        call = work.end(reading, answer.get("id"), calls_in)
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


def calls_in(record: Record) -> "Iterator[Call]":
    """The tool calls of one line."""
    for given in _parts(record, "functionCall"):
        name = given.get("id")
        if isinstance(name, str) and name:
            yield Call(name, given.get("name"), given.get("args"), record.get("timestamp"))


def _parts(record: Record, kind: str) -> "Iterator[Record]":
    message = record.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    for part in parts if isinstance(parts, list) else ():
        found = part.get(kind) if isinstance(part, dict) else None
        if isinstance(found, dict):
            yield found
