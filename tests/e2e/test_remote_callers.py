"""Callers on other machines come through a second socket, and are visitors whatever they say."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.test_sleep_and_hibernation import QUICKLY, is_dormant
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, Line, until
from tests.support.git import repository
from tests.support.home import ScratchHome

from iai_mcp.protocol.mcp import CONTEXT_META

SECRET = "the heron vault opens with the word nightjar"
OVER_THERE = "ssh://far/srv/shop"

_SAY = """
import json, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
heard = line.makefile("rb")
for message in json.load(sys.stdin):
    line.sendall(json.dumps(message).encode() + b"\\n")
    if message.get("id") or "type" in message:
        sys.stdout.write(heard.readline().decode())
"""

_PASS_TWO = """
import fcntl, os, sys
given = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 20) for number in sys.argv[1:]]
for place, descriptor in zip((3, 4), given):
    os.dup2(descriptor, place)
os.environ.update(LISTEN_FDS="2", LISTEN_PID=str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", "iai_mcp.daemon"])
"""


class Scene:
    """A daemon with a private project, and callers at its two sockets."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.daemon = daemon
        self.remote_socket = Path(f"{daemon.home.socket}.remote")
        self.private = str(repository(daemon.home.path.resolve() / "private"))
        daemon.call("memory_capture", text=SECRET, cwd=self.private, session_id="s")
        daemon.call("project_privacy", cwd=self.private, private=True)

    def remotely(self, *messages: Json) -> list[Json]:
        return self.said_by(sys.executable, self.remote_socket, *messages)

    def said_by(self, program: str, socket: Path, *messages: Json) -> list[Json]:
        done = subprocess.run(
            [program, "-I", "-c", _SAY, str(socket)],
            input=json.dumps(messages),
            capture_output=True,
            text=True,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def call(self, method: str, **params: object) -> Json:
        return self.remotely(request(method, **params))[0]


def request(method: str, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture
def scene(home: ScratchHome) -> Iterator[Scene]:
    daemon = DaemonProcess(home).start()
    yield Scene(daemon)
    daemon.stop()


def test_it_gets_what_hooks_ask_for_and_nothing_that_only_the_owner_may(scene: Scene) -> None:
    for method in ("memory_recall", "memory_forget", "memory_export", "project_privacy"):
        refused = scene.call(method, cue="heron", query="nightjar", cwd=scene.private)
        assert "another machine" in refused["error"]["message"], method
    status, pause = scene.remotely({"type": "status"}, {"type": "pause"})

    assert status["ok"] and "pid" not in status and "records" not in status
    assert not pause["ok"]
    assert not scene.daemon.ask({"type": "status"})["scheduler_paused"]
    assert scene.daemon.call("memory_recall", cue="heron vault", cwd=scene.private)["hits"]


def test_it_can_not_say_that_it_is_in_a_project_of_this_machine(scene: Scene) -> None:
    named = {"project": "vaults", "text": "the second vault opens with the word dotterel"}
    scene.daemon.call("memory_capture", **named, session_id="n")
    scene.daemon.call("project_privacy", project="vaults", private=True)
    told = [
        scene.call("prompt_injection", prompt="second vault word?", cwd="vaults", project="vaults"),
        scene.call("session_start_payload", cwd="vaults", project="vaults"),
        scene.call("session_start_payload", cwd=scene.private, project=scene.private),
        scene.call("prompt_injection", prompt="heron vault nightjar?", cwd=scene.private),
        *scene.remotely(
            request(
                "initialize",
                protocolVersion="2025-06-18",
                capabilities={},
                clientInfo={"name": "x", "version": "1"},
                _meta={CONTEXT_META: {"cwd": scene.private, "project": scene.private}},
            ),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            request(
                "tools/call",
                name="memory_recall",
                arguments={"cue": "heron vault nightjar", "project": scene.private},
            ),
        ),
    ]

    assert all("result" in answer for answer in told), told
    assert "opens with the word" not in json.dumps(told)


def test_what_it_captures_is_never_put_into_a_project_of_this_machine(scene: Scene) -> None:
    turns = [
        {"text": "the kestrel build wants port 7001", "cwd": scene.private},
        {"text": "a kestrel was seen over the harbour at noon", "project": scene.private},
        {"text": "Ann named her new boat Kestrel"},
    ]
    header = {"session_id": "far", "cwd": OVER_THERE}
    counts = scene.call("capture_events", **header, events=turns)["result"]

    assert counts["inserted"] == 3
    hits = scene.daemon.call("memory_recall", cue="kestrel", project="*")["hits"]
    found = [hit["project"] for hit in hits if "kestrel" in hit["text"].lower()]
    assert found == [OVER_THERE] * 3


@pytest.mark.parametrize("name", ["ssh", "ssh.orig", "python3"])
def test_a_process_name_decides_nothing(scene: Scene, name: str) -> None:
    program = scene.daemon.home.path / name
    os.symlink(sys.executable, program)
    asked = request("memory_recall", cue="heron vault nightjar", cwd=scene.private)

    (local,) = scene.said_by(str(program), scene.daemon.home.socket, asked)
    (remote,) = scene.said_by(str(program), scene.remote_socket, asked)

    assert SECRET in json.dumps(local)
    assert "another machine" in remote["error"]["message"]


def test_a_remote_caller_that_claims_to_be_the_owner_is_a_visitor(scene: Scene) -> None:
    for claimed in ({"visitor": False}, {"caller": "person"}, {"cwd": scene.private}):
        told = scene.call("prompt_injection", prompt="heron vault nightjar word?", **claimed)
        assert "opens with the word" not in json.dumps(told)
    for method in ("daemon_hand_over", "session_exit", "profile_set", "doctor", "no_such_method"):
        assert "error" in scene.call(method, store=str(scene.daemon.home.path), schema=10_000)
    assert scene.daemon.ask({"type": "status"})["ok"]


def test_the_second_socket_is_private_comes_back_when_deleted_and_goes_with_the_daemon(
    scene: Scene,
) -> None:
    assert stat.S_IMODE(scene.remote_socket.stat().st_mode) == 0o600
    scene.remote_socket.unlink()
    until(scene.remote_socket.exists, "the socket is made again")
    assert scene.remotely({"type": "status"})[0]["ok"]
    scene.daemon.stop()
    assert not scene.remote_socket.exists()


def test_a_socket_left_by_a_killed_daemon_is_replaced(scene: Scene) -> None:
    scene.daemon.kill()
    assert scene.remote_socket.exists()
    scene.daemon.start()
    assert scene.remotely({"type": "status"})[0]["ok"]


def test_a_remote_caller_wakes_a_daemon_that_hibernates_and_is_still_a_visitor(
    home: ScratchHome,
) -> None:
    daemon = DaemonProcess(home, **QUICKLY).start()
    scene = Scene(daemon)
    until(lambda: is_dormant(daemon.process.pid), "it lies down", deadline=40)

    assert "another machine" in scene.call("memory_recall", cue="heron")["error"]["message"]
    told = scene.call("prompt_injection", prompt="heron vault nightjar word?", cwd=scene.private)
    assert "result" in told and SECRET not in json.dumps(told)

    until(lambda: is_dormant(daemon.process.pid), "it lies down again", deadline=40)
    assert daemon.stop() == 0
    assert not scene.remote_socket.exists()


def test_remote_callers_stay_remote_when_another_daemon_takes_over(scene: Scene) -> None:
    with Line(str(scene.remote_socket)) as before:
        assert before.ask({"type": "status"})["ok"]
        heir = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon", "--take-over"],
            env=scene.daemon.home.environment,
        )
        until(lambda: scene.daemon.process.poll() is not None, "the first daemon ends")
    try:
        until(lambda: scene.daemon.ask({"type": "status"})["pid"] == heir.pid, "the heir serves")
        assert "pid" not in scene.remotely({"type": "status"})[0]
        assert "another machine" in scene.call("memory_recall", cue="heron")["error"]["message"]
    finally:
        heir.terminate()
        heir.wait()
    assert not scene.remote_socket.exists()


def test_without_room_for_its_name_there_is_no_second_socket_and_the_first_one_serves(
    home: ScratchHome,
) -> None:
    home.socket = home.path / ("s" * (107 - len(str(home.path)) - 1))
    daemon = DaemonProcess(home).start()
    try:
        assert daemon.ask({"type": "status"})["ok"]
        assert not Path(f"{home.socket}.remote").exists()
    finally:
        daemon.stop()


def test_a_service_manager_may_pass_the_second_socket(home: ScratchHome) -> None:
    home.socket = home.path / "activated.sock"
    listeners = []
    for path in (home.socket, Path(f"{home.socket}.remote")):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        listeners.append(listener)
    daemon = DaemonProcess(home)
    daemon.process = subprocess.Popen(
        [sys.executable, "-c", _PASS_TWO, *(str(each.fileno()) for each in listeners)],
        env=home.environment,
        pass_fds=[each.fileno() for each in listeners],
        stderr=subprocess.PIPE,
        text=True,
    )
    until(daemon.answers, "the activated daemon answers")
    scene = Scene(daemon)

    assert "another machine" in scene.call("memory_recall", cue="heron")["error"]["message"]
    assert daemon.stop() == 0
    assert scene.remote_socket.exists()
    for listener in listeners:
        listener.close()
