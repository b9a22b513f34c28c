"""Claude Code: `~/.claude/projects/<cwd>/<session>.jsonl`, sub-agents in `<session>/subagents/`.

One message of the assistant is several lines that share `message.id`; each line has a `uuid` of
its own, and that is the turn's id. Lines of sub-agents name their agent and the parent's session.
Tool calls are blocks of the assistant's lines, their results blocks of the user's.

What the model wrote as a summary comes as one: compaction summaries, titles of sessions, approved plans, and
the memory files of the project, `~/.claude/projects/<cwd>/memory/*.md`.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts import summaries
from iai_mcp.hosts.claude_code import tool_calls
from iai_mcp.hosts.reader import NotATranscriptError, Reading, document, lines_of, name_of
from iai_mcp.hosts.turns import (
    Event,
    Record,
    blocks_text,
    by_parent,
    count_occurrence,
    digest,
    is_uuid,
    text_at,
    turn,
)
from iai_mcp.hosts.usage import settle, spend, total, usage
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "claude-code"

# fmt: off
_SILENT_TYPES = frozenset((
    "agent-color", "agent-name", "content-replacement", "file-history-snapshot", "last-prompt",
    "mode", "permission-mode", "pr-link", "progress", "queue-operation", "result", "system", "tag",
    "task-summary", "worktree-state",
))
# fmt: on
_TITLES = {"ai-title": "aiTitle", "custom-title": "customTitle", "summary": "summary"}
_SILENT_MARKS = ("isMeta", "isApiErrorMessage")
_CONTINUED = "This session is being continued from a previous conversation"
_MEMORY = "memory"  # the folder of a project's memory files
_MOST_FILES = 100
_CWD_WITHIN = 64 * 1024  # bytes of a transcript's end in which its directory stands


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a session's or a sub-agent's file; also of the web's one-document export."""
    _place(reading)
    if reading.path.endswith(".md"):
        yield from _memory_file(reading)
    elif reading.path.endswith(".json"):
        yield from _exported(reading)
    else:
        yield from lines_of(parse)(reading)


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line: what was said and done in it, none if nothing, None if it is unknown."""
    kind = record.get("type")
    if kind == "attachment":
        return _queued(record, reading)
    if str(kind) in _TITLES:
        return _title(record, _TITLES[str(kind)], reading)
    if kind not in ("user", "assistant"):
        return [] if str(kind) in _SILENT_TYPES else None
    message = record.get("message")
    if not isinstance(message, dict):
        return None
    _learn(record, reading.carry)
    if any(record.get(mark) for mark in _SILENT_MARKS) or message.get("model") == "<synthetic>":
        return []
    words = blocks_text(message.get("content"), of_user=kind == "user")
    if words is None:
        return None
    if record.get("isCompactSummary") or (kind == "user" and words.startswith(_CONTINUED)):
        return _compaction(record, words, reading)
    if not _is_human(record):
        words = ""
    if kind == "assistant":
        tool_calls.begin(record, reading)
        _spend(message, reading.carry)
        return [
            settle(event, reading.carry) for event in _turn(record, "assistant", words, reading)
        ]
    done, refusal, about = tool_calls.end(record, reading)
    spoken = "\n".join(filter(None, (words, refusal)))
    said = _turn(record, "user", spoken, reading, about)
    return done + (said if refusal else [by_parent(event) for event in said])


def _spend(message: Record, carry: Record) -> None:
    """What the request cost; all lines of one message repeat it."""
    known = message.get("usage")
    if isinstance(known, dict):
        cached = known.get("cache_read_input_tokens")
        sent = total(known.get("input_tokens"), cached, known.get("cache_creation_input_tokens"))
        cost = usage(message.get("model"), sent, known.get("output_tokens"), cached)
        spend(carry, cost, text_at(message, "id"))


def _compaction(record: Record, words: str, reading: Reading) -> list[Event]:
    """The summary with which a session goes on after it was compacted."""
    name = text_at(record, "uuid") or ""
    return summaries.summary(
        _ID,
        summaries.COMPACTION,
        words,
        identity=name if is_uuid(name) else "",
        ts=record.get("timestamp"),
        cwd=record.get("cwd") or reading.carry.get("cwd"),
        branch=record.get("gitBranch"),
    )


def _title(record: Record, name: str, reading: Reading) -> list[Event]:
    """A session's title. An early `summary` line names by `leafUuid` a turn of the session it is about."""
    found = summaries.summary(
        _ID,
        summaries.TITLE,
        text_at(record, name) or "",
        ts=record.get("timestamp") or reading.carry.get("ts"),
        cwd=reading.carry.get("cwd"),
    )
    leaf = text_at(record, "leafUuid")
    for event in found if leaf is not None and is_uuid(leaf) else ():
        event["meta"] = {"leaf": leaf}
    return found


def _memory_file(reading: Reading) -> "Iterator[Event]":
    """A memory per section: what did not change is known already."""
    folder, name = os.path.split(reading.path)
    project = os.path.dirname(folder)
    for text in summaries.file_sections(reading.path):
        mark = digest(f"{project}\0{text}".encode("utf-8", "replace"), 16)
        cwd = _cwd_of_project(project) if "cwd" not in reading.carry else reading.carry["cwd"]
        reading.carry["cwd"] = cwd
        found = summaries.summary(
            _ID,
            "project-memory",
            text,
            identity=f"{_ID} memory {mark}",
            ts=os.stat(reading.path).st_mtime,
            cwd=cwd,
        )
        for event in found:
            event["meta"] = {"file": name}
        yield from found


def _cwd_of_project(folder: str) -> str | None:
    """The directory that the sessions of a project's folder ran in; its name does not tell it exactly."""
    try:
        with os.scandir(folder) as entries:
            sessions = [one.path for one in entries if one.name.endswith(".jsonl")]
        newest = max(sessions, key=lambda path: os.stat(path).st_mtime, default=None)
        lines = regular_files.tail(newest, _CWD_WITHIN).splitlines() if newest else []
    except OSError:
        return None
    for line in reversed(lines):
        try:
            place = text_at(loads(line.decode("utf-8", "replace")), "cwd")
        except ValueError:
            continue
        if place:
            return place
    return None


def _queued(record: Record, reading: Reading) -> list[Event]:
    """What a person typed while the assistant worked: it never becomes a line of its own."""
    queued = record.get("attachment")
    if not isinstance(queued, dict) or queued.get("type") != "queued_command":
        return []
    mode = queued.get("commandMode") or "prompt"
    if queued.get("isMeta") or not _is_human(queued) or mode != "prompt":
        return []
    words = blocks_text(queued.get("prompt"), of_user=True)
    return _turn(record, "user", words, reading) if words else []


def _is_human(record: Record) -> bool:
    """Whether a person typed it: of notices, and of what others send, the host says so."""
    return (text_at(record, "origin", "kind") or "human") == "human"


def _learn(record: Record, carry: Record) -> None:
    """Session and directory, from the first line that names them."""
    for key, name in (("session_id", "sessionId"), ("cwd", "cwd")):
        value = record.get(name)
        if key not in carry and isinstance(value, str) and value:
            carry[key] = value
    if isinstance(record.get("timestamp"), str):
        carry["ts"] = record["timestamp"]


def _turn(
    record: Record, role: str, words: str, reading: Reading, meta: Record | None = None
) -> list[Event]:
    carry = reading.carry
    event = turn(
        _ID,
        role,
        words,
        ts=record.get("timestamp"),
        turn_id=record.get("uuid"),
        cwd=record.get("cwd") or carry.get("cwd"),
        branch=record.get("gitBranch"),
        agent_id=record.get("agentId") or carry.get("agent_id"),
        agent_name=carry.get("agent_name"),
    )
    if event is None:
        return []
    notes = dict(meta or {})
    if record.get("isSidechain"):
        notes["sidechain"] = True
    if notes:
        event["meta"] = notes
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    elif role == "user":
        carry["request"] = event["id"]
    return [event]


def related(path: str) -> list[str]:
    """The sub-agents' files that belong to a session's file, and the memory files of its project."""
    agents = os.path.join(path.removesuffix(".jsonl"), "subagents")
    notes = os.path.join(os.path.dirname(path), _MEMORY)
    return [*_files(agents, "agent-", ".jsonl"), *_files(notes, "", ".md")[:_MOST_FILES]]


def _files(directory: str, begins: str, ends: str) -> list[str]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return [
        os.path.join(directory, name)
        for name in names
        if name.startswith(begins) and name.endswith(ends)
    ]


def _place(reading: Reading) -> None:
    """What the file's own name and neighbours tell: the session, or the sub-agent."""
    carry, name = reading.carry, name_of(reading.path)
    if name.startswith("agent-"):
        carry.setdefault("agent_id", name.removeprefix("agent-"))
        kind = _agent_kind(reading.path.removesuffix(".jsonl") + ".meta.json")
        if kind:
            carry.setdefault("agent_name", kind)
    elif is_uuid(name):
        # A resumed session's file can begin with lines of the one it came from.
        carry.setdefault("session_id", name)


def _agent_kind(path: str) -> str | None:
    try:
        text = regular_files.read(path, 65_536).decode("utf-8", "replace")
        return text_at(loads(text), "agentType")
    except (OSError, ValueError):
        return None


def _exported(reading: Reading) -> "Iterator[Event]":
    whole = document(reading)
    lines = whole.get("loglines") if isinstance(whole, dict) else whole
    if not isinstance(lines, list):
        raise NotATranscriptError("no lines in it")
    reading.carry.setdefault("session_id", name_of(reading.path))
    for line in lines:
        events = parse(line, reading) if isinstance(line, dict) else None
        if events is None:
            reading.skipped += 1
        else:
            yield from events
