"""Amp: `~/.local/share/amp/threads/T-*.json`, one thread per file: `{id, created, messages, env}`."""

from iai_mcp.hosts import work
from iai_mcp.hosts.reader import NotATranscriptError, Reading, document, name_of
from iai_mcp.hosts.turns import Event, Record, count_occurrence, is_wrapper, text_at, turn
from iai_mcp.hosts.usage import attach, total, usage
from iai_mcp.hosts.work import Call, Result, Setting

TYPE_CHECKING = False  # see compact_json
if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "amp"

_FILE = "file://"
_REFUSED = ("rejected-by-user", "cancelled")


def walk(reading: Reading) -> "Iterator[Event]":
    """The turns of one thread."""
    thread = document(reading)
    messages = thread.get("messages") if isinstance(thread, dict) else None
    if not isinstance(thread, dict) or not isinstance(messages, list):
        raise NotATranscriptError("no messages in it")
    reading.carry["session_id"] = text_at(thread, "id") or name_of(reading.path)
    cwd = _directory(thread)
    if cwd:
        reading.carry["cwd"] = cwd
    request: object = None
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(message, dict) or not isinstance(blocks, list):
            reading.skipped += 1
            continue
        known = [block for block in blocks if isinstance(block, dict)]
        reading.skipped += len(blocks) - len(known)
        ts = _time(message) or thread.get("created")
        event = _said(message, known, ts, reading)
        if event is not None:
            request = event.get("id") if event["role"] == "user" else request
            yield event
        for block in known:
            yield from _tool(block, ts, reading, request)


def _said(message: Record, blocks: list[Record], ts: object, reading: Reading) -> Event | None:
    role = message.get("role")
    if role not in ("user", "assistant"):
        return None
    texts = [text_at(block, "text") or "" for block in blocks if block.get("type") == "text"]
    words = "\n".join(text for text in texts if role == "assistant" or not is_wrapper(text))
    number = message.get("messageId")
    name = f"message-{number}" if isinstance(number, int) else None
    event = turn(_ID, str(role), words, ts=ts, turn_id=name, cwd=reading.cwd)
    if event is None:
        return None
    if "id" not in event:
        event["occurrence"] = count_occurrence(reading.seen(), event)
    return attach(event, _usage(message.get("usage"))) if role == "assistant" else event


def _tool(block: Record, ts: object, reading: Reading, request: object) -> list[Event]:
    if block.get("type") == "tool_use":
        mark = text_at(block, "id")
        if mark:
            asked = Call(mark, block.get("name"), block.get("input"), ts)
            if asked.is_work:
                reading.calls[mark] = asked
        return []
    mark = text_at(block, "toolUseID") or text_at(block, "tool_use_id") or ""
    call = _pending(reading, mark) if block.get("type") == "tool_result" else None
    run = block.get("run")
    if call is None or not isinstance(run, dict):
        return []
    place = text_at(call.input, "cwd")
    setting = Setting(_ID, cwd=reading.cwd, turn=request)
    call.cwd = place or reading.cwd
    status, given = run.get("status"), run.get("result")
    result = given if isinstance(given, dict) else {}
    code = result.get("exitCode")
    return work.events_of(
        call,
        Result(
            text_at(result, "output") or text_at(run, "error", "message") or "",
            exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
            failed=status == "error",
            not_run=status in _REFUSED,
        ),
        setting,
    )


def _pending(reading: Reading, mark: str) -> Call | None:
    return reading.calls.pop(mark, None)


def _usage(given: object) -> Record:
    if not isinstance(given, dict):
        return {}
    cached = given.get("cacheReadInputTokens")
    sent = total(given.get("inputTokens"), cached, given.get("cacheCreationInputTokens"))
    return usage(given.get("model"), sent, given.get("outputTokens"), cached)


def _time(message: Record) -> object:
    meta, spent = message.get("meta"), message.get("usage")
    sent = meta.get("sentAt") if isinstance(meta, dict) else None
    return sent or (spent.get("timestamp") if isinstance(spent, dict) else None)


def _directory(thread: Record) -> str | None:
    """The first directory that the thread was opened in."""
    env = thread.get("env")
    initial = env.get("initial") if isinstance(env, dict) else None
    trees = initial.get("trees") if isinstance(initial, dict) else None
    for tree in trees if isinstance(trees, list) else ():
        uri = text_at(tree, "uri") or ""
        if uri.startswith(_FILE):
            from urllib.parse import unquote

            return unquote(uri.removeprefix(_FILE))
    return None
