"""Gemini CLI's tool calls: each stands in the assistant's message, with its result beside it."""

from iai_mcp.hosts import work
from iai_mcp.hosts.patches import Change
from iai_mcp.hosts.turns import Event, Record, text_at
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = (
    "Command:",
    "Directory:",
    "Output:",
    "Stdout:",
    "Stderr:",
    "Error:",
    "Exit Code:",
    "Signal:",
)
_SHELL_FIELDS = (*_FIELDS, "Background PIDs:", "Process Group PGID:")
_PRINTED = ("Output:", "Stdout:", "Stderr:", "Error:")
_NOTHING = ("(none)", "(empty)")
_BEGIN, _END = "<untrusted_context>\n", "\n</untrusted_context>"


def events_of(message: Record, carry: Record) -> "Iterator[Event]":
    """What was done in one message."""
    calls = message.get("toolCalls")
    for number, raw in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(raw, dict) or raw.get("status") not in ("success", "error"):
            continue  # cancelled, or still running: the message is written anew when it is done
        name = text_at(raw, "id") or f"{message.get('id')}/{number}"
        ts = raw.get("timestamp") or message.get("timestamp")
        call = Call(name, raw.get("name"), raw.get("args"), ts)
        if call.is_work:
            setting = Setting(
                "gemini",
                cwd=carry.get("cwd"),
                agent_id=carry.get("agent_id"),
                turn=carry.get("request"),
            )
            yield from work.events_of(call, _result(raw), setting)


def _result(raw: Record) -> Result:
    failed = raw.get("status") == "error"
    shown = raw.get("resultDisplay")
    changes = _changes(shown) if isinstance(shown, dict) else None
    return result_of(_output(raw), failed=failed, changes=changes)


def failed_call(given: Record) -> tuple[str, str] | None:
    """The command that a hook tells has failed, and what it printed."""
    command = text_at(given, "tool_input", "command")
    response = given.get("tool_response")
    report = response.get("llmContent") if isinstance(response, dict) else response
    if isinstance(report, list):
        report = "\n".join(filter(None, (text_at(part, "text") for part in report)))
    if command is None or not isinstance(report, str):
        return None
    failed = isinstance(response, dict) and bool(response.get("error"))
    result = result_of(report, failed=failed)
    return (command, result.output) if result.failed else None


def result_of(output: str, *, failed: bool, changes: list[Change] | None = None) -> Result:
    """What the shell tool's report says: fields, one to a line, of which some go on."""
    fields: dict[str, list[str]] = {}
    current: list[str] = []
    output = output.removeprefix(_BEGIN).removesuffix(_END)
    for line in output.split("\n"):
        mark = next((mark for mark in _SHELL_FIELDS if line.startswith(mark)), None)
        if mark is not None:
            current = fields.setdefault(mark, [])
        current.append(line if mark is None else line[len(mark) :].lstrip())
    if not fields:
        return Result(output, exit=None if failed else 0, failed=failed, changes=changes)
    code = _number("".join(fields.get("Exit Code:", ())))
    failed = failed or "".join(fields.get("Signal:", ())).strip() not in ("", "0", *_NOTHING)
    if code is None and not failed and "Error:" not in fields:
        code = 0
    texts = ["\n".join(fields[mark]) for mark in _PRINTED if mark in fields]
    printed = "\n".join(text for text in texts if text.strip() not in _NOTHING)
    return Result(printed, exit=code, failed=failed, changes=changes)


def _output(raw: Record) -> str:
    parts = raw.get("result")
    for part in parts if isinstance(parts, list) else ():
        for key in ("output", "error"):
            text = text_at(part, "functionResponse", "response", key)
            if text is not None:
                return text
    shown = raw.get("resultDisplay")
    return shown if isinstance(shown, str) else ""


def _changes(shown: Record) -> list[Change] | None:
    diff = text_at(shown, "fileDiff")
    path = text_at(shown, "filePath") or text_at(shown, "fileName")
    if diff is None or path is None:
        return None
    created = shown.get("isNewFile") is True or shown.get("originalContent") in ("", None)
    lines = (
        line for line in diff.split("\n") if not line.startswith(("Index:", "===", "@@", "\\"))
    )
    return [Change.of_hunk(path, "created" if created else "changed", lines)]


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() and len(text) < 6 else None
