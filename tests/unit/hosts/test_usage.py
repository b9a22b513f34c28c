"""What an answer cost is kept with it, as the program recorded it, each request once."""

import json
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.hosts.usage import added, total, usage


def answers(path: Path, *lines: object) -> list[Json]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return [
        {"text": event["text"], "usage": (event.get("meta") or {}).get("usage")}  # type: ignore[attr-defined]
        for event in open_transcript(str(path))
        if event["role"] == "assistant"
    ]


def test_claude_code_repeats_the_usage_in_every_line_of_a_message(tmp_path: Path) -> None:
    def line(name: str, message: str, block: object) -> dict[str, object]:
        spent = {
            "input_tokens": 10,
            "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 5,
            "output_tokens": 7,
        }
        body = {
            "id": message,
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": [block],
            "usage": spent,
        }
        return {"type": "assistant", "uuid": name, "message": body, "cwd": "/w"}  # fmt: skip

    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}
    found = answers(
        tmp_path / "s.jsonl",
        line("a", "m1", tool),
        line("b", "m2", {"type": "text", "text": "done"}),
        line("c", "m2", tool),
        line("d", "m3", {"type": "text", "text": "again"}),
    )

    one = {"model": "claude-opus-4-8", "in": 105, "out": 7, "cached": 90}
    two = {"model": "claude-opus-4-8", "in": 210, "out": 14, "cached": 180}
    assert found == [{"text": "done", "usage": two}, {"text": "again", "usage": one}]


def test_codex_tells_the_usage_behind_the_answer_and_more_than_once(tmp_path: Path) -> None:
    def event(**payload: object) -> dict[str, object]:
        return {"timestamp": "2026-03-01T10:00:00Z", "type": "event_msg", "payload": payload}

    def tokens(sums: int, **last: int) -> dict[str, object]:
        info = {"last_token_usage": last, "total_token_usage": {"total_tokens": sums}}
        return event(type="token_count", info=info)

    context = {"type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/w"}}
    found = answers(
        tmp_path / "rollout-1.jsonl",
        context,
        event(type="token_count", info=None),
        tokens(12, input_tokens=10, cached_input_tokens=4, output_tokens=2),
        event(type="agent_message", message="first"),
        tokens(24, input_tokens=10, cached_input_tokens=4, output_tokens=2),
        tokens(24, input_tokens=10, cached_input_tokens=4, output_tokens=2),
        event(type="agent_message", message="second"),
        tokens(30, input_tokens=5, cached_input_tokens=0, output_tokens=1),
    )

    assert found == [
        {"text": "first", "usage": {"model": "gpt-5", "in": 20, "out": 4, "cached": 8}},
        {"text": "second", "usage": {"model": "gpt-5", "in": 5, "out": 1, "cached": 0}},
    ]


def test_an_answer_of_codex_whose_usage_is_not_there_yet_is_not_kept_back(tmp_path: Path) -> None:
    shown = {"type": "agent_message", "message": "first"}

    found = answers(tmp_path / "rollout-1.jsonl", {"type": "event_msg", "payload": shown})

    assert found == [{"text": "first", "usage": None}]


def test_copilot_records_each_request(tmp_path: Path) -> None:
    spent = {"model": "gpt-4.1", "inputTokens": 9, "outputTokens": 2, "cacheReadTokens": 3}
    record = {"type": "session.usage_record", "data": {"usage": spent}}
    said = {"type": "assistant.message", "id": "1", "data": {"content": "ok"}}

    found = answers(tmp_path / "events.jsonl", record, record, said)

    assert found == [{"text": "ok", "usage": {"model": "gpt-4.1", "in": 18, "out": 4, "cached": 6}}]


def test_gemini_and_qwen_count_thoughts_as_output(tmp_path: Path) -> None:
    tokens = {"input": 9, "output": 2, "thoughts": 5, "cached": 3, "total": 16}
    gemini = answers(
        tmp_path / "session-1.jsonl",
        {"sessionId": "s", "projectHash": "x"},
        {"id": "1", "type": "gemini", "content": "ok", "model": "gemini-3", "tokens": tokens},
    )
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 5}
    qwen = answers(
        tmp_path / "chats" / "q.jsonl",
        {"type": "assistant", "uuid": "1", "model": "qwen3", "usageMetadata": counts, "message": {"role": "model", "parts": [{"text": "ok"}]}},
    )  # fmt: skip

    assert gemini == [
        {"text": "ok", "usage": {"model": "gemini-3", "in": 9, "out": 7, "cached": 3}}
    ]
    assert qwen == [{"text": "ok", "usage": {"model": "qwen3", "in": 9, "out": 7}}]


@pytest.mark.parametrize("bad", [None, -1, True, "7", 1e30, float("nan"), [], {}])
def test_what_is_no_count_is_left_out(bad: object) -> None:
    assert usage(bad, bad, 3, bad) == ({"model": "7", "out": 3} if bad == "7" else {"out": 3})
    assert total(bad, None) is None
    assert added({"in": 1}, {"model": "m", "in": 2}) == {"model": "m", "in": 3}
