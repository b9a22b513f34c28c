"""What we put into a session is never captured again, wherever the host puts it."""

import json
from pathlib import Path

import pytest

from iai_mcp.hosts.transcripts import read_turns
from iai_mcp.protocol.markers import wrap

INJECTED = wrap("From earlier sessions:\n- user: the port is 5433")
ESCAPED = INJECTED.replace("<", "&lt;").replace(">", "&gt;")


def gemini(*parts: str) -> list[object]:
    return [
        {"sessionId": "s", "startTime": "2026-11-15T21:32:26.451Z", "kind": "main"},
        {"id": "u", "type": "user", "content": [{"text": part} for part in parts]},
        {"id": "a", "type": "gemini", "content": "5433"},
    ]


def qwen(*parts: str) -> list[object]:
    said = {"role": "user", "parts": [{"text": part} for part in parts]}
    answer = {"role": "model", "parts": [{"text": "5433"}]}
    return [
        {"uuid": "u", "sessionId": "s", "type": "user", "message": said},
        {"uuid": "a", "sessionId": "s", "type": "assistant", "message": answer},
    ]


CASES = {
    "gemini, before the person's words": (
        "gemini",
        gemini(f"<hook_context>{ESCAPED}</hook_context>\n\nwhich port?"),
    ),
    "gemini, as a part of its own": (
        "gemini",
        gemini("which port?", f"<hook_context>{ESCAPED}</hook_context>"),
    ),
    "gemini, both, and another hook's": (
        "gemini",
        gemini(
            f"<hook_context>theirs</hook_context>\n<hook_context>{ESCAPED}</hook_context>\n\n"
            "which port?",
            f"<hook_context>{ESCAPED}</hook_context>",
        ),
    ),
    "qwen, behind the person's words": ("qwen", qwen("which port?", ESCAPED)),
}


@pytest.mark.parametrize(("host", "lines"), CASES.values(), ids=CASES.keys())
def test_only_what_the_person_said_is_a_turn(
    tmp_path: Path, host: str, lines: list[object]
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    turns, _, _ = read_turns(str(path), host)

    assert [turn["text"] for turn in turns] == ["which port?", "5433"]


def test_a_person_may_write_about_hook_context(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    said = "what does <hook_context> mean?"
    path.write_text("".join(json.dumps(line) + "\n" for line in gemini(said)))

    turns, _, _ = read_turns(str(path), "gemini")

    assert turns[0]["text"] == said
