"""Transcripts and directories that somebody else put there, from the hook's and the drain's side."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.capture.conftest import Machine
from tests.support.silent_mount import silent_mount

from iai_mcp.capture import spool
from iai_mcp.daemon.background_tasks import SpoolDrain
from iai_mcp.domain.errors import PlaceSilent


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


def a_pipe_behind_a_link(place: Path) -> None:
    os.mkfifo(place.with_suffix(".pipe"))
    place.symlink_to(place.with_suffix(".pipe"))


def an_endless_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def a_waiting_device(place: Path) -> None:
    place.symlink_to("/dev/ptmx")


def holes_without_end(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 43)


KINDS = [a_pipe, a_pipe_behind_a_link, an_endless_device, a_waiting_device, holes_without_end]


@pytest.mark.parametrize("make", KINDS)
def test_a_hook_whose_transcript_is_no_transcript_says_so_and_ends(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    transcript = machine.root / "t.jsonl"
    make(transcript)
    given = {
        "session_id": "s1",
        "transcript_path": str(transcript),
        "cwd": str(machine.root),
        "last_assistant_message": "Done.",
    }
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "hook", "claude-code", "Stop"],
        env=machine.environment(),
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    noted = (machine.store / "logs/capture.log").read_text()
    assert f"transcript: {transcript}" in noted or f"not a file: {transcript}" in noted


@pytest.mark.parametrize("make", KINDS)
def test_a_hook_in_a_directory_whose_ignore_file_is_none_captures_nothing_and_ends(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    make(machine.root / ".iai-ignore")
    result = machine.capture("--no-spawn", str(machine.transcript("elsewhere/t.jsonl")))
    assert (result["status"], result["reason"]) == ("skipped", "ignored by .iai-ignore")


@pytest.mark.parametrize("make", KINDS)
def test_a_transcript_left_to_the_daemon_that_is_none_holds_up_no_other(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    transcript = machine.root / "t.jsonl"
    make(transcript)
    put("a", transcript)
    put("b", machine.transcript("good.jsonl", turns=2))

    done = SpoolDrain(lambda _, events: {"inserted": len(events)}).drain_once()

    assert (done.inserted, done.set_aside, done.files) == (2, 1, 1)


def test_a_file_that_waits_for_a_silent_place_holds_up_no_other(machine: Machine) -> None:
    """Neither one whose transcript lies there, nor one whose turns were said there."""

    def deliver(header: dict[str, object], events: list[dict[str, object]]) -> dict[str, object]:
        if header["session_id"] == "said-there":
            raise PlaceSilent("/gone does not answer")
        return {"inserted": len(events)}

    drain = SpoolDrain(deliver)
    try:
        with silent_mount(machine.root / "gone") as place:
            put("reads-there", place / "t.jsonl")
            put("said-there", machine.transcript("one.jsonl", turns=1))
            put("elsewhere", machine.transcript("two.jsonl", turns=2))
            done = drain.drain_once()
    except PermissionError as refused:
        pytest.skip(str(refused))
    assert (done.inserted, done.files, done.waiting, done.set_aside) == (2, 1, 2, 0)
    assert len(machine.spooled()) == 2


def put(session: str, transcript: Path) -> None:
    """A spool file that says only where to read on."""
    unread = [{"path": str(transcript), "host": "claude-code", "start": 0, "carry": {}}]
    spool.write({"session_id": session, "unread": unread}, [])
