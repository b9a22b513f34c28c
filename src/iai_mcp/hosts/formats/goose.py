"""Goose: `sessions.db` (sessions, messages), before version 1.10 one `.jsonl` file per session.

A message is a list of blocks: text, `toolRequest` and, in a later message, `toolResponse`.
"""

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import Reading, lines_of, name_of
from iai_mcp.hosts.sqlite_file import json_value, reading_records
from iai_mcp.hosts.turns import Event, Record, count_occurrence, text_at, turn
from iai_mcp.hosts.usage import attach, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "goose"

_SESSIONS = "SELECT * FROM sessions ORDER BY id"
_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
_SUBAGENT = "sub_agent"
_BY_MACHINE = ("hidden", "terminal")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of all sessions of a database, or of one session's file."""
    if reading.path.endswith(".jsonl"):
        reading.carry.setdefault("session_id", name_of(reading.path))
        yield from lines_of(_parse)(reading)
    else:
        yield from _from_database(reading)


def _from_database(reading: Reading) -> "Iterator[Event]":
    with reading_records(reading) as rows:
        for row in list(rows(_SESSIONS)):
            name = str(row.get("id"))
            kind = str(row.get("session_type") or "user")
            if kind in _BY_MACHINE or (reading.wanted is not None and name != reading.wanted):
                continue
            model = text_at(json_value(row.get("model_config_json")), "model_name")
            chat = _Chat(reading, row.get("working_dir"), kind == _SUBAGENT, name, model)
            for message in rows(_MESSAGES, name):
                blocks = json_value(message.get("content_json"))
                meta = json_value(message.get("metadata_json"))
                if not isinstance(blocks, list):
                    reading.skipped += 1
                elif not (isinstance(meta, dict) and meta.get("userVisible") is False):
                    yield from chat.message(
                        message.get("role"),
                        blocks,
                        message.get("created_timestamp"),
                        message.get("message_id") or f"{name}/{message.get('id')}",
                        message.get("tokens"),
                    )


def _parse(record: Record, reading: Reading) -> list[Event] | None:
    """One line of an older session's file; the first describes the session."""
    if "working_dir" in record and "role" not in record:
        reading.carry["cwd"] = text_at(record, "working_dir")
        return []
    blocks = record.get("content")
    if not isinstance(blocks, list):
        return None
    chat = _Chat(reading, reading.cwd, subagent=False)
    return list(chat.message(record.get("role"), blocks, record.get("created"), record.get("id")))


class _Chat:
    """What the messages of one session share."""

    def __init__(
        self,
        reading: Reading,
        cwd: object,
        subagent: bool,
        session: str | None = None,
        model: str | None = None,
    ) -> None:
        self._reading = reading
        self._cwd = cwd
        self._agent = session if subagent else None
        self._session = session
        self._model = model
        self._request: object = None
        self._seen = {} if session else reading.seen()

    def message(
        self, role: object, blocks: list[object], ts: object, name: object, tokens: object = None
    ) -> "Iterator[Event]":
        """What was said and done in one message."""
        if role not in ("user", "assistant"):
            return
        known = [block for block in blocks if isinstance(block, dict)]
        self._reading.skipped += len(blocks) - len(known)
        texts = [text_at(block, "text") for block in known if block.get("type") == "text"]
        event = turn(
            _ID,
            "assistant" if self._agent else str(role),
            "\n".join(filter(None, texts)),
            ts=ts,
            turn_id=name,
            session_id=self._session,
            cwd=self._cwd,
            agent_id=self._agent,
        )
        if event is not None:
            if "id" not in event:
                event["occurrence"] = count_occurrence(self._seen, event)
            if role == "user":
                self._request = event.get("id")
            else:
                attach(event, usage(self._model, None, tokens))
            yield event
        for block in known:
            yield from self._tool(block, ts)

    def _tool(self, block: Record, ts: object) -> list[Event]:
        mark = text_at(block, "id")
        if block.get("type") == "toolRequest" and mark:
            asked = block.get("toolCall")
            given = asked.get("value") if isinstance(asked, dict) else None
            if isinstance(given, dict):
                tool = str(given.get("name")).rpartition("__")[2]
                call = Call(mark, _tool_name(tool, given), given.get("arguments"), ts)
                if call.is_work:
                    self._reading.calls[mark] = call
        elif block.get("type") == "toolResponse" and mark in self._reading.calls:
            done = self._reading.calls.pop(str(mark))
            result = _result(block.get("toolResult"))
            result.seconds = work.between(done.ts, ts)
            setting = Setting(
                _ID,
                session_id=self._session,
                cwd=self._cwd,
                agent_id=self._agent,
                turn=self._request,
            )
            return work.events_of(done, result, setting)
        return []


def _tool_name(tool: str, given: Record) -> str:
    """`text_editor` is several tools in one: its command says which."""
    command = text_at(given, "arguments", "command")
    return (
        {"write": "create", "view": "view"}.get(command or "", "edit")
        if tool == "text_editor"
        else tool
    )


def _result(given: object) -> Result:
    if not isinstance(given, dict):
        return Result()
    value = given.get("value")
    content = value.get("content") if isinstance(value, dict) else value
    parts = content if isinstance(content, list) else []
    output = "\n".join(filter(None, (text_at(part, "text") for part in parts)))
    failed = given.get("status") == "error" or (
        isinstance(value, dict) and value.get("isError") is True
    )
    return Result(output or text_at(given, "error") or "", failed=failed)
