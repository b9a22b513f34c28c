"""Gemini's log of changes becomes the turns that it leaves."""

import json
from pathlib import Path

from iai_mcp.hosts.transcripts import detect, open_transcript, read_turns

HEAD = {
    "sessionId": "g-1",
    "projectHash": "abc",
    "startTime": "2026-03-01T09:00:00Z",
    "kind": "main",
}


def message(name: str, kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "timestamp": "2026-03-01T09:00:01Z",
        "type": kind,
        "content": content,
    } | more


def chat(tmp_path: Path, *lines: object) -> str:
    path = tmp_path / "session-1.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return str(path)


def said(path: str) -> list[tuple[object, object]]:
    return [(e.get("id"), e["text"]) for e in read_turns(path)[0]]


def test_a_message_written_anew_is_one_turn(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        HEAD,
        message("u", "user", [{"text": "list "}, {"text": "files"}]),
        message("a", "gemini", "Here they are."),
        message("a", "gemini", "Here they are.", toolCalls=[{"name": "ls"}], tokens={"total": 2}),
        {"$set": {"lastUpdated": "2026-03-01T09:00:02Z"}},
        message("i", "info", "tip of the day"),
    )

    assert said(path) == [("u", "list files"), ("a", "Here they are.")]


def test_a_rewind_takes_back_its_target_and_all_after_it(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        HEAD,
        message("u1", "user", "one"),
        message("a1", "gemini", "first"),
        message("u2", "user", "two"),
        message("a2", "gemini", "second"),
        {"$rewindTo": "u2"},
        message("u3", "user", "better two"),
    )

    assert [text for _, text in said(path)] == ["one", "first", "better two"]


def test_compression_neither_removes_nor_repeats_what_was_said(tmp_path: Path) -> None:
    kept = message("new-id", "gemini", "second")
    path = chat(
        tmp_path,
        HEAD,
        {"$set": {"messages": [message("c", "user", "<session_context>\n…\n</session_context>")]}},
        message("u1", "user", "one"),
        message("a1", "gemini", "first"),
        message("u2", "user", "two"),
        message("a2", "gemini", "second"),
        {
            "$set": {
                "messages": [
                    message("s", "user", "<state_snapshot>\nsummary\n</state_snapshot>"),
                    message("k", "gemini", "Got it. Thanks for the additional context!"),
                    message("u2", "user", "two"),
                    kept,
                    message("x", "user", "only here"),
                ]
            }
        },
    )

    assert [text for _, text in said(path)] == ["one", "first", "two", "second", "only here"]


def test_the_typed_words_count_not_the_files_they_pull_in(tmp_path: Path) -> None:
    path = chat(
        tmp_path,
        HEAD,
        message(
            "u1", "user", [{"text": "see @a.py"}, {"text": "print(1)"}], displayContent="see @a.py"
        ),
        message("u2", "user", [{"text": "go"}, {"text": "<hook_context>x</hook_context>"}]),
        message("a1", "gemini", [{"text": "hm", "thought": True}, {"text": "done"}]),
    )

    assert [text for _, text in said(path)] == ["see @a.py", "go", "done"]


def test_the_directory_comes_from_beside_the_chats_or_from_the_context(tmp_path: Path) -> None:
    context = (
        "<session_context>\n- **Workspace Directories:**\n  - /home/ann/shop\n</session_context>"
    )
    from_context = open_transcript(
        chat(tmp_path, HEAD, message("c", "user", context), message("u", "user", "hi"))
    )
    assert len(list(from_context)) == 1
    assert from_context.cwd == "/home/ann/shop"

    (tmp_path / "chats").mkdir()
    (tmp_path / ".project_root").write_text("/home/ann/till\n", encoding="utf-8")
    beside = open_transcript(chat(tmp_path / "chats", HEAD, message("u", "user", "hi")))
    assert [e["cwd"] for e in beside] == ["/home/ann/till"]
    assert beside.session_id == "g-1"


def test_older_chats_are_one_document(tmp_path: Path) -> None:
    path = tmp_path / "session-old.json"
    messages = [
        {"type": "user", "content": "hello", "timestamp": "2024-01-01T12:00:00Z"},
        {"type": "model", "content": "hi there"},
        "nonsense",
    ]
    path.write_text(json.dumps(HEAD | {"messages": messages}), encoding="utf-8")

    events, skipped, _ = read_turns(str(path))

    assert detect(str(path)) == "gemini"
    assert [(e["role"], e["text"], e["occurrence"]) for e in events] == [
        ("user", "hello", 0),
        ("assistant", "hi there", 0),
    ]
    assert skipped == 1


def test_a_subagents_chat_names_its_agent(tmp_path: Path) -> None:
    head = HEAD | {"kind": "subagent", "directories": ["/home/ann/shop"]}

    (event,) = read_turns(chat(tmp_path, head, message("a", "gemini", "found")))[0]

    assert (event["agent_id"], event["cwd"]) == ("g-1", "/home/ann/shop")
