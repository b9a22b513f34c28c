"""Sleep through the real daemon: asked for, waited for, seen from the command line, and killed."""

import json
import signal
import threading
import time

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

TALK = (
    "The staging database listens on port 5433 behind the bastion host.",
    "To reach the staging database, open the bastion tunnel first.",
    "The staging database password rotates weekly, the bastion keeps it.",
    "Yes.",
    "yes",
)


def fill(daemon: DaemonProcess) -> None:
    for n, text in enumerate(TALK):
        daemon.call("memory_capture", text=text, session_id=f"s{n}", project="/p")


def test_asked_without_waiting_the_lifecycle_sleeps_and_the_report_follows(
    fresh_daemon: DaemonProcess,
) -> None:
    fill(fresh_daemon)
    answer = fresh_daemon.call("memory_consolidate")
    assert answer["queued"] is True
    assert answer["state"] == "never"
    last = until(lambda: fresh_daemon.ask({"type": "status"})["last_sleep"], "a sleep was finished")
    assert last["report"]["folded"] == 1
    assert fresh_daemon.call("memory_consolidate")["state"] == "done"


def test_asked_with_waiting_the_report_is_the_answer(fresh_daemon: DaemonProcess) -> None:
    fill(fresh_daemon)
    report = fresh_daemon.call("memory_consolidate", wait=True)
    assert (report["queued"], report["state"], report["folded"]) == (False, "done", 1)
    assert fresh_daemon.call("topology")["communities"] == 1
    kinds = [event["kind"] for event in fresh_daemon.call("events_query")["events"]]
    assert "sleep_finished" in kinds


def test_killed_in_its_sleep_the_daemon_finishes_it_later(fresh_daemon: DaemonProcess) -> None:
    for n in range(150):
        events = [
            {"text": f"{text} Part {n}.", "role": "user", "id": f"{n}-{m}"}
            for m, text in enumerate(TALK)
        ]
        fresh_daemon.call("capture_events", session_id=f"s{n}", events=events, project="/p")
    fresh_daemon.call("memory_consolidate")
    until(
        lambda: fresh_daemon.call("sleep_report")["state"] != "never",
        "sleep has begun",
    )
    fresh_daemon.kill()
    fresh_daemon.start()
    report = fresh_daemon.call("memory_consolidate", wait=True)
    assert report["state"] == "done"
    assert fresh_daemon.call("topology")["records"] == 150 * len(TALK)
    assert [step for step in report["steps"] if step.get("failed")] == []


def test_people_run_and_see_sleep_with_and_without_a_daemon(home: ScratchHome) -> None:
    home.command("capture", "the heron nests at the north pond")
    never = home.command("sleep")
    assert never.returncode == 0, never.stderr
    assert "has not slept yet" in never.stdout
    ran = home.command("sleep", "--now")
    assert ran.returncode == 0, ran.stderr
    assert "last sleep: finished" in ran.stdout
    daemon = DaemonProcess(home).start()
    try:
        seen = json.loads(home.command("sleep", "--status", "--json").stdout)
        assert seen["state"] == "done"
        assert "for 60 s" in home.command("sleep", "--pause", "60").stdout
        assert daemon.ask({"type": "status"})["scheduler_paused"] is True
        assert home.command("sleep", "--resume").returncode == 0
        assert daemon.ask({"type": "status"})["scheduler_paused"] is False
        refused = home.command("sleep", "--pause", "-5")
        assert refused.returncode in (1, 2)
    finally:
        daemon.stop()
    assert home.command("sleep", "--pause").returncode == 1


def test_whoever_waits_for_a_sleep_gets_its_report_when_the_daemon_ends(
    fresh_daemon: DaemonProcess,
) -> None:
    for n in range(300):
        events = [
            {"text": f"{text} Part {n}.", "role": "user", "id": f"{n}-{m}"}
            for m, text in enumerate(TALK)
        ]
        fresh_daemon.call("capture_events", session_id=f"s{n}", events=events, project="/p")
    with fresh_daemon.line() as line:
        params = {"wait": True}
        line.send({"jsonrpc": "2.0", "id": 1, "method": "memory_consolidate", "params": params})
        until(lambda: fresh_daemon.call("sleep_report")["state"] != "never", "sleep has begun")
        began = time.monotonic()
        fresh_daemon.signal(signal.SIGTERM)
        assert line.receive()["result"]["state"] == "unfinished"
    assert fresh_daemon.process.wait(10) == 0
    assert time.monotonic() - began < 3
    fresh_daemon.stop()
    fresh_daemon.start()
    assert fresh_daemon.call("memory_consolidate", wait=True)["state"] == "done"


def test_status_knows_the_last_sleep_whoever_asked_for_it(home: ScratchHome) -> None:
    home.command("capture", "the heron nests at the north pond")
    alone = json.loads(home.command("sleep", "--now", "--json").stdout)
    daemon = DaemonProcess(home).start()
    try:
        last = daemon.ask({"type": "status"})["last_sleep"]
        assert last["report"]["finished"] == alone["finished"]
        waited = json.loads(home.command("sleep", "--now", "--json").stdout)
        last = daemon.ask({"type": "status"})["last_sleep"]
        assert last["report"]["finished"] == waited["finished"]
        daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
        until(lambda: daemon.ask({"type": "status"})["last_sleep"] != last, "it slept again")
        told = daemon.call("events_query", kind="sleep_finished")["events"]
        assert len({frozenset(event["data"]) for event in told}) == 1
        assert len(told) == 3
    finally:
        daemon.stop()


def test_a_sleep_that_is_waited_for_ends_although_others_keep_asking(
    fresh_daemon: DaemonProcess,
) -> None:
    fill(fresh_daemon)
    with fresh_daemon.line() as line:
        params = {"wait": True}
        line.send({"jsonrpc": "2.0", "id": 1, "method": "memory_consolidate", "params": params})
        stop = threading.Event()

        def keep_asking() -> None:
            while not stop.is_set():
                fresh_daemon.call("memory_recall", cue="bastion")

        asking = threading.Thread(target=keep_asking)
        asking.start()
        try:
            assert line.receive()["result"]["state"] == "done"
        finally:
            stop.set()
            asking.join()
    events = fresh_daemon.call("events_query", limit=1000)["events"]
    assert "sleep_interrupted" not in {event["kind"] for event in events}
