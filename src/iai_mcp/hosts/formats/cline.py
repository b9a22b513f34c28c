"""Cline and Roo Code: `tasks/<id>/ui_messages.json`, what the person and the agent see of a task.

Cline's command line writes `sessions/<id>/<id>.messages.json` instead: `{version, sessionId, messages}`
with the blocks of Anthropic's API. `api_conversation_history.json` is a list of such messages; there
the person's words stand in elements such as `<task>`.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts import work
from iai_mcp.hosts.patches import Change
from iai_mcp.hosts.reader import NotATranscriptError, Reading, document
from iai_mcp.hosts.turns import Event, Record, count_occurrence, object_in, text_at, turn
from iai_mcp.hosts.usage import added, attach, total, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPED = ("task", "user_feedback", "user_feedback_diff")
_ANSWERS = ("text", "completion_result", "plan_mode_respond", "followup")
_EDITS = {"editedExistingFile": "changed", "appliedDiff": "changed", "newFileCreated": "created"}
_ELEMENTS = ("task", "feedback", "user_message", "answer", "user_input")
_API_FILE = "api_conversation_history.json"
_DIRECTORY = ("Current Working Directory (", "Current Workspace Directory (")
_HEAD = 256 * 1024  # bytes of a task's history in which its directory is named


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of one task."""
    whole = document(reading)
    folder = os.path.dirname(os.path.abspath(reading.path))
    reading.carry["session_id"] = os.path.basename(folder)
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
        session = text_at(whole, "sessionId")
        if session:
            reading.carry["session_id"] = session
        yield from _of_blocks(whole["messages"], reading)
    elif isinstance(whole, list):
        cwd = _directory(folder)
        if cwd:
            reading.carry["cwd"] = cwd
        is_shown = any(isinstance(entry, dict) and "say" in entry for entry in whole)
        yield from _shown(whole, reading) if is_shown else _of_blocks(whole, reading)
    else:
        raise NotATranscriptError("no messages in it")


class _Task:
    """What the person saw of a task: `{ts, type: say|ask, say|ask: kind, text}`."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._spent: Record = {}
        self._request: object = None
        self._began = False  # the first text is the task itself
        self._command: tuple[Record, str, list[str]] | None = None

    def take(self, message: Record) -> "Iterator[Event]":
        """One message."""
        kind = message.get("say") if message.get("type") == "say" else message.get("ask")
        text = text_at(message, "text") or ""
        if message.get("partial") is True:
            return
        if kind == "command_output" and self._command is not None:
            self._command[2].append(text)
        elif kind == "api_req_started":
            self._spent = added(self._spent, _request_usage(object_in(text)))
        else:
            yield from self.end()
            yield from self._event(str(kind), text, message)

    def end(self) -> "Iterator[Event]":
        """The command that was running."""
        if self._command is not None:
            yield from _ran(*self._command, self._reading, self._request)
            self._command = None

    def _event(self, kind: str, text: str, message: Record) -> "Iterator[Event]":
        is_typed = kind in _TYPED or (kind == "text" and not self._began)
        if kind == "command" and text:
            self._command = (message, text, [])
        elif kind == "tool":
            yield from _tool(message, object_in(text), self._reading, self._request)
        elif is_typed and message.get("type") == "say":
            self._began = True
            event = _turn("user", text, message, self._reading)
            if event is not None:
                self._request = event.get("id")
                yield event
        elif kind in _ANSWERS:
            question = object_in(text)
            words = text_at(question, "question") or text_at(question, "response") or text
            event = _turn("assistant", words, message, self._reading)
            if event is not None:
                yield attach(event, self._spent)
                self._spent = {}


def _shown(messages: list[object], reading: Reading) -> "Iterator[Event]":
    task = _Task(reading)
    for message in messages:
        if isinstance(message, dict):
            yield from task.take(message)
        else:
            reading.skipped += 1
    yield from task.end()


def _turn(role: str, text: str, message: Record, reading: Reading) -> Event | None:
    ts = message.get("ts")
    kind = message.get("say") or message.get("ask")
    name = f"{reading.host}/{ts}/{kind}" if isinstance(ts, int) else None
    event = turn(reading.host, role, text, ts=ts, turn_id=name, cwd=reading.cwd)
    if event is not None and "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    return event


def _ran(
    message: Record, command: str, output: list[str], reading: Reading, request: object
) -> list[Event]:
    """A command; how it ended is not written there."""
    ts = message.get("ts")
    call = Call(f"{ts}/command", "execute_command", {"command": command}, ts)
    setting = Setting(reading.host, cwd=reading.cwd, turn=request)
    return work.events_of(call, Result("\n".join(output)), setting)


def _tool(message: Record, tool: Record, reading: Reading, request: object) -> list[Event]:
    """An edit that the person saw."""
    path, action = text_at(tool, "path"), _EDITS.get(str(tool.get("tool")))
    if path is None or action is None:
        return []
    content = text_at(tool, "content") or text_at(tool, "diff") or ""
    change = (
        Change.between(path, action, "", content)
        if action == "created"
        else Change.of_hunk(path, action, content.split("\n"))
    )
    ts = message.get("ts")
    call = Call(f"{ts}/edit", "edit", {"path": path}, ts)
    setting = Setting(reading.host, cwd=reading.cwd, turn=request)
    return work.events_of(call, Result(changes=[change]), setting)


def _of_blocks(messages: list[object], reading: Reading) -> "Iterator[Event]":
    """Messages of Anthropic's API: texts, tool calls and their results."""
    calls: dict[str, Call] = {}
    request: object = None
    is_session = reading.path.endswith(".messages.json")
    for number, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(message, dict) or not isinstance(blocks, list):
            reading.skipped += 1
            continue
        role, ts = message.get("role"), message.get("ts")
        if role not in ("user", "assistant"):
            continue
        known = [block for block in blocks if isinstance(block, dict)]
        reading.skipped += len(blocks) - len(known)
        texts = [text_at(block, "text") or "" for block in known if block.get("type") == "text"]
        words = "\n".join(filter(None, (_typed(text, is_session) for text in texts)))
        words = words if role == "user" else "\n".join(filter(None, texts))
        name = text_at(message, "id") or f"message-{number}"
        event = turn(reading.host, str(role), words, ts=ts, turn_id=name, cwd=reading.cwd)
        if event is not None:
            request = event["id"] if role == "user" else request
            yield attach(event, _metrics(message)) if role == "assistant" else event
        for block in known:
            mark = text_at(block, "id") or text_at(block, "tool_use_id")
            if block.get("type") == "tool_use" and mark:
                calls[mark] = Call(mark, block.get("name"), block.get("input"), ts)
            elif block.get("type") == "tool_result" and mark in calls:
                call = calls.pop(str(mark))
                setting = Setting(reading.host, cwd=reading.cwd, turn=request)
                failed = block.get("is_error") is True
                result = Result(_flat(block.get("content")), failed=failed)
                yield from work.events_of(call, result, setting) if call.is_work else ()


def _typed(text: str, plain: bool) -> str:
    """What the person typed, inside of the elements that the program puts around it."""
    for name in _ELEMENTS:
        start = text.find(f"<{name}")
        opened = text.find(">", start)
        end = text.rfind(f"</{name}>")
        if 0 <= start < opened < end:
            return text[opened + 1 : end].strip("\n")
    is_context = text.lstrip().startswith(("<environment_details>", "[", "<explicit_instructions"))
    return text if plain and not is_context else ""


def _flat(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(filter(None, (text_at(part, "text") for part in parts)))


def _request_usage(request: Record) -> Record:
    cached = request.get("cacheReads")
    sent = total(request.get("tokensIn"), cached, request.get("cacheWrites"))
    return usage(request.get("model"), sent, request.get("tokensOut"), cached)


def _metrics(message: Record) -> Record:
    metrics = message.get("metrics")
    model = text_at(message, "modelInfo", "id")
    if not isinstance(metrics, dict):
        return usage(model, None, None)
    cached = metrics.get("cacheReadTokens")
    sent = total(metrics.get("inputTokens"), cached, metrics.get("cacheWriteTokens"))
    return usage(model, sent, metrics.get("outputTokens"), cached)


def _directory(folder: str) -> str | None:
    """The directory that a task worked in, from the first request to the model."""
    try:
        path = os.path.join(folder, _API_FILE)
        with regular_files.opened(path, links=regular_files.ANYWHERE) as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    for mark in _DIRECTORY:
        _, separator, rest = head.partition(mark)
        place = rest.partition(")")[0]
        if separator and place.startswith("/"):
            return place
    return None
