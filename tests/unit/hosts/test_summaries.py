"""What models wrote as summaries is read from hosts' files, apart from what was said."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from iai_mcp.hosts.transcripts import open_transcript, related

CWD = "/home/ann/shop"
SESSION = "5b0c9f4e-1d2a-4c3b-9e8f-0123456789ab"
LEAF = "aaaaaaaa-0000-4000-8000-000000000001"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    folder = tmp_path / ".claude/projects/-home-ann-shop"
    folder.mkdir(parents=True)
    return folder


def write(path: Path, lines: Iterable[object]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def line(number: int, role: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": role,
        "uuid": f"aaaaaaaa-0000-4000-8000-00000000000{number}",
        "sessionId": SESSION,
        "cwd": CWD,
        "gitBranch": "fix/till",
        "timestamp": f"2026-03-01T09:0{number}:00.000Z",
        "message": {"role": role, "content": content},
        **more,
    }


def summaries(path: str, host: str = "claude-code") -> list[dict[str, object]]:
    return [event for event in open_transcript(path, host) if event["role"] == "summary"]


def said(path: str, host: str = "claude-code") -> list[object]:
    found = open_transcript(path, host)
    return [event["text"] for event in found if event["role"] in ("user", "assistant")]


@pytest.mark.parametrize("mark", [{"isCompactSummary": True}, {}])
def test_a_compaction_summary_is_no_persons_word(project: Path, mark: dict[str, bool]) -> None:
    text = "This session is being continued from a previous conversation.\nThe till was fixed."
    path = write(
        project / f"{SESSION}.jsonl", [line(1, "user", "fix it"), line(2, "user", text, **mark)]
    )

    (event,) = summaries(path)

    assert (event["kind"], event["source"], event["text"]) == ("summary", "compaction", text)
    assert (event["uid"], event["branch"]) == (line(2, "user", "")["uuid"], "fix/till")
    assert said(path) == ["fix it"]


def test_a_title_is_one_however_often_it_is_written(project: Path) -> None:
    titles = [
        {"type": "summary", "summary": "Till rework", "leafUuid": LEAF},
        line(1, "user", "fix the till"),
        {"type": "ai-title", "aiTitle": "Fix the till", "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": "Fix the till", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "till", "sessionId": SESSION},
        {"type": "ai-title", "aiTitle": 7},
        {"type": "ai-title"},
    ]
    found = summaries(write(project / f"{SESSION}.jsonl", titles))

    assert [event["text"] for event in found] == ["Till rework"] + ["Fix the till"] * 2 + ["till"]
    assert {event["source"] for event in found} == {"title"}
    assert found[0]["meta"] == {"leaf": LEAF}
    assert found[1]["id"] == found[2]["id"] != found[3]["id"]
    assert found[1]["ts"] == "2026-03-01T09:01:00.000Z"


def plan(result: str, **more: object) -> list[dict[str, object]]:
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "ExitPlanMode",
        "input": {"plan": "# Till"},
    }
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": result, **more}
    return [line(1, "assistant", [call]), line(2, "user", [block])]


def test_a_plan_counts_once_the_person_approved_it(project: Path) -> None:
    approved = plan("User has approved your plan. You can now start coding.")
    approved[1]["toolUseResult"] = {"plan": "# Till\nas the person changed it"}
    refused = "The user doesn't want to proceed with this tool use. the user said:\nno coins please"

    (event,) = summaries(write(project / f"{SESSION}.jsonl", approved))
    assert (event["source"], event["text"]) == ("plan", "# Till\nas the person changed it")

    path = write(project / "b.jsonl", plan(refused, is_error=True))
    assert summaries(path) == []
    assert said(path) == ["no coins please"]


def test_memory_files_of_a_project_come_in_sections(project: Path) -> None:
    transcript = write(project / f"{SESSION}.jsonl", [line(1, "user", "hello")])
    notes = project / "memory/debugging.md"
    notes.parent.mkdir()
    notes.write_text(
        "# Till\n\nIt jams.\n```\n# no heading\n```\n## Empty\n## Drawer\nIt sticks.\n"
    )
    (project / "memory/notes.txt").write_text("no")

    assert related(transcript, "claude-code") == [str(notes)]
    first, second = summaries(str(notes))

    assert first["text"] == "# Till\n\nIt jams.\n```\n# no heading\n```"
    assert second["text"] == "## Drawer\nIt sticks."
    assert (first["source"], first["meta"]) == ("project-memory", {"file": "debugging.md"})
    assert first["cwd"] == CWD
    before = first["uid"]
    notes.write_text(notes.read_text() + "## More\nCoins.\n")
    assert [event["uid"] for event in summaries(str(notes))][:1] == [before]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"# only a heading", b"#" * 400_000])
def test_no_memory_file_breaks_a_capture(project: Path, content: bytes) -> None:
    notes = project / "memory/x.md"
    notes.parent.mkdir()
    notes.write_bytes(content)
    assert summaries(str(notes)) == []


def test_a_pipe_among_memory_files_keeps_nobody_waiting(project: Path) -> None:
    (project / "memory").mkdir()
    os.mkfifo(project / "memory/x.md")
    assert summaries(str(project / "memory/x.md")) == []


def test_codex_compactions_are_summaries(project: Path) -> None:
    lines = [
        {"type": "session_meta", "payload": {"id": SESSION, "cwd": CWD}},
        {
            "type": "compacted",
            "timestamp": "2026-03-01T09:00:00Z",
            "payload": {"message": "Fixed."},
        },
        {"type": "compacted", "payload": {"message": "", "replacement_history": []}},
    ]
    path = write(project / "rollout-2026-03-01T09-00-00-x.jsonl", lines)

    (event,) = summaries(path, "codex")

    assert (event["source"], event["text"], event["cwd"]) == ("compaction", "Fixed.", CWD)


def test_codex_notes_count_where_they_name_a_directory(project: Path) -> None:
    notes = project.parent.parent.parent / ".codex/memories"
    (notes / "rollout_summaries").mkdir(parents=True)
    handbook = notes / "MEMORY.md"
    handbook.write_text(
        "# Task Group: till\nscope: till\n\n## Task 1\nfiles: a.md (cwd=/home/ann/shop, x=1)\n"
        "## General Tips\nBe kind.\n"
    )
    recap = notes / "rollout_summaries/2026-till.md"
    recap.write_text("thread_id: 1\ncwd: /home/ann/my shop\n\n# Till\nIt was fixed.\n")

    assert related(str(project / "rollout-x.jsonl"), "codex") == [str(recap), str(handbook)]
    (task,) = summaries(str(handbook), "codex")
    assert (task["cwd"], task["source"]) == (CWD, "codex-memory")
    assert [event["cwd"] for event in summaries(str(recap), "codex")] == ["/home/ann/my shop"] * 2
