"""What Copilot CLI's tool results say: exit codes, background shells, the person's answers."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp.hosts.transcripts import open_transcript

FAILED = "pattern ./...: directory prefix . does not contain main module"


def line(kind: str, second: int, **data: object) -> dict[str, object]:
    moment = f"2026-09-05T10:00:{second:02}.000Z"
    return {"type": kind, "data": data, "id": f"{kind}-{second}", "timestamp": moment}


def started(second: int, mark: str, tool: str, **arguments: object) -> dict[str, object]:
    return line("tool.execution_start", second, toolCallId=mark, toolName=tool, arguments=arguments)


def complete(second: int, mark: str, content: str, **more: object) -> dict[str, object]:
    data = {"toolCallId": mark, "success": True, "result": {"content": content}} | more
    return line("tool.execution_complete", second, **data)


def read(tmp_path: Path, *lines: Mapping[str, object]) -> list[Json]:
    path = tmp_path / "session-state" / "p-1" / "events.jsonl"
    path.parent.mkdir(parents=True)
    start = line("session.start", 0, sessionId="p-1", context={"cwd": "/w/api"})
    path.write_text("".join(json.dumps(one) + "\n" for one in (start, *lines)), encoding="utf-8")
    return list(open_transcript(str(path)))


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("<shellId: 0 completed with exit code 1>", 1),
        ("<shellId: build-2 completed with exit code 0>", 0),
        ("<shellId: 0 completed with exit code -1>\n", -1),
        ("<exited with exit code 127>", 127),
    ],
)
def test_the_exit_code_stands_in_the_last_line(tmp_path: Path, ending: str, code: int) -> None:
    (event,) = read(
        tmp_path,
        started(1, "c1", "bash", command="go vet ./..."),
        complete(2, "c1", f"{FAILED}\n{ending}"),
    )

    assert (event["work"]["exit"], event["work"]["seconds"]) == (code, 1.0)
    assert "shellId" not in event["work"].get("output", "")


def test_the_exit_code_beside_the_output_counts_most(tmp_path: Path) -> None:
    (event,) = read(
        tmp_path,
        started(1, "c1", "bash", command="false"),
        complete(2, "c1", "quiet", shellExecution={"exitCode": 3}),
    )

    assert event["work"]["exit"] == 3


@pytest.mark.parametrize(
    "printed",
    [
        "<shellId: 0 completed with exit code 1>\nand more",
        "he said <shellId: 0 completed with exit code 1>",
        "<shellId: 0 completed with exit code many>",
        "<shellId: 0 completed with exit code 99999999>",
    ],
)
def test_what_a_command_printed_is_no_exit_code(tmp_path: Path, printed: str) -> None:
    (event,) = read(
        tmp_path, started(1, "c1", "bash", command="cat log"), complete(2, "c1", printed)
    )

    assert event["work"]["exit"] == 0


@pytest.mark.parametrize(
    "running",
    [
        "<command with shellId: 7 is still running after 30 seconds. Use read_bash to wait.>",
        "<command started in background with shellId: 7>",
    ],
)
def test_a_shell_in_the_background_ends_when_it_is_read(tmp_path: Path, running: str) -> None:
    (event,) = read(
        tmp_path,
        started(1, "c1", "bash", command="go test ./...", mode="async"),
        complete(2, "c1", f"compiling\n{running}"),
        started(3, "c2", "read_bash", shellId="7", delay=10),
        complete(13, "c2", "ok a\n<command with shellId: 7 is still running after 10 seconds.>"),
        started(14, "c3", "read_bash", shellId="7", delay=10),
        complete(31, "c3", "FAIL b\n<shellId: 7 completed with exit code 2>"),
    )

    work = event["work"]
    assert (work["command"], work["exit"], work["seconds"]) == ("go test ./...", 2, 30.0)
    assert "FAIL b" in work["output"]


def test_a_shell_that_is_stopped_or_never_ends_has_no_exit_code(tmp_path: Path) -> None:
    events = read(
        tmp_path,
        started(1, "c1", "bash", command="npm run dev"),
        complete(2, "c1", "<command with shellId: 1 is still running after 1 seconds.>"),
        started(3, "c2", "stop_bash", shellId="1"),
        complete(4, "c2", "<command with id: 1 stopped>"),
        started(5, "c3", "bash", command="npm run watch"),
        complete(6, "c3", "<command started in detached background with shellId: 2>"),
    )

    assert [(e["work"]["command"], e["work"]["exit"]) for e in events] == [
        ("npm run dev", None),
        ("npm run watch", None),
    ]


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("User selected: Postgres", "Postgres"),
        ("User responded: neither: use a file\nand keep it small", "neither: use a file\nand keep it small"),
        ("Postgres", "Postgres"),
    ],
)  # fmt: skip
def test_an_answer_to_a_question_was_said_by_the_person(
    tmp_path: Path, content: str, answer: str
) -> None:
    question, reply, done = read(
        tmp_path,
        started(1, "q1", "ask_user", question="Which store?", choices=["Postgres", "SQLite"]),
        complete(9, "q1", content),
        started(10, "c1", "bash", command="make"),
        complete(11, "c1", "<shellId: 0 completed with exit code 0>"),
    )

    assert (question["role"], question["text"]) == ("assistant", "Which store?")
    assert (reply["role"], reply["text"]) == ("user", answer)
    assert reply["meta"] == {"answers": "Which store?"}
    assert done["turn"] == reply["id"]


def test_a_question_that_was_not_answered_was_not_answered(tmp_path: Path) -> None:
    failed = complete(9, "q1", "", success=False, error={"message": "Error asking user: closed"})

    assert read(tmp_path, started(1, "q1", "ask_user", question="Which store?"), failed) == []
