"""Any host's transcript: which host wrote it, and its turns.

reading = open_transcript(path)      # or with host="codex", or from a known offset
for event in reading: ...            # then reading.skipped, reading.end, reading.session_id

events, skipped, end = read_turns(path)
"""

import importlib
import os

from iai_mcp import regular_files
from iai_mcp.hosts.reading import Reading
from iai_mcp.hosts.turns import Event, Record
from iai_mcp.protocol.compact_json import loads

# host -> its package below iai_mcp.hosts
PARSERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "cursor": "cursor",
    "opencode": "opencode",
    "copilot": "copilot",
    "qwen": "qwen",
    "chatgpt": "chatgpt",
    "claude-ai": "claude_ai",
}
# Hosts that only ever append: their transcripts can be read on from where the last reading ended.
APPENDING = frozenset({"claude-code", "codex", "cursor", "copilot", "qwen"})

_DEFAULT = "claude-code"
_SAMPLE = 256 * 1024
_LINES_TO_TRY = 50

# fmt: off
_PLACES = (
    ("/.claude/projects/", "claude-code"), ("/.codex/", "codex"), ("/.gemini/tmp/", "gemini"),
    ("/.qwen/", "qwen"), ("/.copilot/", "copilot"), ("/agent-transcripts/", "cursor"),
    ("/opencode/storage/", "opencode"),
)
# fmt: on


def open_transcript(
    path: str,
    host: str | None = None,
    *,
    start: int = 0,
    carry: Record | None = None,
    session_id: str | None = None,
) -> Reading:
    """A reading of the transcript at `path`; nothing is opened before it is iterated.

    `start` and `carry` come from an earlier reading of an appending host; others start anew.
    `session_id` picks one session where a file holds many.
    """
    known = host if host in PARSERS else detect(path)
    module = importlib.import_module(f"iai_mcp.hosts.{PARSERS[known]}.transcript")
    if known not in APPENDING or path.endswith((".json", ".zst")):
        start, carry = 0, None
    return Reading(path, known, module.walk, start=start, carry=carry, wanted=session_id)


def read_turns(path: str, host: str | None = None, start: int = 0) -> tuple[list[Event], int, int]:
    """(all turns from `start` on, how many lines were skipped, the offset after the last)."""
    reading = open_transcript(path, host, start=start)
    events = list(reading)
    return events, reading.skipped, reading.end


def related(path: str, host: str) -> list[str]:
    """Further files that belong to the same session: those of its sub-agents."""
    if host != "claude-code":
        return []
    from iai_mcp.hosts.claude_code.transcript import related as subagents

    return subagents(path)


def detect(path: str) -> str:
    """The host that wrote the file, judged by where it lies, then by what it says."""
    name = os.path.basename(path)
    for place, host in _PLACES:
        if place in path:
            return host
    if name.startswith("rollout-") or name.endswith(".jsonl.zst"):
        return "codex"
    if name == "opencode.db":
        return "opencode"
    if name.endswith(".vscdb"):
        return "cursor"
    try:
        with regular_files.opened(path, links=regular_files.ANYWHERE) as file:
            head = file.read(_SAMPLE)
    except (OSError, ValueError):
        return _DEFAULT
    return _by_content(head, name)


def _by_content(head: bytes, name: str) -> str:
    if head.startswith(b"SQLite format 3\0"):
        return "opencode"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "codex"
    text = head.decode("utf-8-sig", "replace")
    if name.endswith(".json"):
        return _by_document(text)
    for line in text.split("\n", _LINES_TO_TRY)[:_LINES_TO_TRY]:
        record = _object(line)
        host = _by_line(record) if record is not None else None
        if host:
            return host
    return _DEFAULT


def _object(line: str) -> Record | None:
    try:
        value = loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _by_line(record: Record) -> str | None:
    kind, message = record.get("type"), record.get("message")
    if "$set" in record or ("sessionId" in record and "projectHash" in record):
        return "gemini"
    if "payload" in record or kind == "message" or "record_type" in record:
        return "codex"
    if isinstance(kind, str) and "." in kind and "data" in record:
        return "copilot"
    if isinstance(message, dict):
        if "parts" in message:
            return "qwen"
        return (
            "claude-code"
            if kind in ("user", "assistant")
            else "cursor"
            if "role" in record
            else None
        )
    if "instructions" in record and "timestamp" in record:
        return "codex"
    return None


def _by_document(text: str) -> str:
    """A whole JSON document is known by its keys; the sample may hold only its beginning."""
    for key, host in (
        ('"mapping"', "chatgpt"),
        ('"chat_messages"', "claude-ai"),
        ('"loglines"', "claude-code"),
        ('"composer_data"', "cursor"),
        ('"fullConversationHeadersOnly"', "cursor"),
        ('"projectHash"', "gemini"),
        ('"messages"', "gemini"),
        ('"projectID"', "opencode"),
    ):
        if key in text:
            return host
    return _DEFAULT
