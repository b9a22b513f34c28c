"""A damaged byte in the log of a daemon that was killed: what is lost is told, nothing more is."""

import json
import random
from pathlib import Path

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

TURNS = 30


def say(daemon: DaemonProcess, *texts: str) -> None:
    for text in texts:
        events = [{"text": text, "role": "user", "id": text}]
        assert daemon.call("capture_events", session_id="s", events=events)["inserted"] == 1


def log_of(home: ScratchHome) -> Path:
    return home.store / "memory.db-wal"


def stored(daemon: DaemonProcess) -> list[str]:
    records = daemon.call("memory_timeline", session_id="s", limit=1000)["records"]
    return [record["text"] for record in records]


def recovery(home: ScratchHome) -> dict[str, str]:
    checks = json.loads(home.command("doctor", "--json").stdout)["checks"]
    (found,) = [check for check in checks if check["name"] == "recovery"]
    return dict(found)


def test_lost_writes_are_told_and_what_held_them_is_kept(home: ScratchHome) -> None:
    daemon = DaemonProcess(home).start()
    until(lambda: not log_of(home).stat().st_size, "the log is empty")
    turns = [f"turn {number}" for number in range(TURNS)]
    say(daemon, *turns)
    daemon.kill()
    damaged = bytearray(log_of(home).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    log_of(home).write_bytes(damaged)

    daemon.start()
    kept = stored(daemon)
    assert kept == turns[: len(kept)]
    assert len(kept) < TURNS
    (event,) = daemon.call("events_query", kind="writes_lost")["events"]
    copy = home.store / event["data"]["copy"]
    assert copy.read_bytes() == damaged
    found = recovery(home)
    assert found["status"] == "WARN"
    assert str(copy) in found["detail"]
    assert "iai-mcp import" in found["fix"]
    assert "writes_lost" in (home.store / "logs/daemon.log").read_text()
    say(daemon, *turns[len(kept) :])  # as an import does
    daemon.stop()

    daemon.start()
    assert stored(daemon) == turns
    assert len(daemon.call("events_query", kind="writes_lost")["events"]) == 1
    copy.unlink()
    assert recovery(home)["status"] == "PASS"
    daemon.stop()


def test_a_killed_daemon_loses_nothing_and_tells_of_no_loss(home: ScratchHome) -> None:
    chance = random.Random(3)
    daemon = DaemonProcess(home)
    turns: list[str] = []
    for round_ in range(6):
        daemon.start()
        many = [{"text": f"{round_} {n} " + "w " * 4000, "id": f"{round_} {n}"} for n in range(300)]
        request = {"session_id": "crowd", "events": many}
        with daemon.line() as line:
            line.send({"jsonrpc": "2.0", "id": 1, "method": "capture_events", "params": request})
            said = [f"turn {round_} {number}" for number in range(chance.randrange(1, 12))]
            say(daemon, *said)
            turns += said
            daemon.kill()
    daemon.start()
    assert stored(daemon) == turns
    assert daemon.call("events_query", kind="writes_lost")["events"] == []
    assert recovery(home)["status"] == "PASS"
    daemon.stop()


def test_what_was_written_is_soon_in_the_file_itself(home: ScratchHome) -> None:
    daemon = DaemonProcess(home).start()
    say(daemon, "soon in the file")
    until(lambda: not log_of(home).stat().st_size, "the log is empty")
    daemon.kill()
    log_of(home).unlink()
    daemon.start()
    assert stored(daemon) == ["soon in the file"]
    daemon.stop()
