"""OpenCode: `~/.local/share/opencode/opencode.db` (session, message, part), before version 1.2
JSON files below `storage/`: `session/<project>/<id>.json`, `message/<session>/`, `part/<message>/`.

`opencode export` writes one session as a document: `{info, messages: [{info, parts}]}`.

A turn is a text part; its id is the part's. Parts of an answer that is still being written wait:
the id would bind to words that are not complete.

OpenCode's tool calls: parts of the assistant's message that hold what was asked and what came.
"""

import os

from iai_mcp import regular_files
from iai_mcp.hosts import work
from iai_mcp.hosts.patches import Change
from iai_mcp.hosts.reader import LONGEST_LINE, NotATranscriptError, Reading, contents, opened
from iai_mcp.hosts.sqlite_file import json_column, reading_rows
from iai_mcp.hosts.turns import Event, Record, is_wrapper, text_at, turn
from iai_mcp.hosts.usage import settle, spend, total, usage
from iai_mcp.hosts.work import Call, Result, Setting
from iai_mcp.protocol.compact_json import scan

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "opencode"

_MAGIC = b"SQLite format 3\0"
_SESSIONS = "SELECT id, directory, parent_id FROM session ORDER BY id"
_ONE_SESSION = "SELECT id, directory, parent_id FROM session WHERE id = ?"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"


# How the template of the built-in command /review begins, and where it has the person's arguments.
_REVIEW = "You are a code reviewer. Your job is to review code changes"
_ARGUMENTS = ("\nInput: ", "\n---\n")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all sessions of a database (or the wanted one), or of one session's file."""
    with opened(reading) as file:
        is_database = file.read(len(_MAGIC)) == _MAGIC
    if is_database:
        yield from _from_database(reading)
    else:
        yield from _from_files(reading)


def _from_database(reading: Reading) -> "Iterator[Event]":
    with reading_rows(reading) as rows:
        wanted = reading.wanted
        sessions = list(rows(_ONE_SESSION, wanted) if wanted else rows(_SESSIONS))
        for session, directory, parent in sessions:
            parts: dict[str, list[Record]] = {}
            for message, part, data in rows(_PARTS, session):
                _collect(parts, str(message), str(part), data, reading)
            messages: list[Record] = []
            for message, data in rows(_MESSAGES, session):
                parsed = json_column(data)
                if parsed is None:
                    reading.skipped += 1
                else:
                    messages.append(parsed | {"id": str(message)})
            if wanted:
                reading.carry.update(session_id=str(session), cwd=directory)
            yield from _turns(messages, parts, str(session), directory, parent)


def _from_files(reading: Reading) -> "Iterator[Event]":
    text = contents(reading).decode("utf-8", "replace")
    # Exporting says which session it exports before it writes it.
    session, _ = scan(text, max(text.find("{"), 0))
    if isinstance(session, dict) and isinstance(session.get("info"), dict):
        yield from _from_export(session, reading)
        return
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


def _from_export(document: Record, reading: Reading) -> "Iterator[Event]":
    info, listed = document["info"], document.get("messages")
    name = text_at(info, "id")
    if name is None or not isinstance(listed, list):
        raise NotATranscriptError("no session in it")
    reading.carry["session_id"] = name
    directory = text_at(info, "directory")
    if directory:
        reading.carry["cwd"] = directory
    messages: list[Record] = []
    parts: dict[str, list[Record]] = {}
    for entry in listed:
        message = entry.get("info") if isinstance(entry, dict) else None
        of_message = entry.get("parts") if isinstance(entry, dict) else None
        if not isinstance(message, dict) or not isinstance(of_message, list):
            reading.skipped += 1
            continue
        messages.append(message)
        known = [part for part in of_message if isinstance(part, dict)]
        reading.skipped += len(of_message) - len(known)
        parts[str(message.get("id"))] = known
    yield from _turns(messages, parts, name, directory, text_at(info, "parentID"))


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
            parsed = json_column(regular_files.read(os.path.join(directory, name), LONGEST_LINE))
        except OSError:
            parsed = None
        if parsed is None:
            reading.skipped += 1
        else:
            yield parsed


def _collect(
    parts: dict[str, list[Record]], message: str, part: str, data: object, reading: Reading
) -> None:
    parsed = json_column(data)
    if parsed is None:
        reading.skipped += 1
    else:
        parts.setdefault(message, []).append(parsed | {"id": part})


def _turns(
    messages: list[Record],
    parts: dict[str, list[Record]],
    session: str,
    cwd: object,
    parent: object,
) -> "Iterator[Event]":
    """The turns of one session. One with a parent is a sub-agent's: its agent asks there, no person."""
    request = None
    carry: Record = {}
    for position, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant") or message.get("summary") is True:
            continue  # a summary is what compaction wrote
        last = position == len(messages) - 1
        place = text_at(message, "path", "cwd") or cwd
        if role == "assistant":
            spend(carry, _usage(message))
        agent = session if parent else None
        name = message.get("agent") if parent else None
        for part in parts.get(str(message.get("id")), ()):
            if part.get("type") == "tool":
                setting = Setting(
                    _ID,
                    session_id=session,
                    cwd=place,
                    agent_id=agent,
                    agent_name=name,
                    turn=request,
                )
                yield from _tool_events(part, setting)
                continue
            words = _spoken(part, role)
            if not words or (last and _is_open(message, part)):
                continue
            moment = message.get("time")
            event = turn(
                _ID,
                "assistant" if parent else str(role),
                words,
                ts=moment.get("created") if isinstance(moment, dict) else None,
                turn_id=f"{message.get('id')}/{part.get('id')}",
                session_id=session,
                cwd=place,
                agent_id=agent,
                agent_name=name,
            )
            if event is not None:
                request = event["id"] if role == "user" else request
                yield settle(event, carry) if role == "assistant" else event


def _usage(message: Record) -> Record:
    tokens = message.get("tokens")
    known = tokens if isinstance(tokens, dict) else {}
    cache = known.get("cache")
    cached = cache.get("read") if isinstance(cache, dict) else None
    written = cache.get("write") if isinstance(cache, dict) else None
    received = total(known.get("output"), known.get("reasoning"))
    return usage(
        message.get("modelID"), total(known.get("input"), cached, written), received, cached
    )


def _spoken(part: Record, role: object) -> str:
    """The words of a part: typed by a person, or the assistant's."""
    if part.get("synthetic") or part.get("ignored"):
        return ""
    kind = part.get("type")
    words = text_at(part, "text" if kind == "text" else "prompt") or ""
    if role != "user":
        return words if kind == "text" else ""
    if words.startswith(_REVIEW):
        arguments = words.partition(_ARGUMENTS[0])[2].partition(_ARGUMENTS[1])[0].strip()
        return f"/review {arguments}" if arguments else ""
    return words if kind == "text" and not is_wrapper(words) else ""


def _is_open(message: Record, part: Record) -> bool:
    """Whether the answer may still grow."""
    if message.get("role") != "assistant" or message.get("error"):
        return False
    for holder, mark in ((message, "completed"), (part, "end")):
        moment = holder.get("time")
        if isinstance(moment, dict) and moment.get(mark):
            return False
    return True


def _tool_events(part: Record, setting: Setting) -> list[Event]:
    """What was done by one part; nothing while it still runs."""
    state, name = part.get("state"), text_at(part, "callID") or text_at(part, "id")
    if not isinstance(state, dict) or name is None:
        return []
    if state.get("status") not in ("completed", "error"):
        return []
    moment = state.get("time")
    begun, ended = (
        (moment.get("start"), moment.get("end")) if isinstance(moment, dict) else (None, None)
    )
    call = Call(name, part.get("tool"), state.get("input"), begun)
    meta = state.get("metadata")
    more = meta if isinstance(meta, dict) else {}
    if call.is_question:
        return work.exchange(call, _answers(call, more), setting, ended)
    if not call.is_work:
        return []
    return work.events_of(call, _result(state, more, begun, ended), setting)


def _result(state: Record, more: Record, begun: object, ended: object) -> Result:
    failed = state.get("status") == "error"
    error = text_at(state, "error") or ""
    if failed and "rejected permission" in error:
        return Result(not_run=True)
    code = more.get("exit")
    seconds = None
    if isinstance(begun, int | float) and isinstance(ended, int | float):
        seconds = (ended - begun) / 1000
    return Result(
        text_at(more, "output") or text_at(state, "output") or error,
        exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
        failed=failed,
        changes=_changes(more),
        seconds=seconds,
    )


def _changes(more: Record) -> list[Change] | None:
    file = more.get("filediff")
    diff = text_at(more, "diff")
    path = text_at(file, "file") or text_at(more, "filepath")
    if path is None or diff is None:
        return None
    lines = (
        line for line in diff.split("\n") if not line.startswith(("Index:", "===", "@@", "\\"))
    )
    created = more.get("exists") is False
    return [Change.of_hunk(path, "created" if created else "changed", lines)]


def _answers(call: Call, more: Record) -> list[tuple[str, str]]:
    asked, given = call.input.get("questions"), more.get("answers")
    if not isinstance(asked, list) or not isinstance(given, list):
        return []
    pairs: list[tuple[str, str]] = []
    for question, answer in zip(asked, given, strict=False):
        words = answer if isinstance(answer, list) else [answer]
        text = ", ".join(word for word in words if isinstance(word, str))
        if text:
            pairs.append((text_at(question, "question") or "", text))
    return pairs
