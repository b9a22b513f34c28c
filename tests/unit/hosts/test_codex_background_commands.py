"""A Codex command that goes on in the background has the exit and the duration of its end."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.answers import Json

from iai_mcp import zstd
from iai_mcp.hosts.transcripts import open_transcript

META = {
    "timestamp": "2026-03-01T09:29:00.000Z",
    "type": "session_meta",
    "payload": {"id": "s-1", "cwd": "/home/ann/shop"},
}
FAILED = "FAIL test_cart.py::test_total - assert 3 == 4\n1 failed, 2 passed in 30.1s"


def item(second: float, **payload: object) -> dict[str, object]:
    moment = f"2026-03-01T09:30:{second:06.3f}Z"
    return {"timestamp": moment, "type": "response_item", "payload": payload}


def called(second: float, mark: str, name: str, **given: object) -> dict[str, object]:
    arguments = json.dumps(given)
    return item(second, type="function_call", name=name, call_id=mark, arguments=arguments)


def returned(second: float, mark: str, head: str, output: str) -> dict[str, object]:
    text = f"Chunk ID: ab12\nWall time: 1.0 seconds\n{head}\nOriginal token count: 9\nOutput:\n{output}"
    return item(second, type="function_call_output", call_id=mark, output=text)


def running(second: float, mark: str, output: str = "", session: int = 42) -> dict[str, object]:
    return returned(second, mark, f"Process running with session ID {session}", output)


def exited(second: float, mark: str, output: str, code: int = 1) -> dict[str, object]:
    return returned(second, mark, f"Process exited with code {code}", output)


def poll(second: float, mark: str, session: int = 42) -> dict[str, object]:
    return called(second, mark, "write_stdin", session_id=session, chars="")


STARTED: list[Mapping[str, object]] = [
    META,
    called(1, "c1", "exec_command", cmd="pytest test_cart.py"),
    running(2, "c1", "collecting ...\n"),
]
ENDED: list[Mapping[str, object]] = [
    poll(3, "c2"),
    running(4, "c2", "still at it\n"),
    poll(5, "c3"),
    exited(31, "c3", FAILED),
]


def lines(*records: Mapping[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def commands(path: Path) -> list[Json]:
    return [
        event for event in open_transcript(str(path), "codex") if event.get("kind") == "command"
    ]


@pytest.fixture
def rollout(tmp_path: Path) -> Path:
    return tmp_path / "rollout-1.jsonl"


def test_the_end_arrives_by_a_poll(rollout: Path) -> None:
    rollout.write_text(lines(*STARTED, *ENDED))

    (event,) = commands(rollout)

    work = event["work"]
    assert (event["id"], work["command"]) == ("c1", "pytest test_cart.py")
    assert (work["exit"], work["seconds"]) == (1, 30.0)
    assert FAILED in work["output"]


def test_the_end_arrives_in_a_later_reading_and_no_output_is_kept_between(rollout: Path) -> None:
    rollout.write_text(lines(*STARTED, *ENDED[:2]))
    first = open_transcript(str(rollout), "codex")
    first.deadline = 1e12  # a hook's reading: more will come
    assert list(first) == []
    assert "collecting" not in json.dumps(first.carry)
    assert "pytest" not in json.dumps(first.carry)

    with rollout.open("a") as file:
        file.write(lines(*ENDED[2:]))
    carry = json.loads(json.dumps(first.carry))
    second = open_transcript(str(rollout), "codex", start=first.end, carry=carry)
    (event,) = list(second)

    work = event["work"]
    assert isinstance(work, dict)
    assert (work["exit"], work["seconds"]) == (1, 30.0)
    assert "still at it" in work["output"]
    assert FAILED in work["output"]
    assert "running" not in second.carry


def test_the_end_arrives_in_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(zstd.compress(lines(*STARTED, *ENDED).encode()))

    assert [event["work"]["exit"] for event in commands(path)] == [1]


@pytest.mark.parametrize("kind", ["exec_command_end", "item_completed"])
def test_the_end_arrives_as_an_event_of_the_command_itself(rollout: Path, kind: str) -> None:
    outcome = {"exit_code": 2, "aggregated_output": FAILED}
    payload: dict[str, object] = {"type": kind, "call_id": "c1", **outcome}
    if kind == "item_completed":
        payload = {"type": kind, "item": {"type": "CommandExecution", "id": "c1", **outcome}}
    event = {"timestamp": "2026-03-01T09:30:11.000Z", "type": "event_msg", "payload": payload}
    rollout.write_text(lines(*STARTED, event, *ENDED))

    (done,) = commands(rollout)

    assert (done["work"]["exit"], done["work"]["seconds"]) == (2, 10.0)
    assert done["work"]["output"].strip() == FAILED


def test_commands_that_run_side_by_side_keep_their_own_ends(rollout: Path) -> None:
    other = called(2.5, "d1", "exec_command", cmd="npm test")
    rollout.write_text(
        lines(
            *STARTED,
            other,
            running(2.6, "d1", session=43),
            poll(3, "d2", 43),
            exited(4, "d2", "ok", 0),
            *ENDED,
        )
    )

    done = {event["work"]["command"]: event["work"]["exit"] for event in commands(rollout)}

    assert done == {"npm test": 0, "pytest test_cart.py": 1}


def test_a_server_that_nothing_ends_is_kept_without_an_exit(rollout: Path) -> None:
    rollout.write_text(lines(*STARTED))

    (event,) = commands(rollout)

    assert (event["work"]["exit"], "seconds" in event["work"]) == (None, False)


@pytest.mark.parametrize(
    "carry",
    [
        {"running": 7},
        {"running": {"42": 7}},
        {"running": {"42": {"id": 1, "at": "x", "polls": {}}}},
        {"running": {"42": {"id": "c1", "at": -5, "polls": [None]}}},
        {"running": {"42": {"id": "c1", "at": 1 << 70, "polls": []}}},
    ],
)
def test_a_damaged_memory_of_running_commands_ends_nothing(rollout: Path, carry: Json) -> None:
    rollout.write_text(lines(*STARTED, *ENDED))
    start = len(lines(*STARTED))
    reading = open_transcript(str(rollout), "codex", start=start, carry=carry)

    assert list(reading) == []


def test_polls_of_nothing_and_thousands_of_running_commands_are_read(rollout: Path) -> None:
    many = [
        record
        for n in range(2000)
        for record in (
            called(1, f"c{n}", "exec_command", cmd=f"sleep {n}"),
            running(2, f"c{n}", session=n),
        )
    ]
    rollout.write_text(lines(META, poll(1, "p"), exited(2, "p", "x"), *many))

    assert len(commands(rollout)) == 2000
