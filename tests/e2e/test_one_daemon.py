"""Exactly one daemon per user-data directory and per socket, whatever happens to it."""

import os
import signal
import socket
import subprocess
import sys

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome


def test_a_second_start_is_refused_at_once_and_names_the_running_pid(
    fresh_daemon: DaemonProcess,
) -> None:
    second = fresh_daemon.spawn()
    _, said = second.communicate(timeout=10)
    assert second.returncode != 0
    assert str(fresh_daemon.process.pid) in said
    assert "Traceback" not in said
    assert fresh_daemon.answers()


def test_two_started_at_the_same_moment_leave_exactly_one(home: ScratchHome) -> None:
    daemon = DaemonProcess(home)
    pair = [daemon.spawn(), daemon.spawn()]
    try:
        until(daemon.answers, "one of them answers")
        until(lambda: any(p.poll() is not None for p in pair), "the other one gives up")
        assert [p.poll() is None for p in pair].count(True) == 1
    finally:
        for process in pair:
            process.terminate()
            process.communicate(timeout=10)


def test_a_socket_left_behind_by_a_killed_daemon_does_not_block_a_start(
    fresh_daemon: DaemonProcess,
) -> None:
    fresh_daemon.kill()
    assert fresh_daemon.home.socket.exists()
    fresh_daemon.start()
    assert fresh_daemon.ask({"type": "status"})["ok"]


def test_a_plain_file_in_the_socket_s_place_does_not_block_a_start(home: ScratchHome) -> None:
    home.socket.write_text("not a socket")
    daemon = DaemonProcess(home).start()
    assert daemon.stop() == 0


def test_a_socket_served_by_a_daemon_of_another_store_is_refused_and_left_alone(
    fresh_daemon: DaemonProcess,
) -> None:
    other = ScratchHome()
    try:
        other.socket = fresh_daemon.home.socket
        refused = DaemonProcess(other).spawn()
        _, said = refused.communicate(timeout=10)
        assert refused.returncode != 0
        assert str(fresh_daemon.process.pid) in said
        assert fresh_daemon.answers()
    finally:
        other.remove()


def test_a_terminated_daemon_exits_cleanly_and_removes_its_socket(
    fresh_daemon: DaemonProcess,
) -> None:
    fresh_daemon.call("memory_capture", text="before the stop", session_id="s")
    assert fresh_daemon.stop() == 0
    assert not fresh_daemon.home.socket.exists()


def test_an_interrupted_daemon_stops_in_time_with_a_client_that_says_nothing(
    fresh_daemon: DaemonProcess,
) -> None:
    with fresh_daemon.line():
        fresh_daemon.signal(signal.SIGINT)
        assert fresh_daemon.process.wait(timeout=5) == 0
    fresh_daemon.ended()


def test_what_is_in_flight_is_answered_before_the_stop(fresh_daemon: DaemonProcess) -> None:
    with fresh_daemon.line() as line:
        events = [{"text": f"turn {n} " + "word " * 200, "role": "user"} for n in range(400)]
        line.send(
            {
                "jsonrpc": "2.0",
                "id": 7,
                "method": "capture_events",
                "params": {"session_id": "s", "events": events},
            }
        )
        until(
            lambda: fresh_daemon.ask({"type": "status"})["active_connections"] >= 2,
            "the call has arrived",
        )
        fresh_daemon.signal(signal.SIGTERM)
        assert line.receive()["result"]["inserted"] == 400


def test_a_client_that_floods_and_never_reads_does_not_hold_up_the_stop(
    fresh_daemon: DaemonProcess,
) -> None:
    turn = {"text": "lorem ipsum " * 100_000}
    fresh_daemon.call("capture_events", session_id="long", events=[turn])
    with fresh_daemon.line() as line:
        for number in range(40):
            line.send(
                {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "memory_timeline",
                    "params": {"session_id": "long"},
                }
            )
        assert line.receive()["result"]["records"]  # from here on nobody reads
        assert fresh_daemon.stop() == 0
    assert not fresh_daemon.home.socket.exists()


def test_the_directory_and_its_files_are_private_even_where_they_were_not(
    home: ScratchHome,
) -> None:
    home.store.mkdir(mode=0o755)
    os.chmod(home.store, 0o755)
    daemon = DaemonProcess(home).start()
    daemon.call("memory_capture", text="private", session_id="s")
    assert home.store.stat().st_mode & 0o777 == 0o700
    assert home.socket.stat().st_mode & 0o777 == 0o600
    loose = [p for p in home.store.rglob("*") if p.stat().st_mode & 0o077]
    assert loose == []
    daemon.stop()


def test_a_socket_path_that_is_too_long_is_refused_with_the_limit_and_the_variable(
    home: ScratchHome,
) -> None:
    long_path = str(home.path / ("x" * 120) / "d.sock")
    refused = DaemonProcess(home, IAI_DAEMON_SOCKET_PATH=long_path).spawn()
    _, said = refused.communicate(timeout=10)
    assert refused.returncode != 0
    assert "107" in said
    assert "IAI_DAEMON_SOCKET_PATH" in said


PASS_FD_3 = """
import os, sys
fd = int(sys.argv[1])
if fd != 3:
    os.dup2(fd, 3)
os.set_inheritable(3, True)
os.environ["LISTEN_FDS"] = sys.argv[2]
os.environ["LISTEN_PID"] = sys.argv[3].replace("own", str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", "iai_mcp.daemon"])
"""


def activated(
    home: ScratchHome, listener: socket.socket, fds: str, pid: str, **more: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PASS_FD_3, str(listener.fileno()), fds, pid],
        env={**home.environment, **more},
        pass_fds=[listener.fileno()],
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_socket_handed_over_by_a_service_manager_is_served_and_never_touched(
    home: ScratchHome,
) -> None:
    path = home.path / "activated.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    os.chmod(path, 0o640)
    listener.listen()
    home.socket = path
    daemon = DaemonProcess(home)
    daemon.process = activated(home, listener, "1", "own")
    until(daemon.answers, "the activated daemon answers")
    assert daemon.stop() == 0
    assert path.exists()
    assert path.stat().st_mode & 0o777 == 0o640
    listener.close()


def test_a_mismatch_in_the_activation_variables_makes_it_bind_by_itself(home: ScratchHome) -> None:
    for fds, pid in (("1", "1"), ("no", "own"), ("0", "own"), ("1", "x")):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(home.path / f"other-{fds}-{pid}.sock"))
        listener.listen()
        daemon = DaemonProcess(home)
        daemon.process = activated(home, listener, fds, pid)
        until(daemon.answers, f"it binds by itself with LISTEN_FDS={fds} LISTEN_PID={pid}")
        assert daemon.stop() == 0
        listener.close()
