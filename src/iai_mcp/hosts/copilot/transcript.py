"""Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl` (older: `<session>.jsonl`).

Lines are `{type, data, id, timestamp, parentId}` with dotted types.

Copilot CLI's tool calls: a line when one starts, and a line when it is complete.
"""

import os

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import Reading, lines_of, name_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "copilot"

_START, _COMPLETE = "tool.execution_start", "tool.execution_complete"
_EXIT = "<exited with exit code "

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
        return _tool_events(kind, record, data, reading)
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


def _tool_events(kind: str, record: Record, data: Record, reading: Reading) -> list[Event]:
    """What was done by the call that this line completes."""
    if kind == _START:
        for started in _calls_in(record):
            if started.is_work:
                work.begin(reading, started)
        return []
    call = work.end(reading, data.get("toolCallId"), _calls_in) if kind == _COMPLETE else None
    if call is None:
        return []
    carry = reading.carry
    setting = Setting(
        "copilot",
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
        agent_id=data.get("parentToolCallId"),
        turn=carry.get("request"),
    )
    result = _result(data)
    result.seconds = work.between(call.ts, record.get("timestamp"))
    return work.events_of(call, result, setting)


def _calls_in(record: Record) -> "Iterator[Call]":
    """The call that a line starts."""
    data = record.get("data")
    if record.get("type") != _START or not isinstance(data, dict):
        return
    name = data.get("toolCallId")
    if isinstance(name, str) and name:
        yield Call(name, data.get("toolName"), data.get("arguments"), record.get("timestamp"))


def _result(data: Record) -> Result:
    failed = data.get("success") is False
    if text_at(data, "error", "code") in ("denied", "rejected"):
        return Result(not_run=True)
    report = text_at(data, "result", "content") or text_at(data, "error", "message") or ""
    printed, separator, rest = report.rpartition(_EXIT)
    number = rest.split(">", 1)[0]
    if separator and number.lstrip("-").isdigit() and len(number) < 6:
        return Result(printed, exit=int(number))
    return Result(report, exit=None if failed else 0, failed=failed)
