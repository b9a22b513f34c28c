"""Copilot CLI's tool calls: a line when one starts, and a line when it is complete."""

from iai_mcp.hosts import work
from iai_mcp.hosts.turns import Event, Record, text_at
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.reading import Reading

_START, _COMPLETE = "tool.execution_start", "tool.execution_complete"
_EXIT = "<exited with exit code "


def events_of(kind: str, record: Record, data: Record, reading: "Reading") -> list[Event]:
    """What was done by the call that this line completes."""
    if kind == _START:
        for started in calls_in(record):
            if started.is_work:
                work.begin(reading, started)
        return []
    call = work.end(reading, data.get("toolCallId"), calls_in) if kind == _COMPLETE else None
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


def calls_in(record: Record) -> "Iterator[Call]":
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
    told = text_at(data, "result", "content") or text_at(data, "error", "message") or ""
    printed, found, rest = told.rpartition(_EXIT)
    number = rest.split(">", 1)[0]
    if found and number.lstrip("-").isdigit() and len(number) < 6:
        return Result(printed, exit=int(number))
    return Result(told, exit=None if failed else 0, failed=failed)
