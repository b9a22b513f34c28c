"""Codex's tool calls: items of the conversation, their results items with the same `call_id`.

What a command printed comes in one of three forms: JSON with `metadata.exit_code`, or text that
begins with lines about the exit and the time (of `shell_command` and of `exec_command`).

`exec_command` can return while the process still runs, with a session id. The process is then polled
by `write_stdin`, whose result reports its end. Such a command is held until that, or until an event
reports the end under the command's own id.
"""

from iai_mcp import regular_files
from iai_mcp.hosts import background, work
from iai_mcp.hosts.turns import Event, Record, object_in, text_at
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.reader import Reading

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_EXITS = ("Exit code: ", "Process exited with code ", "exit code: ")
_TIMES = ("Wall time: ", "Duration: ")
_RUNNING = "Process running with session ID "
_OUTPUT = "Output:\n"
_POLL = "write_stdin"
_ENDED = ("CommandExecution", "exec_command_end")
# Bytes. The line we look for holds output that Codex cuts (1.3 MB of it made a line of 77 KB), and
# calls that ran beside it may follow.
_ENDING = 512 * 1024
_NOT_RUN = (
    "exec command rejected by user",
    "patch rejected by user",
    "apply_patch verification failed",
    "failed to parse function arguments",
)


def begin(record: Record, reading: "Reading") -> None:
    """Take note of the call that a line holds, if it does."""
    for call in calls_in(record):
        if call.is_work or call.is_question or call.name == _POLL:
            work.begin(reading, call)


def end(item: Record, record: Record, reading: "Reading") -> list[Event]:
    """What was done by the call that ends here."""
    if item.get("type") not in _RESULTS:
        return []
    place = work.place_of(reading, item.get("call_id"))
    call = work.end(reading, item.get("call_id"), calls_in)
    if call is None:
        return []
    if call.is_question:
        answers = _answers(call, item)
        return work.exchange(call, answers, _setting(reading), record.get("timestamp"))
    result = result_of(item.get("output"))
    if call.name == _POLL:
        session = str(call.input.get("session_id"))
        background.printed(reading, session, result.output)
        return [] if result.exit is None else _ended(session, result.exit, record, reading)
    if result.running and place is not None:
        lost = background.hold(reading, result.running, call, place, result.output, _LINES)
        return [event for earlier in lost for event in _done(earlier, Result(), reading)]
    if result.seconds is None:
        result.seconds = work.between(call.ts, record.get("timestamp"))
    return work.events_of(call, result, _setting(reading))


def end_by_event(event: Record, record: Record, reading: "Reading") -> list[Event]:
    """What was done by a held command whose end this event reports."""
    item = event.get("item") if event.get("type") == "item_completed" else event
    if not isinstance(item, dict) or item.get("type") not in _ENDED:
        return []
    session = background.session_of(reading, item.get("call_id") or item.get("id"))
    if session is None:
        return []
    printed = text_at(item, "aggregated_output")
    return _ended(session, item.get("exit_code"), record, reading, printed)


def release(reading: "Reading") -> list[Event]:
    """Commands that nothing in the whole file ends."""
    calls = background.rest(reading, _LINES)
    return [event for call in calls for event in _done(call, Result(), reading)]


def _ended(
    session: str, code: object, record: Record, reading: "Reading", printed: str | None = None
) -> list[Event]:
    call = background.take(reading, session, _LINES)
    if call is None:
        return []
    if printed is not None:
        call.printed = [printed]
    whole = code if isinstance(code, int) and not isinstance(code, bool) else None
    seconds = work.between(call.ts, record.get("timestamp"))
    return _done(call, Result(exit=whole, seconds=seconds), reading)


def _done(call: Call, result: Result, reading: "Reading") -> list[Event]:
    result.output = background.output_of(call)
    return work.events_of(call, result, _setting(reading))


def _output_in(record: Record) -> str:
    payload = record.get("payload")
    item = payload if isinstance(payload, dict) else record
    return result_of(item.get("output")).output


def _setting(reading: "Reading") -> Setting:
    carry = reading.carry
    return Setting(
        "codex",
        cwd=carry.get("cwd"),
        branch=carry.get("branch"),
        agent_id=carry.get("agent_id"),
        agent_name=carry.get("agent_name"),
    )


def calls_in(record: Record) -> "Iterator[Call]":
    """The call that stands in a line."""
    payload = record.get("payload")
    item = payload if isinstance(payload, dict) else record
    name = item.get("call_id") or item.get("id")
    if item.get("type") not in _CALLS or not isinstance(name, str):
        return
    ts = record.get("timestamp")
    if item["type"] == "local_shell_call":
        action = item.get("action")
        given = action if isinstance(action, dict) else {}
        yield Call(name, "shell", given | {"workdir": given.get("working_directory")}, ts)
    elif item["type"] == "custom_tool_call":
        yield Call(name, item.get("name"), {"input": item.get("input")}, ts)
    else:
        yield Call(name, item.get("name"), object_in(item.get("arguments")), ts)


def failed_call(given: Record) -> tuple[str, str] | None:
    """The command that a hook tells of and what it printed, if the transcript says that it failed.

    The hook's input has the bare output; how the command ended is written down before the hook runs.
    """
    command, printed = text_at(given, "tool_input", "command"), text_at(given, "tool_response")
    path, call_id = text_at(given, "transcript_path"), text_at(given, "tool_use_id")
    if command is None or printed is None or path is None or call_id is None:
        return None
    return (command, printed) if _exit_of(call_id, path) else None


def _exit_of(call_id: str, path: str) -> int | None:
    """The exit status of the command that this call ran, from the end of a transcript."""
    try:
        lines = regular_files.tail(path, _ENDING).split(b"\n")
    except (OSError, ValueError):
        return None
    for line in reversed(lines):
        if b'"CommandExecution"' not in line or call_id.encode("utf-8", "replace") not in line:
            continue
        event = object_in(object_in(line.decode("utf-8", "replace")).get("payload"))
        item = object_in(event.get("item"))
        if item.get("type") == "CommandExecution" and item.get("id") == call_id:
            code = item.get("exit_code")
            return code if isinstance(code, int) else None
    return None


def result_of(output: object) -> Result:
    """What a result says, in any of its forms."""
    if isinstance(output, list):
        output = "\n".join(filter(None, (text_at(part, "text") for part in output)))
    if isinstance(output, dict):
        failed = output.get("success") is False
        return _plain(text_at(output, "content") or "", failed=failed)
    text = output if isinstance(output, str) else ""
    if text.startswith("{"):
        report = object_in(text)
        meta = report.get("metadata")
        if isinstance(meta, dict):
            code, took = meta.get("exit_code"), meta.get("duration_seconds")
            return Result(
                text_at(report, "output") or "",
                exit=code if isinstance(code, int) else None,
                seconds=took if isinstance(took, int | float) else None,
            )
    return _plain(text)


def _plain(text: str, *, failed: bool = False) -> Result:
    if text.startswith(_NOT_RUN):
        return Result(not_run=True)
    head, separator, rest = text.partition(_OUTPUT)
    if rest.startswith(_EXITS) and not any(mark in head for mark in _EXITS):
        # A patch in a command: inside the report on the command stands that on the patch.
        head, separator, rest = rest.partition(_OUTPUT)
    if not separator:
        head, rest = text, text
    code: float | None = None
    seconds: float | None = None
    running = ""
    for line in head.split("\n")[:8]:
        code = next((n for mark in _EXITS if (n := _number(line, mark)) is not None), code)
        took = next((n for mark in _TIMES if (n := _number(line, mark)) is not None), None)
        seconds = took if took is not None else seconds
        running = line.removeprefix(_RUNNING).strip() if line.startswith(_RUNNING) else running
    whole = None if code is None else int(code)
    return Result(rest, exit=whole, failed=failed, seconds=seconds, running=running)


def _number(line: str, mark: str) -> float | None:
    if not line.startswith(mark):
        return None
    try:
        return float(line[len(mark) :].split(" ", 1)[0])
    except ValueError:
        return None


def _answers(call: Call, item: Record) -> list[tuple[str, str]]:
    """Questions and what the person chose or wrote: `{"answers": {id: {"answers": […]}}}`."""
    by_id = object_in(item.get("output")).get("answers")
    asked = call.input.get("questions")
    pairs: list[tuple[str, str]] = []
    for question in asked if isinstance(asked, list) else ():
        name = text_at(question, "id")
        reply = by_id.get(name) if isinstance(by_id, dict) and name else None
        given = reply.get("answers") if isinstance(reply, dict) else None
        words = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
        if words:
            pairs.append((text_at(question, "question") or "", ", ".join(words)))
    return pairs


_LINES = background.Lines(calls_in, _output_in)
