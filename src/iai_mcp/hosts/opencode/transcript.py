"""OpenCode: `~/.local/share/opencode/opencode.db` (session, message, part), before version 1.2
JSON files below `storage/`: `session/<project>/<id>.json`, `message/<session>/`, `part/<message>/`.

A turn is a text part; its id is the part's. Parts of an answer that is still being written wait:
the id would bind to words that are not complete.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts.opencode import tool_calls
from iai_mcp.hosts.reading import LONGEST_LINE, NotATranscriptError, Reading, contents
from iai_mcp.hosts.turns import Event, Record, is_wrapper, text_at, turn
from iai_mcp.hosts.work import Setting
from iai_mcp.protocol.compact_json import loads

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "opencode"

_SESSIONS = "SELECT id, directory, parent_id FROM session ORDER BY id"
_ONE_SESSION = "SELECT id, directory, parent_id FROM session WHERE id = ?"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all sessions of a database (or the wanted one), or of one session's file."""
    if reading.path.endswith(".json"):
        yield from _from_files(reading)
    else:
        yield from _from_database(reading)


def _from_database(reading: Reading) -> "Iterator[Event]":
    from iai_mcp.hosts.sqlite_file import reading_rows

    with reading_rows(reading) as rows:
        wanted = reading.wanted
        sessions = list(rows(_ONE_SESSION, wanted) if wanted else rows(_SESSIONS))
        for session, directory, parent in sessions:
            parts: dict[str, list[Record]] = {}
            for message, part, data in rows(_PARTS, session):
                _collect(parts, str(message), str(part), data, reading)
            messages: list[Record] = []
            for message, data in rows(_MESSAGES, session):
                found = _object(data)
                if found is None:
                    reading.skipped += 1
                else:
                    messages.append(found | {"id": str(message)})
            if wanted:
                reading.carry.update(session_id=str(session), cwd=directory)
            yield from _turns(messages, parts, str(session), directory, parent)


def _from_files(reading: Reading) -> "Iterator[Event]":
    session = loads(contents(reading).decode("utf-8", "replace"))
    name = text_at(session, "id")
    if name is None or "/" in name:
        raise NotATranscriptError("no session in it")
    reading.carry["session_id"] = name
    directory = text_at(session, "directory")
    if directory:
        reading.carry["cwd"] = directory
    storage = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(reading.path))))
    messages = list(_files(os.path.join(storage, "message", name), reading))
    parts: dict[str, list[Record]] = {}
    for message in messages:
        known = text_at(message, "id")
        if known and "/" not in known:
            parts[known] = list(_files(os.path.join(storage, "part", known), reading))
    yield from _turns(messages, parts, name, directory, text_at(session, "parentID"))


def _files(directory: str, reading: Reading) -> "Iterator[Record]":
    """The objects in a directory's JSON files, by name: the names are in order of time."""
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        if not name.endswith(".json"):
            continue
        try:
            found = _object(regular_files.read(os.path.join(directory, name), LONGEST_LINE))
        except OSError:
            found = None
        if found is None:
            reading.skipped += 1
        else:
            yield found


def _collect(
    parts: dict[str, list[Record]], message: str, part: str, data: object, reading: Reading
) -> None:
    found = _object(data)
    if found is None:
        reading.skipped += 1
    else:
        parts.setdefault(message, []).append(found | {"id": part})


def _object(data: object) -> Record | None:
    raw = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    try:
        value = loads(raw) if isinstance(raw, str) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _turns(
    messages: list[Record],
    parts: dict[str, list[Record]],
    session: str,
    cwd: object,
    parent: object,
) -> "Iterator[Event]":
    request = None
    for position, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant") or message.get("summary") is True:
            continue  # a summary is what compaction wrote
        last = position == len(messages) - 1
        for part in parts.get(str(message.get("id")), ()):
            if _is_spoken(part, role) and not (last and _is_open(message, part)):
                moment = message.get("time")
                event = turn(
                    _ID,
                    str(role),
                    str(part["text"]),
                    ts=moment.get("created") if isinstance(moment, dict) else None,
                    turn_id=f"{message.get('id')}/{part.get('id')}",
                    session_id=session,
                    cwd=text_at(message, "path", "cwd") or cwd,
                    agent_id=session if parent else None,
                    agent_name=message.get("agent") if parent else None,
                )
                if event is not None:
                    request = event["id"] if role == "user" else request
                    yield event
            elif part.get("type") == "tool":
                setting = Setting(
                    _ID,
                    session_id=session,
                    cwd=text_at(message, "path", "cwd") or cwd,
                    agent_id=session if parent else None,
                    agent_name=message.get("agent") if parent else None,
                    turn=request,
                )
                yield from tool_calls.events_of(part, setting)


def _is_spoken(part: Record, role: object) -> bool:
    words = part.get("text")
    if part.get("type") != "text" or not isinstance(words, str):
        return False
    if part.get("synthetic") or part.get("ignored"):
        return False
    return not (role == "user" and is_wrapper(words))


def _is_open(message: Record, part: Record) -> bool:
    """Whether the answer may still grow."""
    if message.get("role") != "assistant" or message.get("error"):
        return False
    for holder, mark in ((message, "completed"), (part, "end")):
        moment = holder.get("time")
        if isinstance(moment, dict) and moment.get(mark):
            return False
    return True
