"""Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl` (older: `<session>.jsonl`).

Lines are `{type, data, id, timestamp, parentId}` with dotted types.

Copilot CLI's tool calls: a line when one starts, and a line when it is complete.
"""

import os

from iai_mcp.hosts import background, work
from iai_mcp.hosts.reader import Reading, lines_of, name_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn
from iai_mcp.hosts.usage import settle, spend, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "copilot"

_START, _COMPLETE = "tool.execution_start", "tool.execution_complete"
# How the last line of a shell's output begins, with the exit status, or of one that still runs.
_EXITS = ("<exited with exit code ", " completed with exit code ")
_SHELL = "shellId: "
_RUNNING = (" is still running", "<command started in ")
_POLLS = ("read_", "write_", "stop_")
_ANSWERED = "User "  # "User selected: …", "User responded: …"

_ROLES = {"user.message": "user", "assistant.message": "assistant"}


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a session."""
    name = name_of(reading.path)
    if name == "events":
        name = os.path.basename(os.path.dirname(os.path.abspath(reading.path)))
    reading.carry.setdefault("session_id", name)
    yield from lines_of(parse)(reading)
    for call in background.rest(reading, _LINES):
        yield from _ended(call, None, None, reading)


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: what was said and done in it; None if it is unknown."""
    kind, data = record.get("type"), record.get("data")
    if not isinstance(kind, str) or "." not in kind or not isinstance(data, dict):
        return None
    if kind.startswith("session."):
        _learn(data, reading)
        spend(reading.carry, _usage(data))
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
    if role == "assistant":
        settle(event, carry)
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    elif role == "user":
        carry["request"] = event["id"]
    return [event]


def _usage(data: Record) -> Record:
    known = data.get("usage")
    if not isinstance(known, dict):
        return {}
    cached = known.get("cacheReadTokens")
    return usage(known.get("model"), known.get("inputTokens"), known.get("outputTokens"), cached)


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
            if started.is_work or started.is_question or _polled_shell(started):
                work.begin(reading, started)
        return []
    if kind != _COMPLETE:
        return []
    place = work.place_of(reading, data.get("toolCallId"))
    call = work.end(reading, data.get("toolCallId"), _calls_in)
    if call is None:
        return []
    setting, moment = _setting(reading, data), record.get("timestamp")
    if call.is_question:
        said = work.exchange(call, _answers(call, data), setting, moment)
        if said:
            reading.carry["request"] = said[-1].get("id")
        return said
    shell = _polled_shell(call)
    if shell:
        result = _printed(data)
        background.printed(reading, shell, result.output)
        is_over = result.exit is not None or call.name.startswith("stop_")
        call = background.take(reading, shell, _LINES) if is_over else None
        return [] if call is None else _ended(call, result.exit, moment, reading)
    result = _result(data)
    if result.running and place is not None:
        lost = background.hold(reading, result.running, call, place, result.output, _LINES)
        return [event for earlier in lost for event in _ended(earlier, None, None, reading)]
    result.seconds = work.between(call.ts, moment)
    return work.events_of(call, result, setting)


def _ended(call: Call, code: int | None, moment: object, reading: Reading) -> list[Event]:
    """A command that ran in the background, with all that it printed."""
    seconds = work.between(call.ts, moment)
    result = Result(background.output_of(call), exit=code, seconds=seconds)
    return work.events_of(call, result, _setting(reading, {}))


def _setting(reading: Reading, data: Record) -> Setting:
    carry = reading.carry
    return Setting(
        _ID,
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
        agent_id=data.get("parentToolCallId"),
        turn=carry.get("request"),
    )


def _polled_shell(call: Call) -> str | None:
    """The shell that this call reads, writes to or stops."""
    shell = call.input.get("shellId", call.input.get("sessionId"))
    return shell if call.name.startswith(_POLLS) and isinstance(shell, str) else None


def _answers(call: Call, data: Record) -> list[tuple[str, str]]:
    question = text_at(call.input, "question") or text_at(call.input, "message")
    answer = text_at(data, "result", "content") or ""
    verb, colon, words = answer.partition(": ")
    if colon and verb.startswith(_ANSWERED) and "\n" not in verb:
        answer = words
    return [(question, answer)] if question and answer and data.get("success") is not False else []


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
    result = _printed(data)
    shell = data.get("shellExecution")
    code = shell.get("exitCode") if isinstance(shell, dict) else None
    if isinstance(code, int) and not isinstance(code, bool):
        return Result(result.output, exit=code)
    if result.exit is None and not result.running:
        result.exit, result.failed = (None if failed else 0), failed
    return result


def _printed(data: Record) -> Result:
    """The output of a shell, with the exit code or the shell's id if the last line has it."""
    report = text_at(data, "result", "content") or text_at(data, "error", "message") or ""
    printed, _, last = report.rstrip("\n").rpartition("\n")
    if not last.startswith("<"):
        return Result(report)
    for mark in _EXITS:
        before, separator, rest = last.rpartition(mark)
        number = rest.removesuffix(">")
        whole = number.lstrip("-").isdigit() and len(number) < 6
        if separator and whole and (not before or before.startswith(f"<{_SHELL}")):
            return Result(printed, exit=int(number))
    if any(mark in last for mark in _RUNNING) and _SHELL in last:
        shell = last.partition(_SHELL)[2].partition(" ")[0].rstrip(">.")
        return Result(printed, running=shell)
    return Result(report)


def _output_in(record: Record) -> str:
    data = record.get("data")
    return _printed(data).output if isinstance(data, dict) else ""


_LINES = background.Lines(_calls_in, _output_in)
