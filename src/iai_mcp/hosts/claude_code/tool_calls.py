"""Claude Code's tool calls (`tool_use` blocks) and what came of them (`tool_result` blocks).

`toolUseResult` beside the message tells more than the model saw: the hunks of an edit, the answers
to a question. A call that the person refused carries what they said instead: those words were said.
"""

from iai_mcp.hosts import summaries, work
from iai_mcp.hosts.claude_code import questions
from iai_mcp.hosts.patches import Change
from iai_mcp.hosts.turns import Event, Record, text_at
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

    from iai_mcp.hosts.reader import Reading

_REFUSED = (
    "The user doesn't want to proceed",
    "The user doesn't want to take this action",
    "Permission for this tool use was denied",  # to a sub-agent
)
_SAID = (
    "the user said:\n",
    "The user said:\n",
    "The user provided the following reason for the rejection:",
)
_AFTERWORD = "\n\nNote: The user's next message"
_NOT_RUN = (
    "<tool_use_error>",
    "[Request interrupted by user",
    "Permission to use",
    "Permission for this action",
)
_PLAN, _APPROVED = "exitplanmode", "User has approved"
_EXIT = "Exit code "
_BEHIND = "Command running in background"
_REMINDER = "<system-reminder>"


def begin(record: Record, reading: "Reading") -> None:
    """Take note of the calls of an assistant's line."""
    for call in calls_in(record):
        if call.is_work or call.is_question or call.name == _PLAN:
            work.begin(reading, call)


def end(record: Record, reading: "Reading") -> tuple[list[Event], str, Record]:
    """(what was done, what the person said in place of a result, a note of what that is about)."""
    done: list[Event] = []
    spoken: list[str] = []
    about: Record = {}
    for block in _blocks(record, "tool_result"):
        call = work.end(reading, block.get("tool_use_id"), calls_in)
        result = _result(block, record, call)
        answers = questions.answered_in_refusing(call, result.rejection)
        if result.rejection and answers is None:
            spoken.append(result.rejection)
            about |= work.rejected(call)
        if call is not None and call.is_question:
            if answers is None and not result.not_run:
                answers = questions.answers(call, result.output, record.get("toolUseResult"))
            done += _answered(call, answers or [], record, reading)
        elif call is not None and call.name == _PLAN:
            done += _approved(call, result, record, reading)
        elif call is not None:
            done += work.events_of(call, result, _setting(record, reading))
    return done, "\n".join(spoken), about


def calls_in(record: Record) -> "Iterator[Call]":
    """The tool calls of one line."""
    for block in _blocks(record, "tool_use"):
        name = block.get("id")
        if isinstance(name, str) and name:
            yield Call(
                name,
                block.get("name"),
                block.get("input"),
                record.get("timestamp"),
                record.get("cwd"),
            )


def failed_call(given: Record) -> tuple[str, str] | None:
    """The command that a hook tells has failed, and what it printed."""
    command, error = text_at(given, "tool_input", "command"), text_at(given, "error")
    if given.get("tool_name") != "Bash" or command is None or error is None:
        return None
    if given.get("is_interrupt") or error.startswith((*_REFUSED, *_NOT_RUN)):
        return None
    return command, _exit(error.removeprefix("Error: "))[1]


def _blocks(record: Record, kind: str) -> "Iterator[Record]":
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def _setting(record: Record, reading: "Reading") -> Setting:
    carry = reading.carry
    return Setting(
        "claude-code",
        cwd=record.get("cwd") or carry.get("cwd"),
        root=carry.get("cwd"),
        branch=record.get("gitBranch"),
        agent_id=record.get("agentId") or carry.get("agent_id"),
        agent_name=carry.get("agent_name"),
        turn=carry.get("request"),
        meta={"sidechain": True} if record.get("isSidechain") else None,
    )


def _result(block: Record, record: Record, call: Call | None) -> Result:
    output = _text(block.get("content"))
    failed = block.get("is_error") is True
    if failed and output.startswith(_REFUSED):
        return Result(not_run=True, rejection=_reason(output))
    if failed and output.startswith(_NOT_RUN):
        return Result(not_run=True)
    more = record.get("toolUseResult")
    seconds = None if call is None else work.between(call.ts, record.get("timestamp"))
    code: int | None = None if failed or output.startswith(_BEHIND) else 0
    if failed:
        code, output = _exit(output.removeprefix("Error: "))
    if isinstance(more, dict) and more.get("interrupted"):
        code, failed = None, True
    changes = _hunks(more) if isinstance(more, dict) else None
    return Result(output, exit=code, failed=failed, changes=changes, seconds=seconds)


def _reason(refusal: str) -> str:
    """What the person said in refusing a call; "" where they only refused it."""
    # Behind the first of the marks: another one stands in what was said.
    reason = max((refusal.partition(mark)[2] for mark in _SAID), key=len)
    return reason.partition(_AFTERWORD)[0].strip()


def _exit(output: str) -> tuple[int | None, str]:
    """The exit status that a failed command's output begins with, and the output."""
    first, _, rest = output.partition("\n")
    number = first.removeprefix(_EXIT).strip()
    if first.startswith(_EXIT) and number.lstrip("-").isdigit() and len(number) < 6:
        return int(number), rest
    return None, output


def _hunks(more: Record) -> list[Change] | None:
    """What an edit did, by its hunks; None where they are not there."""
    path, hunks = text_at(more, "filePath"), more.get("structuredPatch")
    if path is None or not isinstance(hunks, list):
        return None
    created = more.get("type") == "create"
    change = Change(path, "created" if created else "changed")
    for hunk in hunks:
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        if isinstance(lines, list):
            change.take(line for line in lines if isinstance(line, str))
    if created and not hunks:
        change = Change.between(path, "created", "", text_at(more, "content") or "")
    return [change]


def _answered(
    call: Call, answers: questions.Answers, record: Record, reading: "Reading"
) -> list[Event]:
    events = work.exchange(call, answers, _setting(record, reading), record.get("timestamp"))
    if events:
        reading.carry["request"] = events[-1].get("id")
    return events


def _approved(call: Call, result: Result, record: Record, reading: "Reading") -> list[Event]:
    """The plan as the person approved it: they may have changed what the call proposed."""
    if result.failed or result.not_run or not result.output.startswith(_APPROVED):
        return []
    plan = text_at(record.get("toolUseResult"), "plan") or text_at(call.input, "plan") or ""
    return summaries.summary(
        "claude-code",
        summaries.PLAN,
        plan,
        identity=f"plan {call.id}",
        ts=record.get("timestamp"),
        cwd=record.get("cwd") or reading.carry.get("cwd"),
        branch=record.get("gitBranch"),
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.partition(_REMINDER)[0] if _REMINDER in content else content
    words = [text_at(part, "text") for part in content] if isinstance(content, list) else []
    return "\n".join(word for word in words if word and not word.startswith(_REMINDER))
