"""Kimi CLI: `~/.kimi/sessions/<hash of the directory>/<session>/wire.jsonl`, before that `context.jsonl`.

Lines are `{timestamp, message: {type, payload}}`: `TurnBegin` is the person's, `ContentPart` the
assistant's, `StatusUpdate` the usage so far. Of `context.jsonl` a line is a message with a role.

Kimi Code writes `~/.kimi-code/sessions/<directory>/<session>/agents/<agent>/wire.jsonl`, whose lines are
`{type, time, …}`; `_older` gives them in the form above.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts import work
from iai_mcp.hosts.reader import Reading, opened, records
from iai_mcp.hosts.turns import (
    Event,
    Record,
    blocks_text,
    count_occurrence,
    object_in,
    text_at,
    turn,
)
from iai_mcp.hosts.usage import added, attach, total, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "kimi"

_WIRE = "wire.jsonl"
_DIRECTORIES = "kimi.json"
_LONGEST_SETTINGS = 4 * 1024 * 1024
_AGENTS, _MAIN, _INDEX = "agents", "main", "session_index.jsonl"
_TOKENS = {
    "input_other": "inputOther",
    "input_cache_read": "inputCacheRead",
    "input_cache_creation": "inputCacheCreation",
    "output": "output",
}
_TOOLS = {"Shell": "bash", "StrReplaceFile": "edit", "WriteFile": "write_file", "ReadFile": "read"}


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of one session."""
    path = os.path.abspath(reading.path)
    folder = os.path.dirname(path)
    agent: str | None = None
    if os.path.basename(os.path.dirname(folder)) == _AGENTS:
        name = os.path.basename(folder)
        agent = None if name == _MAIN else name
        folder = os.path.dirname(os.path.dirname(folder))
        cwd = _indexed(folder)
    else:
        cwd = _directory(os.path.dirname(folder))
    reading.carry["session_id"] = os.path.basename(folder)
    if cwd:
        reading.carry["cwd"] = cwd
    beside = os.path.join(folder, _WIRE)
    if os.path.basename(path) != _WIRE and os.path.isfile(beside):
        return  # the same session, told by the other file
    wire = _Wire(reading)
    with opened(reading) as file:
        for record in records(reading, file):
            message = _older(record) if "." in str(record.get("type")) else record.get("message")
            if isinstance(message, dict):
                ts = record.get("timestamp", record.get("time"))
                yield from wire.take(message, ts, agent)
            elif isinstance(record.get("role"), str):
                yield from _plain(record, reading)
            elif not isinstance(record.get("type"), str):
                reading.skipped += 1
    yield from wire.end()


def _older(record: Record) -> Record | None:
    """A line of Kimi Code as Kimi CLI would write it; None where nothing was said or done."""
    kind = record["type"]
    message, event = record.get("message"), record.get("event")
    if kind == "usage.record" and record.get("usageScope", "turn") == "turn":
        spent = record.get("usage")
        names = (
            {name: spent.get(key) for name, key in _TOKENS.items()}
            if isinstance(spent, dict)
            else {}
        )
        return {
            "type": "StatusUpdate",
            "payload": {"token_usage": names, "model": record.get("model")},
        }
    if kind == "context.append_message" and isinstance(message, dict):
        typed = (text_at(message, "origin", "kind") or "user") == "user"
        if message.get("role") == "user" and typed:
            return {"type": "TurnBegin", "payload": {"user_input": message.get("content")}}
    if kind == "context.append_loop_event" and isinstance(event, dict):
        done = event.get("type")
        if done == "content.part":
            return {"type": "ContentPart", "payload": event.get("part")}
        if done == "tool.call":
            called = {"name": event.get("name"), "arguments": event.get("args")}
            return {
                "type": "ToolCall",
                "payload": {"id": event.get("toolCallId"), "function": called},
            }
        result = event.get("result")
        if done == "tool.result" and isinstance(result, dict):
            value = {"output": result.get("output"), "is_error": result.get("isError")}
            payload = {"tool_call_id": event.get("toolCallId"), "return_value": value}
            return {"type": "ToolResult", "payload": payload}
    return None


def _plain(record: Record, reading: Reading) -> "Iterator[Event]":
    """A message of `context.jsonl`; records of the program's own have names that begin with `_`."""
    role = record["role"]
    if role in ("user", "assistant"):
        words = blocks_text(record.get("content"), of_user=role == "user") or ""
        yield from _said(turn(_ID, str(role), words, cwd=reading.cwd), reading)


class _Wire:
    """Joins the parts of an answer until something else happens."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._parts: list[str] = []
        self._ts: object = None
        self._agent: str | None = None
        self._spent: Record = {}
        self._answer: Event | None = None  # waits for its usage

    def take(self, message: Record, ts: object, agent: str | None = None) -> "Iterator[Event]":
        """One message of the log."""
        kind, payload = message.get("type"), message.get("payload")
        if not isinstance(payload, dict):
            self._reading.skipped += not isinstance(kind, str)
        elif kind == "SubagentEvent":
            inner = payload.get("event")
            name = text_at(payload, "task_tool_call_id") or "subagent"
            if isinstance(inner, dict) and agent is None:
                yield from self.take(inner, ts, name)
        elif kind == "ContentPart" and payload.get("type") == "text":
            if agent != self._agent:
                yield from self._flush()
            self._agent, self._ts = agent, self._ts or ts
            self._parts.append(text_at(payload, "text") or "")
        else:
            yield from self._flush()
            self._agent = agent
            yield from self._other(str(kind), payload, ts)

    def _other(self, kind: str, payload: Record, ts: object) -> "Iterator[Event]":
        if kind in ("TurnBegin", "SteerInput"):
            yield from self._release()
            words = blocks_text(payload.get("user_input"), of_user=True) or ""
            role = "user" if self._agent is None else "assistant"
            cwd, agent = self._reading.cwd, self._agent
            event = turn(_ID, role, words, ts=ts, cwd=cwd, agent_id=agent)
            yield from _said(event, self._reading)
        elif kind == "StatusUpdate":
            self._spent = added(self._spent, _usage(payload))
            if self._answer is not None:
                attach(self._answer, self._spent)
                self._spent = {}
                yield from self._release()
        elif kind == "ToolCall":
            name, called = text_at(payload, "id"), payload.get("function")
            if name and isinstance(called, dict):
                tool = str(called.get("name"))
                given = object_in(called.get("arguments"))
                self._reading.calls[name] = Call(name, _TOOLS.get(tool, tool), given, ts)
        elif kind == "ToolResult":
            yield from self._release()
            yield from self._done(payload, ts)

    def end(self) -> "Iterator[Event]":
        """What is left at the end of the file."""
        yield from self._flush()
        yield from self._release()

    def _flush(self) -> "Iterator[Event]":
        words, ts = "".join(self._parts), self._ts
        self._parts, self._ts = [], None
        if not words.strip():
            return
        yield from self._release()
        event = turn(_ID, "assistant", words, ts=ts, cwd=self._reading.cwd, agent_id=self._agent)
        for said in _said(event, self._reading):
            self._answer = said

    def _release(self) -> "Iterator[Event]":
        if self._answer is not None:
            yield self._answer
            self._answer = None

    def _done(self, payload: Record, ts: object) -> list[Event]:
        call = self._reading.calls.pop(text_at(payload, "tool_call_id") or "", None)
        if call is None or not call.is_work:
            return []
        value = payload.get("return_value")
        returned = value if isinstance(value, dict) else {}
        output = blocks_text(returned.get("output"), of_user=False) or ""
        failed = returned.get("is_error") is True
        result = Result(output, exit=None if failed else 0, failed=failed)
        result.seconds = work.between(call.ts, ts)
        setting = Setting(_ID, cwd=self._reading.cwd, agent_id=self._agent)
        return work.events_of(call, result, setting)


def _said(event: Event | None, reading: Reading) -> "Iterator[Event]":
    if event is not None:
        event["occurrence"] = count_occurrence(reading.seen(), event)
        yield event


def _usage(status: Record) -> Record:
    tokens = status.get("token_usage")
    if not isinstance(tokens, dict):
        return {}
    cached = tokens.get("input_cache_read")
    sent = total(tokens.get("input_other"), cached, tokens.get("input_cache_creation"))
    return usage(status.get("model"), sent, tokens.get("output"), cached)


def _directory(folder: str) -> str | None:
    """The directory whose MD5 the folder is named by, among those that Kimi knows."""
    import hashlib

    settings = os.path.join(os.path.dirname(os.path.dirname(folder)), _DIRECTORIES)
    try:
        known = object_in(
            regular_files.read(settings, _LONGEST_SETTINGS).decode("utf-8", "replace")
        )
    except (OSError, ValueError):
        return None
    listed = known.get("work_dirs")
    for entry in listed if isinstance(listed, list) else ():
        path = text_at(entry, "path") or ""
        mark = hashlib.md5(path.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        if path.startswith("/") and mark == os.path.basename(folder):
            return path
    return None


def _indexed(folder: str) -> str | None:
    """The directory of a session of Kimi Code, from the index of all sessions."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
    try:
        index = regular_files.read(os.path.join(home, _INDEX), _LONGEST_SETTINGS)
    except (OSError, ValueError):
        return None
    for line in index.decode("utf-8", "replace").splitlines():
        known = object_in(line)
        if known.get("sessionId") == os.path.basename(folder):
            return text_at(known, "workDir")
    return None
