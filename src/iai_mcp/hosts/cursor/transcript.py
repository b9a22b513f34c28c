"""Cursor: `~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl` of its CLI, and the
editor's composers (`state.vscdb`, or one of its composers as a JSON document).

The CLI's lines have neither ids nor times. A composer lists its bubbles: type 1 is the person,
type 2 the assistant, anything else is machinery.

Cursor's tool calls: its CLI writes them without ids or results, its editor's bubbles have both.
"""

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import NotATranscriptError, Reading, document, lines_of, name_of
from iai_mcp.hosts.sqlite_file import json_column, reading_rows
from iai_mcp.hosts.turns import (
    Event,
    Record,
    blocks_text,
    count_occurrence,
    object_in,
    text_at,
    turn,
)
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "cursor"

_DONE = ("completed", "error")

_BUBBLE_ROLES = {1: "user", 2: "assistant"}
_QUERY = ("<user_query>", "</user_query>")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of a CLI session, a composer's document or the editor's database."""
    if reading.path.endswith((".vscdb", ".db")):
        yield from _stored(reading)
    elif reading.path.endswith(".json"):
        yield from _documented(reading)
    else:
        reading.carry.setdefault("session_id", name_of(reading.path))
        yield from lines_of(parse)(reading)


def parse(record: Record, reading: Reading) -> list[Event] | None:
    """The events of one line of the CLI's transcript."""
    role, message = record.get("role"), record.get("message")
    if not isinstance(role, str):
        return [] if isinstance(record.get("type"), str) else None
    if role not in ("user", "assistant"):
        return []
    content = message.get("content") if isinstance(message, dict) else None
    words = blocks_text(content, of_user=role == "user")
    if words is None:
        return None
    event = turn(_ID, role, _typed(words) if role == "user" else words)
    events = [] if event is None else [event]
    events += _tools_in_line(content)
    for each in events:
        each["occurrence"] = count_occurrence(reading.seen(), each)
    return events


def _typed(words: str) -> str:
    """What the person wrote: Cursor puts it between tags, with context of its own around."""
    start, end = words.find(_QUERY[0]), words.rfind(_QUERY[1])
    if 0 <= start < end:
        return words[start + len(_QUERY[0]) : end].strip("\n")
    return words


def _documented(reading: Reading) -> "Iterator[Event]":
    whole = document(reading)
    data = whole.get("composer_data", whole) if isinstance(whole, dict) else None
    if not isinstance(data, dict):
        raise NotATranscriptError("no composer in it")
    key = text_at(whole, "composer_key") or text_at(data, "composerId") or name_of(reading.path)
    rows = whole.get("bubble_rows") if isinstance(whole, dict) else None
    bubbles: dict[str, object] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("key"), str):
            bubbles[row["key"].rsplit(":", 1)[-1]] = row.get("value")
    session = key.removeprefix("composerData:")
    reading.carry["session_id"] = session
    yield from _composer(data, bubbles, reading)


def _stored(reading: Reading) -> "Iterator[Event]":
    composers = "SELECT key, value FROM cursorDiskKV WHERE key LIKE 'composerData:%' ORDER BY key"
    bubbles_of = "SELECT key, value FROM cursorDiskKV WHERE key LIKE ?"
    with reading_rows(reading) as rows:
        for key, value in rows(composers):
            session = str(key).removeprefix("composerData:")
            data = json_column(value)
            if data is None or (reading.wanted is not None and session != reading.wanted):
                reading.skipped += data is None
                continue
            stored = rows(bubbles_of, f"bubbleId:{session}:%")
            bubbles = {str(name).rsplit(":", 1)[-1]: json_column(bubble) for name, bubble in stored}
            for event in _composer(data, dict(bubbles), reading):
                yield event | {"session_id": session}


def _composer(data: Record, bubbles: dict[str, object], reading: Reading) -> "Iterator[Event]":
    order = data.get("fullConversationHeadersOnly")
    inline = data.get("conversation")  # older composers hold their bubbles themselves
    cwd = next(filter(None, map(_directory, bubbles.values())), None)
    if cwd:
        reading.carry["cwd"] = cwd
    listed = order if isinstance(order, list) and order else inline
    for header in listed if isinstance(listed, list) else ():
        name = text_at(header, "bubbleId")
        bubble = bubbles.get(name or "", header)
        if not isinstance(bubble, dict):
            reading.skipped += 1
            continue
        event = _bubble(bubble, name, cwd)
        if event is not None:
            if "id" not in event:
                event["occurrence"] = count_occurrence(reading.seen(), event)
            elif event["role"] == "user":
                reading.carry["request"] = name
            yield event
        yield from _tools_in_bubble(bubble, name, cwd, reading.carry.get("request"))


def _bubble(bubble: Record, name: str | None, cwd: str | None) -> Event | None:
    kind = bubble.get("type")
    role = _BUBBLE_ROLES.get(kind) if isinstance(kind, int) else None
    if role is None:
        return None
    words = text_at(bubble, "text") or text_at(bubble, "rawText") or text_at(bubble, "content")
    moment = bubble.get("timestamp") or bubble.get("createdAt")
    return turn(_ID, role, words or "", ts=moment, turn_id=name, cwd=cwd)


def _directory(bubble: object) -> str | None:
    directory = text_at(bubble, "workspaceProjectDir")
    uris = bubble.get("workspaceUris") if isinstance(bubble, dict) else None
    if not directory and isinstance(uris, list) and uris and isinstance(uris[0], str):
        from urllib.parse import unquote

        directory = unquote(uris[0].removeprefix("file://"))
    return directory or None


def _tools_in_line(content: object) -> list[Event]:
    """What a line of the CLI's transcript says was done; how it went is not written there."""
    done: list[Event] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            call = Call("", block.get("name"), block.get("input"))
            if call.is_work:
                done += work.events_of(call, Result(), Setting("cursor"))
    for event in done:
        del event["id"]  # by their words and their place among them, as the turns around them
    return done


def _tools_in_bubble(bubble: Record, name: str | None, cwd: object, request: object) -> list[Event]:
    """What a bubble of the editor says was done."""
    data = bubble.get("toolFormerData")
    if not isinstance(data, dict) or data.get("status") not in _DONE:
        return []
    mark = text_at(data, "toolCallId") or name
    given = object_in(data.get("rawArgs")) or object_in(data.get("params"))
    moment = bubble.get("timestamp") or bubble.get("createdAt")
    call = Call(mark or "", data.get("name"), given, moment)
    if not mark or not call.is_work or data.get("userDecision") == "rejected":
        return []
    outcome = object_in(data.get("result"))
    code = outcome.get("exitCode", outcome.get("exit_code"))
    result = Result(
        text_at(outcome, "output") or "",
        exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
        failed=data.get("status") == "error",
    )
    return work.events_of(call, result, Setting("cursor", cwd=cwd, turn=request))
