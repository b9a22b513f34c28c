"""Files that are taken away from a running daemon: it says so or makes them anew, and loses nothing."""

import shutil
import signal
import time

from tests.support.daemon import DaemonProcess, Line, until
from tests.support.home import ScratchHome


def test_a_deleted_socket_is_made_anew(home: ScratchHome, fresh_daemon: DaemonProcess) -> None:
    fresh_daemon.call("memory_capture", text="the heron nests in april", session_id="s")
    with fresh_daemon.line() as line:
        home.socket.unlink()
        until(home.socket.exists, "the socket is there again")
        assert home.socket.stat().st_mode & 0o777 == 0o600
        assert fresh_daemon.call("memory_recall", cue="heron")["hits"]
        assert line.ask({"type": "status"})["ok"]
    assert fresh_daemon.stop() == 0
    assert not home.socket.exists()


def test_what_stands_in_the_place_of_a_deleted_socket_is_left_alone(
    home: ScratchHome, fresh_daemon: DaemonProcess
) -> None:
    home.socket.unlink()
    home.socket.write_text("somebody's")
    assert fresh_daemon.stop() == 0
    assert home.socket.read_text() == "somebody's"


def test_nothing_is_acknowledged_that_goes_into_a_store_nobody_finds(
    home: ScratchHome, fresh_daemon: DaemonProcess
) -> None:
    fresh_daemon.call("memory_capture", text="the heron nests in april", session_id="s")
    away = home.path / "away"
    shutil.move(home.store, away)
    refused = fresh_daemon.rpc("memory_capture", text="the heron left", session_id="s")["error"]
    assert (refused["code"], refused["data"]["code"]) == (-32001, "IO")
    assert "was moved or deleted" in refused["message"]
    assert "iai-mcp up" in refused["message"]
    checks = {check["name"]: check for check in fresh_daemon.call("doctor")["checks"]}
    assert checks["integrity"]["status"] == "FAIL"
    assert "put it back" in checks["integrity"]["fix"]
    shutil.rmtree(home.store, ignore_errors=True)  # an empty one may have been made for the logs
    shutil.move(away, home.store)
    assert fresh_daemon.call("memory_capture", text="it is back", session_id="s")["record_id"]
    assert fresh_daemon.stop() == 0
    again = DaemonProcess(home).start()
    records = again.call("memory_timeline", session_id="s")["records"]
    assert [record["text"] for record in records] == ["the heron nests in april", "it is back"]
    again.stop()


def test_a_stop_in_the_middle_of_a_huge_capture_takes_five_seconds_at_most(
    home: ScratchHome, fresh_daemon: DaemonProcess
) -> None:
    events = [
        {"id": str(n), "text": f"turn {n} of a long import", "role": "user"} for n in range(20_000)
    ]
    call = {"session_id": "s", "events": events}
    with Line(str(home.socket)) as line:
        line.send({"jsonrpc": "2.0", "id": 1, "method": "capture_events", "params": call})
        until(lambda: fresh_daemon.ask({"type": "status"})["records"] > 0, "it has begun")
        began = time.monotonic()
        fresh_daemon.signal(signal.SIGTERM)
        assert fresh_daemon.process.wait(10) == 0
        assert time.monotonic() - began < 5
    fresh_daemon.stop()
    again = DaemonProcess(home).start()
    stored = again.call("memory_timeline", session_id="s", limit=100_000)["records"]
    texts = [record["text"] for record in stored]
    # The latest of them, as many as an answer holds: no turn before them is missing.
    count = again.ask({"type": "status"})["records"]
    assert texts == [event["text"] for event in events[count - len(texts) : count]]
    rest = {"session_id": "s", "events": events[: count + 100]}
    done = again.call("capture_events", **rest)
    assert done["duplicates"] == count
    again.stop()
