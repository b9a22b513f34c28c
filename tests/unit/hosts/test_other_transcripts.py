"""OpenCode, Cursor, Copilot, Qwen and the services' exports."""

import json
import sqlite3
from pathlib import Path

import pytest

from iai_mcp.hosts.transcripts import detect, open_transcript, read_turns


def jsonl(path: Path, *lines: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def opencode(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE session (id TEXT, directory TEXT, parent_id TEXT, title TEXT);
        CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
        """
    )
    db.execute("INSERT INTO session VALUES ('ses_1', '/home/ann/shop', NULL, 't')")
    db.execute("INSERT INTO session VALUES ('ses_2', '/home/ann/shop', 'ses_1', 'sub')")

    def message(name: str, session: str, at: int, data: object, *parts: object) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, session, at, text))
        for number, part in enumerate(parts):
            row = (f"prt_{name}_{number}", name, session, json.dumps(part))
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)

    created = {"created": 1_767_225_600_000}
    message(
        "msg_1",
        "ses_1",
        1,
        {"role": "user", "time": created, "summary": {"title": "ports"}},
        {"type": "text", "text": "which port?"},
        {"type": "text", "text": "file content", "synthetic": True},
    )
    message(
        "msg_2",
        "ses_1",
        2,
        {
            "role": "assistant",
            "time": created | {"completed": 2},
            "path": {"cwd": "/home/ann/till"},
        },
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "5433"},
        {"type": "tool", "tool": "bash"},
    )
    message(
        "msg_3", "ses_1", 3, {"role": "assistant", "summary": True}, {"type": "text", "text": "s"}
    )
    message("msg_4", "ses_1", 4, "{broken")
    message(
        "msg_5",
        "ses_1",
        5,
        {"role": "assistant", "time": created},
        {"type": "text", "text": "I am st"},
    )
    message(
        "msg_6", "ses_2", 6, {"role": "user", "agent": "explore"}, {"type": "text", "text": "look"}
    )
    db.commit()
    db.close()
    return path


def test_opencodes_database_gives_spoken_parts_and_waits_for_open_answers(opencode: Path) -> None:
    events, skipped, _ = read_turns(str(opencode))

    assert [(e["session_id"], e["role"], e["text"], e["cwd"]) for e in events] == [
        ("ses_1", "user", "which port?", "/home/ann/shop"),
        ("ses_1", "assistant", "5433", "/home/ann/till"),
        ("ses_2", "assistant", "look", "/home/ann/shop"),
    ]
    assert events[0]["ts"] == "2026-01-01T00:00:00.000Z"
    assert events[0]["id"] == "msg_1/prt_msg_1_0"
    assert (events[2]["agent_id"], events[2]["agent_name"]) == ("ses_2", "explore")
    assert skipped == 1


def test_one_of_opencodes_sessions_can_be_asked_for(opencode: Path) -> None:
    reading = open_transcript(str(opencode), session_id="ses_2")

    assert [e["text"] for e in reading] == ["look"]
    assert reading.session_id == "ses_2"


def test_reading_opencodes_database_changes_nothing(opencode: Path) -> None:
    before = opencode.read_bytes()

    read_turns(str(opencode))

    assert opencode.read_bytes() == before
    assert [p.name for p in opencode.parent.iterdir()] == ["opencode.db"]


def test_a_damaged_database_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 2000)

    reading = open_transcript(str(path))

    assert list(reading) == []
    assert reading.problem


def test_opencodes_older_files_are_joined_over_three_folders(tmp_path: Path) -> None:
    storage = tmp_path / "opencode" / "storage"
    session = {"id": "ses_1", "directory": "/home/ann/shop", "projectID": "p"}
    path = jsonl(storage / "session" / "p" / "ses_1.json", session)
    user = {"id": "msg_1", "role": "user", "time": {"created": 1}}
    jsonl(storage / "message" / "ses_1" / "msg_1.json", user)
    jsonl(storage / "part" / "msg_1" / "p1.json", {"id": "p1", "type": "text", "text": "hello"})
    (storage / "part" / "msg_1" / "p2.json").write_text("{", encoding="utf-8")

    reading = open_transcript(path)

    assert [(e["id"], e["text"], e["cwd"]) for e in reading] == [
        ("msg_1/p1", "hello", "/home/ann/shop")
    ]
    assert (reading.host, reading.session_id, reading.skipped) == ("opencode", "ses_1", 1)


REVIEW = (
    "You are a code reviewer. Your job is to review code changes and provide actionable feedback.\n\n"
    "---\n\nInput: {}\n\n---\n\n## Determining What to Review\n\nBased on the input provided …"
)


def opencode_export(parent: str | None = None, *parts: object) -> dict[str, object]:
    def message(name: str, role: str, *parts: object) -> dict[str, object]:
        info = {
            "id": name,
            "role": role,
            "sessionID": "ses_1",
            "time": {"created": 1_767_225_600_000, "completed": 2},
        }
        return {"info": info, "parts": [{"id": f"p{n}", **part} for n, part in enumerate(parts)]}  # type: ignore[dict-item]

    ran = {
        "status": "completed",
        "input": {"command": "make"},
        "output": "ok",
        "metadata": {"exit": 0},
    }
    asked = parts or ({"type": "text", "text": "which port?"},)
    return {
        "info": {"id": "ses_1", "projectID": "p", "directory": "/home/ann/shop", "parentID": parent},
        "messages": [
            message("m1", "user", *asked),
            message("m2", "assistant", {"type": "tool", "tool": "bash", "callID": "c", "state": ran}, {"type": "text", "text": "5433"}),
        ],
    }  # fmt: skip


@pytest.mark.parametrize("host", [None, "opencode"])
@pytest.mark.parametrize("name", ["session.json", "export.json"])
@pytest.mark.parametrize("before", ["", "Exporting session: ses_1\n"])
def test_what_opencode_exports_is_read(
    tmp_path: Path, host: str | None, name: str, before: str
) -> None:
    path = tmp_path / name
    path.write_text(before + json.dumps(opencode_export(), indent=2), encoding="utf-8")

    reading = open_transcript(str(path), host)
    events = list(reading)

    assert reading.host == "opencode"
    assert [(e["role"], e.get("id"), e["session_id"]) for e in events] == [
        ("user", "m1/p0", "ses_1"),
        ("tool", "c", "ses_1"),
        ("assistant", "m2/p1", "ses_1"),
    ]
    assert events[1]["turn"] == "m1/p0"
    assert (reading.cwd, reading.problem, reading.skipped) == ("/home/ann/shop", None, 0)


@pytest.mark.parametrize(
    "document",
    [
        {"info": {}, "messages": []},
        {"info": {"id": "ses_1", "projectID": "p"}},
        {"info": {"id": "ses_1"}, "messages": {}},
        [],
        "text",
    ],
)
def test_an_export_without_a_session_is_a_problem_and_no_exception(
    tmp_path: Path, document: object
) -> None:
    path = jsonl(tmp_path / "export.json", document)

    reading = open_transcript(path, "opencode")

    assert list(reading) == []
    assert reading.problem


def test_damaged_messages_of_an_export_are_counted(tmp_path: Path) -> None:
    export = opencode_export()
    messages = export["messages"]
    assert isinstance(messages, list)
    messages += [None, {"info": 1}, {"info": {"id": "m3", "role": "user"}, "parts": [1, {}]}]
    reading = open_transcript(jsonl(tmp_path / "export.json", export), "opencode")

    assert len(list(reading)) == 3
    assert reading.skipped == 3


def test_the_prompt_of_a_sub_agent_is_its_agents(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "export.json", opencode_export("ses_0"))

    assert [e["role"] for e in read_turns(path)[0]] == ["assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "text", "text": REVIEW.format("look at the cart")}, ["/review look at the cart"]),
        ({"type": "text", "text": REVIEW.format("")}, []),
        (
            {"type": "subtask", "command": "review", "prompt": REVIEW.format("the cart")},
            ["/review the cart"],
        ),
        ({"type": "subtask", "command": "own", "prompt": "do as the file says"}, []),
    ],
)
def test_of_a_command_only_what_the_person_typed_is_theirs(
    tmp_path: Path, part: object, said: list[str]
) -> None:
    path = jsonl(tmp_path / "export.json", opencode_export(None, part))

    assert [e["text"] for e in read_turns(path)[0] if e["role"] == "user"] == said


def test_cursors_lines_have_neither_id_nor_time(tmp_path: Path) -> None:
    def said(role: str, text: str) -> dict[str, object]:
        return {"role": role, "message": {"content": [{"type": "text", "text": text}]}}

    path = jsonl(
        tmp_path / "agent-transcripts" / "c-1" / "c-1.jsonl",
        said("user", "<attached>x</attached>\n<user_query>\nyes\n</user_query>"),
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell"}]}},
        said("assistant", "ok"),
        said("user", "yes"),
    )

    reading = open_transcript(path)

    assert [(e["role"], e["text"], e["occurrence"], "ts" in e) for e in reading] == [
        ("user", "yes", 0, False),
        ("assistant", "ok", 0, False),
        ("user", "yes", 1, False),
    ]
    assert (reading.host, reading.session_id) == ("cursor", "c-1")


BUBBLES = {
    "b-1": {"type": 1, "rawText": "why?", "timestamp": 1_700_000_000_000},
    "b-2": {"type": 2, "text": "because", "workspaceUris": ["file:///home/ann/my%20shop"]},
    "b-3": {"type": 99, "message": "tool output"},
}
COMPOSER = {"fullConversationHeadersOnly": [{"bubbleId": name} for name in [*BUBBLES, "gone"]]}
SPOKEN = [("b-1", "user", "why?"), ("b-2", "assistant", "because")]


def test_cursors_composer_as_a_document(tmp_path: Path) -> None:
    rows = [{"key": f"bubbleId:c-1:{name}", "value": value} for name, value in BUBBLES.items()]
    whole = {"composer_key": "composerData:c-1", "composer_data": COMPOSER, "bubble_rows": rows}
    path = tmp_path / "composer.json"
    path.write_text(json.dumps(whole), encoding="utf-8")

    reading = open_transcript(str(path))

    assert [(e["id"], e["role"], e["text"]) for e in reading] == SPOKEN
    assert (reading.session_id, reading.cwd) == ("c-1", "/home/ann/my shop")


def test_cursors_composers_in_the_editors_database(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
    db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c-1', ?)", (json.dumps(COMPOSER),))
    for name, value in BUBBLES.items():
        row = (f"bubbleId:c-1:{name}", json.dumps(value).encode())
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", row)
    db.commit()
    db.close()

    events, _, _ = read_turns(str(path))

    assert [(e["id"], e["role"], e["text"]) for e in events] == SPOKEN
    assert {e["session_id"] for e in events} == {"c-1"}


def test_copilots_events_carry_their_directory(tmp_path: Path) -> None:
    def event(kind: str, data: object, name: str) -> dict[str, object]:
        return {"type": kind, "data": data, "id": name, "timestamp": "2026-03-01T09:00:00Z"}

    context = {"cwd": "/home/ann/shop", "branch": "main"}
    path = jsonl(
        tmp_path / "session-state" / "p-1" / "events.jsonl",
        event("session.start", {"sessionId": "p-1", "context": context}, "1"),
        event("user.message", {"content": "hello"}, "2"),
        event("user.message", {"content": "skill text", "source": "skill"}, "3"),
        event("assistant.message", {"content": "hi"}, "4"),
        event("assistant.message", {"content": ""}, "5"),
        event("tool.execution_complete", {"result": "x"}, "6"),
        {"what": "ever"},
    )

    reading = open_transcript(path)

    assert [(e["id"], e["text"], e["cwd"], e["branch"]) for e in reading] == [
        ("2", "hello", "/home/ann/shop", "main"),
        ("4", "hi", "/home/ann/shop", "main"),
    ]
    assert (reading.host, reading.session_id, reading.skipped) == ("copilot", "p-1", 1)


def test_qwens_lines_hold_parts(tmp_path: Path) -> None:
    def record(kind: str, name: str, *parts: object, **more: object) -> dict[str, object]:
        message = {"role": kind, "parts": list(parts)}
        place = {"cwd": "/home/ann/shop", "gitBranch": "main", "sessionId": "q-1"}
        return {"type": kind, "uuid": name, "message": message} | place | more

    path = jsonl(
        tmp_path / "q-1.jsonl",
        record("user", "1", {"text": "hello"}),
        record("user", "2", {"text": "task done"}, subtype="notification"),
        record("assistant", "3", {"text": "hm", "thought": True}, {"text": "hi"}),
        record("user", "4", {"text": "raw + files"}, systemPayload={"displayText": "raw"}),
        {"type": "tool_result", "uuid": "5"},
        {"type": "system", "subtype": "chat_compression", "uuid": "6"},
    )

    reading = open_transcript(path)

    assert [(e["id"], e["text"]) for e in reading] == [("1", "hello"), ("3", "hi"), ("4", "raw")]
    assert (reading.host, reading.session_id, reading.skipped) == ("qwen", "q-1", 0)


def test_chatgpts_tree_is_told_parents_first_with_all_branches(tmp_path: Path) -> None:
    def node(parent: str | None, role: str, at: float, *parts: object, **more: object) -> object:
        content = {"content_type": "text", "parts": list(parts)}
        message = {"author": {"role": role}, "create_time": at, "content": content} | more
        return {"parent": parent, "message": message}

    mapping = {
        "a2": node("u1", "assistant", 3, "again"),
        "u1": node("root", "user", 1, "why?", {"content_type": "image_asset_pointer"}),
        "a1": node("u1", "assistant", 2, "because"),
        "root": {"parent": None, "message": None},
        "t": node("a2", "tool", 4, "tool output"),
        "r": node("a2", "assistant", 5, "search()", recipient="browser"),
        "h": node(
            "a2", "user", 6, "profile", metadata={"is_visually_hidden_from_conversation": True}
        ),
        "u2": node("a1", "user", 7, "thanks", id="msg-7"),
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"id": "c-1", "mapping": mapping}, 5]), encoding="utf-8")

    events, skipped, _ = read_turns(str(path))

    assert detect(str(path)) == "chatgpt"
    assert [(e["id"], e["text"]) for e in events] == [
        ("u1", "why?"),
        ("a1", "because"),
        ("msg-7", "thanks"),
        ("a2", "again"),
    ]
    assert {e["session_id"] for e in events} == {"c-1"}
    assert skipped == 1


def test_claude_ais_messages_are_blocks_or_plain_text(tmp_path: Path) -> None:
    conversation = {
        "uuid": "c-1",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "hi", "created_at": "2026-03-01T09:00:00Z"},
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "This block is not supported. hello",
                "content": [{"type": "tool_use"}, {"type": "text", "text": "hello"}],
            },
            "nonsense",
        ],
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([conversation]), encoding="utf-8")

    events, skipped, _ = read_turns(str(path))

    assert detect(str(path)) == "claude-ai"
    assert [(e["role"], e["text"], e["session_id"]) for e in events] == [
        ("user", "hi", "c-1"),
        ("assistant", "hello", "c-1"),
    ]
    assert skipped == 1


def test_an_export_that_was_cut_gives_the_conversations_before_the_cut(tmp_path: Path) -> None:
    messages = [{"uuid": "m", "sender": "human", "text": "kept"}]
    whole = json.dumps([{"uuid": f"c-{n}", "chat_messages": messages} for n in range(3)])
    path = tmp_path / "conversations.json"
    path.write_text(whole[:-30], encoding="utf-8")

    reading = open_transcript(str(path))

    assert [e["session_id"] for e in reading] == ["c-0", "c-1"]
    assert reading.skipped == 1
