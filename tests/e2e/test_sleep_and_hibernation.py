"""The daemon sleeps, gives its memory back and wakes, and clients notice nothing."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.test_taking_over import free_port, over_http
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

QUICKLY = {
    "IAI_MCP_DROWSY_AFTER": "1",
    "IAI_MCP_SLEEP_AFTER": "1",
    "IAI_MCP_HIBERNATE_AFTER": "2",
}


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(x for x in status.splitlines() if x.startswith("VmRSS")).split()[1]) / 1024


def is_dormant(pid: int) -> bool:
    return b"IAI_MCP_DORMANT=1" in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_request_to_sleep_is_carried_out_and_reported(fresh_daemon: DaemonProcess) -> None:
    fresh_daemon.call("memory_capture", text="something to sleep on", session_id="s")
    answer = fresh_daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
    assert answer["reason"] == "rem_queued"
    last = until(lambda: fresh_daemon.ask({"type": "status"})["last_sleep"], "a sleep was finished")
    assert last["started"] <= last["ended"]
    kinds = [e["kind"] for e in fresh_daemon.call("events_query")["events"]]
    assert "sleep_started" in kinds
    assert "sleep_finished" in kinds


def test_what_is_known_about_sleep_survives_a_restart(fresh_daemon: DaemonProcess) -> None:
    fresh_daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
    last = until(lambda: fresh_daemon.ask({"type": "status"})["last_sleep"], "a sleep was finished")
    fresh_daemon.kill()
    fresh_daemon.start()
    assert fresh_daemon.ask({"type": "status"})["last_sleep"] == last


def test_watching_and_asking_again_for_sleep_do_not_disturb_it(fresh_daemon: DaemonProcess) -> None:
    events = [
        {"text": f"turn {n} about herons and ponds " * 20, "role": "user"} for n in range(800)
    ]
    fresh_daemon.call("capture_events", session_id="s", events=events)
    fresh_daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
    asleep = lambda: fresh_daemon.ask({"type": "status"})["state"] == "SLEEP"  # noqa: E731
    until(asleep, "it sleeps")
    assert fresh_daemon.ask({"type": "force_rem", "ts": "2026-01-01T00:00:01Z"})["ok"]
    until(lambda: fresh_daemon.ask({"type": "status"})["last_sleep"], "it has slept", deadline=60)
    kinds = [event["kind"] for event in fresh_daemon.call("events_query", limit=1000)["events"]]
    assert kinds.count("sleep_finished") == 1
    assert kinds.count("sleep_interrupted") == 0
    assert fresh_daemon.ask({"type": "status"})["state"] == "SLEEP"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc, which is Linux's")
class TestHibernation:
    @pytest.fixture
    def dormant(self, home: ScratchHome) -> Iterator[DaemonProcess]:
        daemon = DaemonProcess(home, **QUICKLY).start()
        daemon.call("memory_capture", text="the heron nests in april", session_id="s")
        until(lambda: is_dormant(daemon.process.pid), "it lies down", deadline=40)
        until(lambda: resident_megabytes(daemon.process.pid) < 60, "its memory is given back")
        yield daemon
        daemon.stop()

    def test_it_stays_the_same_process_and_answers_the_next_call(
        self, dormant: DaemonProcess
    ) -> None:
        pid = dormant.process.pid
        hits = dormant.call("memory_recall", cue="heron")["hits"]
        assert hits[0]["text"] == "the heron nests in april"
        assert dormant.ask({"type": "status"})["pid"] == pid
        assert dormant.call("memory_capture", text="more", session_id="s")["status"] == "inserted"

    def test_whoever_only_looks_does_not_keep_it_up(self, dormant: DaemonProcess) -> None:
        assert dormant.ask({"type": "status"})["state"] == "HIBERNATION"
        assert not is_dormant(dormant.process.pid)
        until(lambda: is_dormant(dormant.process.pid), "it lies down again")

    def test_no_second_daemon_can_start_meanwhile(self, dormant: DaemonProcess) -> None:
        second = dormant.spawn()
        _, said = second.communicate(timeout=10)
        assert second.returncode != 0
        assert str(dormant.process.pid) in said

    def test_it_stops_cleanly_while_dormant(self, dormant: DaemonProcess) -> None:
        assert dormant.stop() == 0
        assert not dormant.home.socket.exists()

    # Seconds after it has begun to lie down: while calls end, while the store closes, around the change
    # of image, in the waiting process before it hears anything, and when it waits.
    @pytest.mark.parametrize("moment", [0.0, 0.06, 0.12, 0.25])
    def test_a_stop_that_arrives_while_it_lies_down_is_heard(
        self, home: ScratchHome, moment: float
    ) -> None:
        daemon = DaemonProcess(home, **QUICKLY).start()
        with daemon.line(deadline=40) as watching:
            assert watching.ask({"type": "status"})["ok"]
            assert watching.at_end()  # it lies down: those who only listen are let go
        threading.Event().wait(moment)
        daemon.process.terminate()
        try:
            daemon.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            daemon.kill()
            pytest.fail("told to stop while it lay down, it went on waiting")
        daemon.ended()

    def test_after_waking_a_stop_still_removes_the_socket(self, dormant: DaemonProcess) -> None:
        assert dormant.ask({"type": "status"})["ok"]
        assert dormant.stop() == 0
        assert not dormant.home.socket.exists()

    def test_whoever_comes_over_http_wakes_it_too(self, home: ScratchHome) -> None:
        port = free_port()
        daemon = DaemonProcess(home, IAI_MCP_HTTP=f"127.0.0.1:{port}", **QUICKLY).start()
        say = over_http(home, port)
        until((home.store / "http-token").exists, "HTTP is served")
        say("the heron nests in april")
        until(lambda: is_dormant(daemon.process.pid), "it lies down", deadline=40)
        say("the heron left in august")
        assert len(daemon.call("memory_timeline", session_id="s")["records"]) == 2
        assert daemon.stop() == 0


@pytest.mark.parametrize(
    "marks",
    [
        {"IAI_MCP_DORMANT": "1"},
        {"IAI_MCP_DORMANT": "1", "IAI_MCP_LOCK_FDS": "x"},
        {"IAI_MCP_DORMANT": "1", "IAI_MCP_LOCK_FDS": "0,1", "LISTEN_FDS": "1", "LISTEN_PID": "own"},
        {"IAI_MCP_WOKEN": "1", "IAI_MCP_LOCK_FDS": "-1,9999", "LISTEN_PID": "own"},
        {"IAI_MCP_WOKEN": "1", "IAI_MCP_LOCK_FDS": "0,1", "LISTEN_PID": "own"},
        {"IAI_MCP_WOKEN": "1", "IAI_MCP_LOCK_FDS": "x", "LISTEN_PID": "own"},
    ],
)
def test_marks_of_hibernation_that_are_not_the_daemons_own_are_refused_in_a_sentence(
    home: ScratchHome, marks: dict[str, str]
) -> None:
    own = "import os, sys; pid = str(os.getpid())\n"
    own += "os.environ.update((k, pid) for k, v in os.environ.items() if v == 'own')\n"
    own += "os.execv(sys.executable, [sys.executable, '-m', 'iai_mcp.daemon'])"
    said = subprocess.run(
        [sys.executable, "-c", own],
        env={**home.environment, **marks},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 1, said.stderr
    assert "unset them" in said.stderr


def test_a_mark_that_was_inherited_from_a_woken_daemon_changes_nothing(home: ScratchHome) -> None:
    daemon = DaemonProcess(home, IAI_MCP_WOKEN="1", IAI_MCP_LOCK_FDS="x", LISTEN_PID="1").start()
    assert daemon.ask({"type": "status"})["state"] == "WAKE"
    assert daemon.stop() == 0
