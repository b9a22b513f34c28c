"""Capture end to end, with the real daemon: stored once, whatever is killed at whatever moment."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.integration.capture.conftest import PATIENCE, Machine, eventually, turn

from iai_mcp.client import connection

ROUNDS = 16


def start_daemon(machine: Machine) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.daemon"],
        env=machine.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    eventually(lambda: process.poll() is not None or connection.is_up(), "it does not answer")
    assert process.poll() is None, "the daemon did not start"
    return process


@contextmanager
def running(machine: Machine) -> Iterator["subprocess.Popen[bytes]"]:
    process = start_daemon(machine)
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0


def texts_of(session: str) -> list[str]:
    found = connection.call("memory_timeline", {"session_id": session, "limit": 100_000})
    records = found["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]


def wait_until_drained(machine: Machine) -> None:
    eventually(lambda: not machine.spooled(), "the spool does not drain")


def test_turns_go_straight_to_a_daemon_that_runs_and_only_new_ones_are_added(
    machine: Machine,
) -> None:
    path = machine.transcript(turns=4)
    with running(machine):
        first = machine.capture("--session-id", "s-1", str(path))
        path.write_text(path.read_text() + turn("one more"))
        second = machine.capture("--session-id", "s-1", str(path))

        assert (first["inserted"], second["inserted"], second["reinforced"]) == (4, 1, 4)
        assert texts_of("s-1") == ["turn 0 ", "turn 1 ", "turn 2 ", "turn 3 ", "one more"]
    assert machine.spooled() == []


def test_without_a_daemon_the_command_stores_by_itself(machine: Machine) -> None:
    path = machine.transcript(turns=2)

    result = machine.capture("--session-id", "s-1", str(path))
    missing = machine.capture("--session-id", "s-1", str(machine.root / "absent"))

    assert result == {"inserted": 2, "reinforced": 0, "skipped": 0, "errors": 0}
    assert (missing["inserted"], missing["errors"]) == (0, 1)
    assert not machine.spool.exists()
    with running(machine):
        assert len(texts_of("s-1")) == 2


def test_what_waited_in_the_spool_is_stored_soon_after_the_daemon_starts(machine: Machine) -> None:
    path = machine.transcript(turns=3)
    machine.capture("--no-spawn", "--session-id", "s-1", str(path))
    machine.capture("--no-spawn", "--session-id", "s-1", str(path))
    (machine.spool / "junk-1.jsonl").write_text("no spool file")

    with running(machine):
        wait_until_drained(machine)

        assert texts_of("s-1") == ["turn 0 ", "turn 1 ", "turn 2 "]
        assert connection.control("status")["spool"] == {"waiting": 0, "set_aside": 1}


@pytest.mark.timeout(240)
def test_killing_hooks_and_daemons_loses_nothing_and_doubles_nothing(machine: Machine) -> None:
    chance = random.Random(20260301)
    path = machine.root / "t.jsonl"
    path.write_text("")
    lifetime = _lifetime_of_a_hook(machine, path)
    said: list[str] = []
    endings: list[int] = []
    daemon: subprocess.Popen[bytes] | None = None
    try:
        for number in range(ROUNDS):
            with path.open("a") as file:
                for _ in range(chance.randint(1, 20)):
                    words = f"turn {len(said)} " + "x" * chance.choice((0, 100, 5000))
                    said.append(words)
                    minute, second = divmod(len(said), 60)
                    at = f"2026-03-01T09:{minute:02d}:{second:02d}Z"
                    file.write(turn(words, chance.choice(("user", "assistant")), timestamp=at))
                if chance.random() < 0.3:
                    file.write('{"type": "user", "half\n')
            if daemon is None and number % 4 == 1:
                daemon = start_daemon(machine)
            hook = machine.start("--no-spawn", "--session-id", "s-1", str(path))
            # Spread over the hook's own life, so that kills meet it while it works.
            killer = threading.Timer(chance.uniform(0.2, 1.6) * lifetime, hook.kill)
            killer.start()
            if daemon is not None and number % 4 == 3:
                _kill_after(daemon, chance.uniform(0.2, 1.6) * lifetime)
                daemon = None
            hook.communicate(timeout=PATIENCE)
            killer.cancel()
            killer.join()
            endings.append(hook.returncode)
        if daemon is None:
            daemon = start_daemon(machine)
        machine.capture("--no-spawn", "--session-id", "s-1", str(path))
        wait_until_drained(machine)

        assert texts_of("s-1") == said
        assert connection.control("status")["spool"] == {"waiting": 0, "set_aside": 0}
        assert set(endings) == {0, -signal.SIGKILL}, "some hooks have to finish and some to die"
    finally:
        if daemon is not None:
            daemon.terminate()
            daemon.wait(timeout=PATIENCE)


def _lifetime_of_a_hook(machine: Machine, path: Path) -> float:
    taken: list[float] = []
    for _ in range(5):
        began = time.monotonic()
        machine.capture("--no-spawn", "--session-id", "s-1", str(path))
        taken.append(time.monotonic() - began)
    return sorted(taken)[2]


def _kill_after(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)
    process.kill()
    process.wait(timeout=PATIENCE)


def test_a_full_disk_is_said_and_leaves_no_half_file(machine: Machine) -> None:
    path = machine.transcript(turns=200, size=2000)
    limited = (
        "import resource, sys; from iai_mcp.cli import main; "
        "from iai_mcp.capture import delivery; delivery.READ_UNTIL = 30.0; "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)); "
        f"sys.exit(main(['capture-transcript', '--no-spawn', {str(path)!r}]))"
    )

    done = subprocess.run(
        [sys.executable, "-c", limited], env=machine.environment(), capture_output=True, text=True
    )

    assert done.returncode == 0
    assert '"status":"failed"' in done.stdout
    assert '"errors":200' in done.stdout
    assert [p.name for p in Path(machine.spool).iterdir()] == []
