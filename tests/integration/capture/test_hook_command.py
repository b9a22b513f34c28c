"""capture-transcript --no-spawn, as hooks run it: a real process, a real socket, a real spool."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.capture.conftest import Machine, lines_of, turn
from tests.integration.capture.listener import Listener, params, silent, stored

from iai_mcp.adapters.spool_drain import SpooledFile
from iai_mcp.capture import delivery, transcript_progress, write_deferred_captures
from iai_mcp.daemon.background_tasks import SpoolDrain

# The contract's limit for the process; tests leave room for a machine that is busy otherwise.
LIMIT = 0.8


Deliver = tuple[Machine, Callable[[Path], dict[str, object]]]


@pytest.fixture
def unhurried(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Deliver:
    """Capture in this process, with all the time that a busy machine may need for the reading."""
    monkeypatch.setattr(delivery, "READ_UNTIL", 30.0)
    return machine, lambda path: delivery.deliver_transcript(str(path), "s-1")


def test_without_a_daemon_the_turns_wait_in_one_spool_file(machine: Machine) -> None:
    path = machine.transcript(turns=3)

    result = machine.capture("--no-spawn", "--session-id", "s-1", str(path))

    (file,) = machine.spooled()
    header, events = lines_of(file)
    assert result["status"] == "deferred"
    assert result["path"] == str(file)
    assert result["events"] == 3
    assert file.name.startswith("s-1-")
    assert header["version"] == 1
    assert header["session_id"] == "s-1"
    assert header["cwd"] == str(machine.root)
    assert str(header["deferred_at"]).endswith("Z")
    assert [e["text"] for e in events] == ["turn 0 ", "turn 1 ", "turn 2 "]
    assert all(e.keys() >= {"text", "cue", "tier", "role", "ts", "id"} for e in events)
    assert file.stat().st_mode & 0o777 == 0o600
    assert machine.spool.stat().st_mode & 0o777 == 0o700


def test_a_daemon_that_answers_gets_the_turns_and_no_spool_file_is_written(
    machine: Machine,
) -> None:
    path = machine.transcript(turns=3)

    with Listener(machine.socket, stored) as daemon:
        result = machine.capture(
            "--no-spawn", "--session-id", "s-1", "--host", "claude-code", str(path)
        )

    assert (result["status"], result["inserted"], result["errors"]) == ("captured", 3, 0)
    assert machine.spooled() == []
    (request,) = daemon.requests
    assert request["method"] == "capture_events"
    assert params(request)["session_id"] == "s-1"
    assert [e["text"] for e in daemon.events] == ["turn 0 ", "turn 1 ", "turn 2 "]


def test_a_daemon_that_accepts_and_never_answers_costs_less_than_a_second(machine: Machine) -> None:
    path = machine.transcript()

    with Listener(machine.socket, silent):
        began = time.monotonic()
        result = machine.capture("--no-spawn", "--session-id", "s-1", str(path))
        took = time.monotonic() - began

    assert result["status"] == "deferred"
    assert result["events"] == 3
    assert took < LIMIT + 1.2


def test_a_socket_that_nobody_serves_is_no_daemon(machine: Machine) -> None:
    import socket

    left_behind = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left_behind.bind(str(machine.socket))
    left_behind.close()

    assert machine.capture("--no-spawn", str(machine.transcript()))["status"] == "deferred"


def test_when_the_daemon_refuses_half_way_the_rest_goes_to_the_spool(machine: Machine) -> None:
    path = machine.transcript(turns=1100)

    def first_only(request: dict[str, object]) -> dict[str, object]:
        if request["id"] == 0:
            return stored(request)
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32001, "message": "full"}}

    with Listener(machine.socket, first_only):
        result = machine.capture("--no-spawn", "--session-id", "s-1", str(path))

    acknowledged = result["inserted"]
    assert result["status"] == "deferred"
    assert acknowledged in (0, 500), "500, unless the machine was too busy for the first answer"
    assert deferred(result) == [f"turn {n} " for n in range(int(str(acknowledged)), 1100)]


def test_a_long_transcript_is_handed_over_in_parts(machine: Machine) -> None:
    path = machine.transcript(turns=10, size=2 * 1024 * 1024)

    with Listener(machine.socket, stored) as daemon:
        result = machine.capture("--no-spawn", "--session-id", "s-1", str(path))

    # On a busy machine time may run out: what is left waits in the spool, in words or by name.
    assert daemon.longest < 16 * 1024 * 1024
    heads = {str(e["text"])[:6] for e in [*daemon.events, *drained(machine)]}
    assert heads == {f"turn {n}" for n in range(10)}
    assert result["errors"] == 0


def deferred(result: dict[str, object]) -> list[object]:
    """The texts that one capture left for the daemon, also those that it only named."""
    file = SpooledFile(Path(str(result["path"])))
    return [event["text"] for _, batch in file.batches() for event in batch]


def drained(machine: Machine) -> list[dict[str, object]]:
    """What the daemon would find in the spool."""
    found: list[dict[str, object]] = []

    def take(_: dict[str, object], events: list[dict[str, object]]) -> dict[str, object]:
        found.extend(events)
        return {}

    assert SpoolDrain(take).drain_once().set_aside == 0
    return found


def test_a_turn_too_long_for_a_call_goes_through_the_spool_whole(machine: Machine) -> None:
    path = machine.transcript(turns=1, size=17 * 1024 * 1024)

    with Listener(machine.socket, stored):
        result = machine.capture("--no-spawn", "--session-id", "s-1", str(path))

    assert result["status"] == "deferred"
    (event,) = drained(machine)
    assert event["text"] == "turn 0 " + "x" * (17 * 1024 * 1024)


def test_what_there_is_no_time_to_read_is_left_to_the_daemon(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.transcript(turns=500, size=4000)
    monkeypatch.setattr(delivery, "READ_UNTIL", 0.0)

    result = delivery.deliver_transcript(str(path), "s-1")

    assert result["status"] == "deferred"
    assert result["errors"] == 0
    assert 0 < int(str(result["events"])) < 500
    assert [e["text"] for e in drained(machine)] == [f"turn {n} " + "x" * 4000 for n in range(500)]


def test_turns_that_the_daemon_reads_itself_are_prepared_alike(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.root / "t.jsonl"
    secret = machine.root / "secret"
    secret.mkdir()
    (secret / ".iai-ignore").touch()
    long = turn("x" * 2_000_000)
    path.write_text(long + turn("mine", agentId="sub-1") + turn("not this", cwd=str(secret)))
    monkeypatch.setattr(delivery, "READ_UNTIL", 0.0)
    monkeypatch.setenv("IAI_MCP_AGENT_ID", "a-1")

    delivery.deliver_transcript(str(path), "s-1")

    assert len(lines_of(machine.spooled()[0])[1]) == 1, "the rest is only named"
    _, event = drained(machine)
    assert (event["text"], event["agent_id"], event["host"]) == ("mine", "a-1", "claude-code")
    assert event["meta"] == {"subagent": "sub-1"}


def test_every_spooled_turn_has_a_time_even_where_the_transcript_has_none(
    machine: Machine,
) -> None:
    path = machine.root / "t.jsonl"
    path.write_text('{"type": "user", "message": {"role": "user", "content": "hi"}}\n')
    os.utime(path, (1_767_225_600, 1_767_225_600))

    machine.capture("--no-spawn", "--session-id", "s-1", "--host", "crush", str(path))

    _, (event,) = lines_of(machine.spooled()[0])
    assert event == {
        "text": "hi",
        "cue": "hi",
        "tier": "episodic",
        "role": "user",
        "host": "crush",
        "occurrence": 0,
        "ts": "2026-01-01T00:00:00.000Z",
    }


def test_too_much_for_the_spool_is_left_where_it_is(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.transcript(turns=50, size=1000)
    monkeypatch.setattr(delivery, "SPOOL_LIMIT", 10_000)

    result = delivery.deliver_transcript(str(path), "s-1")

    assert result["events"] == 0
    assert machine.spooled()[0].stat().st_size < 10_000
    assert len(drained(machine)) == 50


def test_the_hosts_last_message_is_waited_for(machine: Machine) -> None:
    path = machine.transcript(turns=1)
    late = turn('and so it is: "done"\n', "assistant")

    def write_late() -> None:
        with path.open("a") as file:
            file.write(late)

    timer = threading.Timer(0.1, write_late)
    timer.start()
    result = delivery.deliver_transcript(str(path), "s-1", wait_for='and so it is: "done"')
    timer.join()

    assert result["events"] == 2


def test_a_last_message_that_never_comes_is_not_waited_for_long(machine: Machine) -> None:
    path = machine.transcript(turns=1)

    began = time.monotonic()
    result = delivery.deliver_transcript(str(path), "s-1", wait_for="never written")

    assert result["events"] == 1
    assert time.monotonic() - began < LIMIT + 1.2


def test_a_missing_transcript_is_an_error_in_the_answer_and_a_header_in_the_spool(
    machine: Machine,
) -> None:
    result = machine.capture("--no-spawn", "--session-id", "s-1", str(machine.root / "absent"))

    assert (result["status"], result["events"], result["errors"]) == ("deferred", 0, 1)
    (file,) = machine.spooled()
    assert lines_of(file)[1] == []
    assert "No such file" in (machine.store / "logs" / "capture.log").read_text()


def test_broken_lines_count_as_skipped_not_as_errors(machine: Machine) -> None:
    path = machine.transcript(turns=2)
    with path.open("ab") as file:
        file.write(b"\x00\xff broken\n[1]\n" + turn("whole").encode() + b'{"type": "user", "mes')

    result = machine.capture("--no-spawn", str(path))

    assert (result["events"], result["skipped"], result["errors"]) == (3, 3, 0)


def test_nonsense_on_the_command_line_still_exits_zero_with_json(machine: Machine) -> None:
    for arguments in (["--no-spawn"], ["--no-spawn", "--nope", "x"], ["--no-spawn", "/dev/null/x"]):
        result = machine.capture(*arguments)

        assert int(str(result["errors"])) >= 1


def test_a_store_that_can_not_be_written_is_said_and_breaks_nothing(machine: Machine) -> None:
    machine.store.write_text("a file where the directory should be")

    result = machine.capture("--no-spawn", str(machine.transcript()))

    assert result["status"] == "failed"
    assert result["errors"] == 3


def test_a_session_id_can_not_leave_the_spool(machine: Machine) -> None:
    path = machine.transcript(turns=1)

    for nasty in ("../../evil", "/etc/passwd", "..", ".hidden", "a/b", "x" * 500, "né\nw"):
        result = machine.capture("--no-spawn", "--session-id", nasty, str(path))

        file = Path(str(result["path"]))
        assert file.parent == machine.spool
        assert not file.name.startswith(".")
        assert lines_of(file)[0]["session_id"] == nasty


def test_the_agent_that_was_launched_here_is_on_every_turn(machine: Machine) -> None:
    path = machine.root / "t.jsonl"
    path.write_text(turn("mine") + turn("a helper's", agentId="sub-1"))

    machine.capture(
        "--no-spawn",
        str(path),
        IAI_MCP_AGENT_ID="a-1",
        IAI_MCP_AGENT_NAME="Backend Dev",
        IAI_MCP_PROJECT="/home/ann/shop",
    )

    header, events = lines_of(machine.spooled()[0])
    assert header["project"] == "/home/ann/shop"
    assert [(e["agent_id"], e["agent_name"]) for e in events] == [("a-1", "Backend Dev")] * 2
    assert events[1]["meta"] == {"subagent": "sub-1"}


def test_subagents_files_travel_with_their_session_and_once(unhurried: Deliver) -> None:
    machine, capture = unhurried
    path = machine.transcript("p/s-1.jsonl", turns=1)
    helper = machine.transcript("p/s-1/subagents/agent-a1.jsonl", turns=2)

    first, second = capture(path), capture(path)
    helper.write_text(helper.read_text() + turn("late"))
    third = capture(path)

    assert [r["events"] for r in (first, second, third)] == [3, 1, 4]
    events = lines_of(Path(str(first["path"])))[1]
    assert [e.get("agent_id") for e in events] == [None, "a1", "a1"]


def test_paused_and_ignored_sessions_leave_nothing_behind(machine: Machine) -> None:
    path = machine.transcript()
    ignored = machine.root / "secret"
    ignored.mkdir()
    (ignored / ".iai-ignore").touch()
    elsewhere = machine.root / "mixed.jsonl"
    elsewhere.write_text(turn("kept") + turn("not this", cwd=str(ignored)))

    machine.capture("--no-spawn", "--session-id", "mixed", str(elsewhere))
    (mixed,) = machine.spooled()
    assert [e["text"] for e in lines_of(mixed)[1]] == ["kept"]

    (machine.store / "capture-paused").touch()
    result = machine.capture("--no-spawn", str(path))
    assert (result["status"], result["reason"]) == ("skipped", "paused")
    assert machine.spooled() == [mixed]


def test_turns_that_name_no_directory_are_kept_out_with_that_of_their_session(
    machine: Machine,
) -> None:
    ignored = machine.root / "ignored"
    ignored.mkdir()
    (ignored / ".iai-ignore").touch()

    path = write_deferred_captures("s-1", machine.transcript(), str(ignored))

    assert lines_of(path)[1] == []


def test_a_growing_transcript_is_read_on_from_where_it_was_left(unhurried: Deliver) -> None:
    machine, capture = unhurried
    path = machine.transcript(turns=400, size=1000)
    capture(path)

    with path.open("a") as file:
        file.write(turn("new one"))

    assert (deferred(capture(path)), deferred(capture(path))) == (["new one"], [])


def test_a_rewritten_or_cut_transcript_is_read_from_its_start(unhurried: Deliver) -> None:
    machine, capture = unhurried
    path = machine.transcript(turns=400, size=1000)
    capture(path)

    path.write_text(path.read_text().replace("turn 0", "turn zero"))
    rewritten = deferred(capture(path))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:350]))
    cut = deferred(capture(path))
    other = machine.root / "new"
    other.write_text(path.read_text() + turn("one more"))
    os.replace(other, path)
    replaced = deferred(capture(path))

    assert [len(texts) for texts in (rewritten, cut, replaced)] == [400, 350, 351]


def test_a_damaged_progress_state_is_a_fresh_start(machine: Machine) -> None:
    path = machine.transcript(turns=400, size=1000)
    size = path.stat().st_size
    transcript_progress.save(str(path), size, {"cwd": "/home/ann"})
    assert transcript_progress.load(str(path)) == (size, {"cwd": "/home/ann"})
    (state,) = (machine.store / ".capture-progress").iterdir()
    assert state.stat().st_mode & 0o777 == 0o600

    state.write_text(state.read_text()[:50])

    assert transcript_progress.load(str(path)) == (0, {})


def test_progress_states_of_sessions_long_over_are_removed(machine: Machine) -> None:
    old, new = (
        machine.transcript("old.jsonl", 400, 1000),
        machine.transcript("new.jsonl", 400, 1000),
    )
    transcript_progress.save(str(old), old.stat().st_size, {})
    (state,) = (machine.store / ".capture-progress").iterdir()
    os.utime(state, (1, 1))
    transcript_progress.save(str(new), new.stat().st_size, {})

    transcript_progress.prune()

    assert transcript_progress.load(str(old)) == (0, {})
    assert transcript_progress.load(str(new))[0] > 0


def test_short_transcripts_are_always_sent_whole(machine: Machine) -> None:
    path = machine.transcript(turns=3)

    counts = [machine.capture("--no-spawn", str(path))["events"] for _ in range(3)]

    assert counts == [3, 3, 3]
    assert len(machine.spooled()) == 3


def test_help_is_for_people(machine: Machine) -> None:
    process = machine.start("--no-spawn", "--help")
    out, _ = process.communicate(timeout=30)

    assert process.returncode == 0
    assert out.startswith("usage: iai-mcp capture-transcript")


def test_a_closed_stdout_is_nobodys_failure(machine: Machine) -> None:
    path = machine.transcript()
    with machine.start("--no-spawn", str(path)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaint = process.stderr.read()

    assert (process.returncode, complaint) == (0, "")
    assert len(machine.spooled()) == 1


def test_hooks_import_nothing_heavy(machine: Machine) -> None:
    import subprocess
    import sys

    path = machine.transcript()
    probe = (
        "import sys; from iai_mcp.cli import main; "
        f"main(['capture-transcript', '--no-spawn', {str(path)!r}]); "
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", probe],
        env=machine.environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["status"] == "deferred"
    loaded = set(eval(done.stderr))
    heavy = {"json", "re", "typing", "socket", "pathlib", "argparse", "hashlib", "dataclasses"}
    assert not loaded & (heavy | {"asyncio", "sqlite3", "logging", "collections", "iai_mcp.core"})
