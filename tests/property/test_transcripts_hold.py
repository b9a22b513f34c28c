"""Whatever stands in a transcript, no parser raises, and what it gives goes through the spool."""

import json
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from iai_mcp.adapters.spool_drain import SpooledFile
from iai_mcp.capture import spool
from iai_mcp.hosts import READABLE
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.protocol.compact_json import dumps, loads

KEYS = st.sampled_from(
    [
        "type",
        "message",
        "content",
        "role",
        "text",
        "payload",
        "uuid",
        "id",
        "timestamp",
        "sessionId",
        "cwd",
        "data",
        "parts",
        "mapping",
        "chat_messages",
        "$set",
        "$rewindTo",
        "messages",
        "displayContent",
        "toolUseResult",
        "isMeta",
        "author",
        "sender",
        "item",
        "kind",
        "conversation",
        "fullConversationHeadersOnly",
        "bubble_rows",
        "key",
        "value",
        "git",
        "branch",
    ]
)
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "text",
        "gemini",
        "model",
        "message",
        "response_item",
        "event_msg",
        "session_meta",
        "user_message",
        "agent_message",
        "item_completed",
        "UserMessage",
        "user.message",
        "human",
        "<user_query>",
        "yes",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=20)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=8)
ENDINGS = st.sampled_from([".jsonl", ".json", ".db", ".vscdb", ".jsonl.zst"])


def read_all(content: bytes, host: str | None, ending: str) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{ending}"
        path.write_bytes(content)
        reading = open_transcript(str(path), host)
        events = list(reading)
        assert reading.end >= 0
        assert reading.skipped >= 0
        return events


def check(event: dict[str, object]) -> None:
    assert isinstance(event["text"], str)
    assert event["text"].strip()
    assert event["role"] in ("user", "assistant", "tool")
    assert (event["role"] == "tool") == ("work" in event)
    assert ("id" in event) or isinstance(event["occurrence"], int)
    assert loads(dumps(event).encode("utf-8").decode("utf-8")) == event


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([None, *READABLE]), ENDINGS)
def test_arbitrary_bytes_never_break_a_parser(
    content: bytes, host: str | None, ending: str
) -> None:
    for event in read_all(content, host, ending):
        check(event)


@settings(max_examples=300, deadline=None)
@given(st.lists(RECORDS, max_size=6), st.sampled_from([None, *READABLE]), st.booleans())
def test_arbitrary_records_never_break_a_parser(
    records: list[dict[str, object]], host: str | None, as_document: bool
) -> None:
    if as_document:
        content, ending = json.dumps(records if len(records) > 1 else records[:1]), ".json"
    else:
        content, ending = "\n".join(map(json.dumps, records)), ".jsonl"
    for event in read_all(content.encode(), host, ending):
        check(event)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant"]), st.sampled_from(["yes", "no", "go"]))
    ),
    st.integers(min_value=0),
)
def test_reading_in_two_steps_gives_what_one_reading_gives(
    turns: list[tuple[str, str]], cut_at: int
) -> None:
    lines = [
        json.dumps({"type": role, "message": {"role": role, "content": text}}) + "\n"
        for role, text in turns
    ]
    whole = "".join(lines).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(whole)
        at_once = list(open_transcript(str(path)))

        path.write_bytes(whole[: cut_at % (len(whole) + 1)])
        first = open_transcript(str(path))
        events = list(first)
        path.write_bytes(whole)
        events += list(open_transcript(str(path), start=first.end, carry=first.carry))

    assert events == at_once


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=60),
    st.lists(st.text(min_size=1, max_size=80).filter(str.strip), max_size=5),
)
def test_what_goes_into_the_spool_comes_out_of_it(session: str, texts: list[str]) -> None:
    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    events = [{"text": text, "role": "user", "id": str(n)} for n, text in enumerate(clean)]
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("IAI_MCP_STORE")
        os.environ["IAI_MCP_STORE"] = folder
        try:
            path = Path(spool.write({"session_id": session}, [dumps(e).encode() for e in events]))
        finally:
            if before is None:
                del os.environ["IAI_MCP_STORE"]
            else:
                os.environ["IAI_MCP_STORE"] = before

        assert path.parent == Path(folder) / ".deferred-captures"
        file = SpooledFile(path)
        assert [e for _, batch in file.batches() for e in batch] == events
        assert file.damage == []


@given(st.text())
def test_our_json_reads_what_pythons_json_writes(text: str) -> None:
    value = {"text": text, "list": [1, 2.5, None, True, {"deep": [text]}]}

    assert loads(json.dumps(value)) == value
    assert json.loads(dumps(value)) == value


_PATCH = "*** Begin Patch\n*** Update File: a\n@@ def x():\n+1\n*** End Patch"
CALLS: dict[str, list[dict[str, object]]] = {
    "claude-code": [
        {"type": "assistant", "timestamp": "2026-03-01T09:30:00Z", "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "x <<EOF >f", "description": "y"}}]}},
        {"type": "user", "toolUseResult": {"interrupted": False, "answers": {"a": "b"}, "filePath": "f", "structuredPatch": [{"lines": ["+a"]}]}, "message": {"content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "Exit code 1\nerror"}]}},
    ],
    "codex": [
        {"type": "response_item", "payload": {"type": "function_call", "call_id": "1", "name": "shell", "arguments": {"command": ["bash", "-lc", _PATCH]}}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "1", "output": {"content": "Exit code: 1\nOutput:\nx", "success": False}}},
    ],
    "gemini": [{"id": "g", "type": "gemini", "content": "", "toolCalls": [{"id": "1", "name": "replace", "status": "success", "args": {"file_path": "a", "edits": [{"old_string": "a"}]}, "result": [{"functionResponse": {"response": {"output": "Exit Code: 1"}}}], "resultDisplay": {"fileDiff": "+a", "fileName": "b"}}]}],
    "qwen": [
        {"type": "assistant", "message": {"parts": [{"functionCall": {"id": "1", "name": "glob", "args": {"pattern": "a", "paths": ["b"]}}}]}},
        {"type": "tool_result", "message": {"parts": [{"functionResponse": {"id": "1", "response": {"output": "a"}}}]}},
    ],
    "copilot": [
        {"type": "tool.execution_start", "data": {"toolCallId": "1", "toolName": "bash", "arguments": {"command": "a"}}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "1", "success": True, "result": {"content": "<exited with exit code 1>"}}},
    ],
    "cursor": [{"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Write", "input": {"path": "a", "contents": "b"}}]}}],
}  # fmt: skip


def places(value: object) -> list[list[object]]:
    """The ways to everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    return [[], *([key, *rest] for key, one in inside for rest in places(one))]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(CALLS)), st.data())
def test_tool_calls_with_anything_in_them_never_break_a_parser(
    host: str, data: st.DataObject
) -> None:
    records = json.loads(json.dumps(CALLS[host]))
    *way, last = data.draw(st.sampled_from([one for one in places(records) if len(one) > 1]))
    holder = records
    for key in way:
        holder = holder[key]
    holder[last] = data.draw(VALUES)
    for event in read_all("\n".join(map(json.dumps, records)).encode(), host, ".jsonl"):
        check(event)
