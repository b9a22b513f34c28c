"""Whoever comes through the forwarding of an ssh connection is a visitor from another machine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess
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


class Scene:
    """A daemon with a private project, and a process named `ssh`, as the kernel tells it."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.daemon = daemon
        self.private = str(repository(daemon.home.path.resolve() / "private"))
        daemon.call("memory_capture", text=SECRET, cwd=self.private, session_id="s")
        daemon.call("project_privacy", cwd=self.private, private=True)
        self._ssh = daemon.home.path / "ssh"
        os.symlink(sys.executable, self._ssh)

    def over_ssh(self, *messages: Json) -> list[Json]:
        done = subprocess.run(
            [str(self._ssh), "-I", "-c", _SAY, str(self.daemon.home.socket)],
            input=json.dumps(messages),
            capture_output=True,
            text=True,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def gone_when_heard(self, *messages: Json) -> None:
        """Say something and leave, while the daemon is not looking."""
        self.daemon.signal(signal.SIGSTOP)
        try:
            words = [sys.executable, "-I", "-c", _SAY, str(self.daemon.home.socket)]
            said = json.dumps([{**one, "id": 0} for one in messages])
            subprocess.run(words, input=said, text=True, check=True, timeout=10)
        finally:
            self.daemon.signal(signal.SIGCONT)

    def call(self, method: str, **params: object) -> Json:
        return self.over_ssh(request(method, **params))[0]


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
    status, pause = scene.over_ssh({"type": "status"}, {"type": "pause"})

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
        *scene.over_ssh(
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


def test_who_has_gone_before_anybody_looked_is_not_obeyed(scene: Scene) -> None:
    """An ssh that ends at once could not be told from a command of the owner's."""
    scene.gone_when_heard(request("project_privacy", cwd=scene.private, private=False))

    assert scene.daemon.call("project_privacy", cwd=scene.private)["private"] == [scene.private]
