"""Spool files and transcripts of gigabytes: read in pieces, and nothing in the way of the rest."""

import json
import os
import subprocess
import sys

from tests.integration.capture.conftest import Machine, turn

from iai_mcp.daemon.background_tasks import SpoolDrain

HEADER = b'{"version": 1, "session_id": "s"}\n'
GIGABYTE = 1 << 30

_DRAIN = """
import json, resource, sys
from iai_mcp.daemon.background_tasks import SpoolDrain

texts = []
def take(header, events):
    texts.extend((len(event["text"]), event["text"][:20]) for event in events)
    return {"inserted": len(events)}

drain = SpoolDrain(take)
drain.drain_once()  # of nothing: what is imported late is here from now on
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = most()
print("ready", flush=True)
sys.stdin.readline()
done = drain.drain_once()
print(json.dumps([texts, done.set_aside, most() - before]))
"""


def _drained(
    machine: Machine, name: str, *parts: bytes | int
) -> tuple[list[list[object]], int, float]:
    """Drain one file made of `parts` (a number is a hole): (turns, set aside, megabytes it took)."""
    child = subprocess.Popen(
        [sys.executable, "-c", _DRAIN],
        env=machine.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    machine.spool.mkdir(parents=True, exist_ok=True)
    with (machine.spool / name).open("wb") as file:
        for part in parts:
            if isinstance(part, int):
                file.seek(part, os.SEEK_CUR)
            else:
                file.write(part)
        file.truncate(file.tell())
    out, _ = child.communicate("\n", timeout=120)
    assert child.returncode == 0
    texts, aside, growth = json.loads(out)
    return texts, aside, growth


def _spooled(text: str) -> bytes:
    return json.dumps({"text": text, "role": "user"}).encode() + b"\n"


def test_a_hole_of_a_gigabyte_is_set_aside_and_takes_no_memory(machine: Machine) -> None:
    texts, aside, growth = _drained(machine, "hole.jsonl", HEADER, _spooled("before"), GIGABYTE)

    assert texts == [[6, "before"]]
    assert aside == 1
    assert growth < 30
    (reason,) = (machine.spool / "failed").glob("*.reason")
    assert "line 3" in reason.read_text()


def test_what_stands_behind_a_hole_is_stored(machine: Machine) -> None:
    texts, aside, growth = _drained(
        machine, "torn.jsonl", HEADER, GIGABYTE, _spooled("right behind"), _spooled("after")
    )

    assert texts == [[12, "right behind"], [5, "after"]]
    assert aside == 1  # what the hole took with it nobody knows
    assert growth < 30


def test_a_line_without_an_end_is_set_aside_and_the_next_one_stored(machine: Machine) -> None:
    endless = [b'{"text": "', *[b"x" * (1 << 20)] * 300, b'"}\n']
    texts, aside, growth = _drained(machine, "long.jsonl", HEADER, *endless, _spooled("after"))

    assert texts == [[5, "after"]]
    assert aside == 1
    assert growth < 150
    (reason,) = (machine.spool / "failed").glob("*.reason")
    assert "line 2" in reason.read_text()
    assert "long" in reason.read_text()


def test_a_file_that_is_nothing_but_a_hole_is_set_aside(machine: Machine) -> None:
    texts, aside, growth = _drained(machine, "empty.jsonl", GIGABYTE)

    assert (texts, aside) == ([], 1)
    assert growth < 30


def test_a_turn_of_thirty_megabytes_is_stored(machine: Machine) -> None:
    texts, aside, _ = _drained(machine, "large.jsonl", HEADER, _spooled("word " * 6_000_000))

    assert texts == [[30_000_000, "word word word word "]]
    assert aside == 0


def test_a_transcript_with_a_hole_that_the_daemon_reads_on_takes_no_memory(
    machine: Machine,
) -> None:
    path = machine.root / "t.jsonl"
    with path.open("wb") as file:
        file.write(turn("before").encode())
        file.seek(GIGABYTE, os.SEEK_CUR)
        file.write(turn("after").encode())
    unread = [{"path": str(path), "host": "claude-code", "start": 0, "carry": {}}]
    header = {"version": 1, "session_id": "s", "unread": unread}

    texts, aside, growth = _drained(machine, "rest.jsonl", json.dumps(header).encode() + b"\n")

    assert [text for _, text in texts] == ["before", "after"]
    assert aside == 0
    assert growth < 30


def test_a_stop_does_not_wait_until_a_huge_file_is_read(machine: Machine) -> None:
    taken: list[object] = []

    def take(header: dict[str, object], events: list[dict[str, object]]) -> dict[str, object]:
        taken.extend(events)
        drain.stopping.set()
        return {"inserted": len(events)}

    drain = SpoolDrain(take, str(machine.spool))
    machine.spool.mkdir(parents=True)
    path = machine.spool / "a.jsonl"
    good = [_spooled(f"{n} " + "word " * 1_000_000) for n in range(2)]
    path.write_bytes(HEADER + b"".join(good) + b"{" + b"x" * (8 << 20))

    done = drain.drain_once()

    assert len(taken) == 1
    assert path.exists()
    assert (done.files, done.set_aside) == (0, 0)
