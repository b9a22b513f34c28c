"""A daemon takes another one's place: nobody is refused, nothing is lost, nothing is said twice."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_mcp_bridges import INITIALIZE, INITIALIZED
from tests.e2e.test_one_daemon import activated
from tests.integration.mcp_sessions.processes import BridgeProcess
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, Line, until
from tests.support.home import SOURCE, ScratchHome
from tests.support.older import OLD, Caller, Say, older_source

from iai_mcp import __version__
from iai_mcp.concurrency import ProcessLock
from iai_mcp.daemon import handover
from iai_mcp.domain.errors import DiskFull


def capture(words: str, identity: int = 1) -> dict[str, object]:
    params = {"text": words, "session_id": "s"}
    return {"jsonrpc": "2.0", "id": identity, "method": "memory_capture", "params": params}


def dialling_each_time(home: ScratchHome) -> Say:
    def say(words: str) -> None:
        with Line(str(home.socket)) as line:
            assert line.ask(capture(words))["result"]["status"] == "inserted"

    return say


class OnOneLine:
    """Keeps its connection; dials again when the daemon has hung up and so did not hear it."""

    def __init__(self, home: ScratchHome) -> None:
        self._home = home
        self.line = Line(str(home.socket))

    def __call__(self, words: str) -> None:
        try:
            self.line.send(capture(words))
        except ConnectionError:
            self.line.close()
            self.line = Line(str(self._home.socket))
            self.line.send(capture(words))
        assert self.line.receive()["result"]["status"] == "inserted"


class OverABridge:
    """An agent: its bridge knows nothing of daemons that come and go."""

    def __init__(self, home: ScratchHome) -> None:
        self.bridge = BridgeProcess(home.environment)
        self.bridge.say(INITIALIZE, INITIALIZED)
        assert "result" in self.bridge.hear()
        self._number = 0

    def __call__(self, words: str) -> None:
        self._number += 1
        arguments = {"text": words, "session_id": "an agent's own"}
        params = {"name": "memory_capture", "arguments": arguments}
        self.bridge.say(
            {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        )
        answer = self.bridge.hear()
        assert answer["result"]["structuredContent"]["status"] == "inserted", answer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def over_http(home: ScratchHome, port: int) -> Say:
    """Stateless MCP over HTTP, one connection per call."""

    def say(words: str) -> None:
        bearer = (home.store / "http-token").read_text().strip()
        params = {"name": "memory_capture", "arguments": {"text": words, "session_id": "s"}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {
            "Authorization": f"Bearer {bearer}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Connection": "close",
        }
        connection.request("POST", "/mcp", json.dumps(call), headers)
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        assert answer.status == 200 and "result" in json.loads(said), said

    return say


def stored(home: ScratchHome) -> Counter[str]:
    shown = home.command("timeline", "--all", "--limit", "100000", "--json").stdout
    return Counter(record["text"] for record in json.loads(shown)["records"])


def test_whoever_calls_all_the_while_does_not_notice_the_swap(
    home: ScratchHome, old_daemon: DaemonProcess
) -> None:
    one_line, bridge = OnOneLine(home), OverABridge(home)
    callers = [
        Caller("who dials each time", dialling_each_time(home)),
        Caller("another who dials", dialling_each_time(home)),
        Caller("who keeps a line", one_line),
        Caller("an agent", bridge),
    ]
    try:
        for caller in callers:
            caller.says_more()
        swapped = home.command("up", "--json")
        for caller in callers:
            caller.says_more()
    finally:
        for caller in callers:
            caller.finish()
        one_line.line.close()
        bridge.bridge.close()
    assert swapped.returncode == 0, swapped.stdout
    result = json.loads(swapped.stdout)
    assert (result["swapped"], result["version"]) == (True, __version__)
    assert result["pid"] != old_daemon.process.pid
    assert old_daemon.process.wait(10) == 0
    assert [caller.failed for caller in callers] == ["", "", "", ""]
    assert stored(home) == Counter(words for caller in callers for words in caller.said)
    assert home.command("down").returncode == 0
    assert not home.socket.exists()


def test_whoever_calls_over_http_does_not_notice_either(home: ScratchHome, tmp_path: Path) -> None:
    port = free_port()
    setting: dict[str, Any] = {"IAI_MCP_HTTP": f"127.0.0.1:{port}"}
    old = DaemonProcess(home, PYTHONPATH=str(older_source(tmp_path)), **setting).start()
    until((home.store / "http-token").exists, "HTTP is served")
    callers = [Caller(f"caller {number}", over_http(home, port)) for number in (1, 2)]
    try:
        for caller in callers:
            caller.says_more()
        swapped = home.command("up", "--json", **setting)
        for caller in callers:
            caller.says_more()
    finally:
        for caller in callers:
            caller.finish()
    assert json.loads(swapped.stdout)["swapped"]
    assert [caller.failed for caller in callers] == ["", ""]
    assert stored(home) == Counter(words for caller in callers for words in caller.said)
    home.command("down")
    old.stop()


def asking_to_take_over(home: ScratchHome, **changed: object) -> Line:
    line = Line(str(home.socket))
    params = {"store": os.path.realpath(home.store), "schema": 1000, **changed}
    line.send({"jsonrpc": "2.0", "id": 1, "method": "daemon_hand_over", "params": params})
    return line


def test_a_daemon_whose_heir_dies_goes_on(home: ScratchHome, fresh_daemon: DaemonProcess) -> None:
    fresh_daemon.call("memory_capture", text="the heron nests in april", session_id="s")
    with asking_to_take_over(home) as line:
        assert line.receive()["result"]["handing_over"]
    assert fresh_daemon.call("memory_recall", cue="heron")["hits"]
    assert fresh_daemon.ask({"type": "status"})["pid"] == fresh_daemon.process.pid
    assert fresh_daemon.stop() == 0
    assert not home.socket.exists()


@pytest.mark.parametrize("handed", [True, False], ids=["after", "before"])
def test_an_heir_serves_when_the_old_daemon_is_killed_around_the_handing_over(
    home: ScratchHome, handed: bool
) -> None:
    home.store.mkdir(mode=0o700)
    locks = [ProcessLock(home.store / ".lock"), ProcessLock(f"{home.socket}.lock")]
    assert all(lock.try_acquire_exclusive() for lock in locks)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home.socket))
        listener.listen()
        listener.settimeout(20)
        heir = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.daemon", "--take-over"], env=home.environment
        )
        asking, _ = listener.accept()
        with asking, asking.makefile("rb") as asked:
            answer = {"jsonrpc": "2.0", "id": json.loads(asked.readline())["id"], "result": {}}
            asking.sendall(json.dumps(answer).encode() + b"\n")
            if handed:
                held = [listener.fileno(), *(lock.descriptor for lock in locks)]
                socket.send_fds(asking, [b"here\n"], held)
            listener.close()
            for lock in locks:
                lock.close()
    try:
        asker = DaemonProcess(home)
        until(lambda: heir.poll() is not None or asker.answers(), "the heir answers")
        assert heir.poll() is None
        assert asker.ask({"type": "status"})["pid"] == heir.pid
    finally:
        heir.terminate()
        assert heir.wait(20) == 0


def test_a_daemon_on_a_full_disk_is_not_succeeded_because_nobody_could_open_the_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path))
    asked = {"store": os.path.realpath(tmp_path), "schema": 1000}
    handover.check(asked)
    monkeypatch.setattr(handover, "_free", lambda _: 100_000)
    with pytest.raises(DiskFull, match="goes on"):
        handover.check(asked)


def test_an_heir_that_can_not_open_the_store_leaves_it_to_the_old_daemon(
    home: ScratchHome, tmp_path: Path
) -> None:
    secret: dict[str, Any] = {"IAI_MCP_CRYPTO_PASSPHRASE": "a long enough sentence"}
    assert home.command("crypto", "init", "--source", "passphrase", **secret).returncode == 0
    old = DaemonProcess(home, PYTHONPATH=str(older_source(tmp_path)), **secret).start()
    old.call("memory_capture", text="the heron nests in april", session_id="s")
    failed = home.command("up")
    assert failed.returncode != 0
    assert "IAI_MCP_CRYPTO_PASSPHRASE" in failed.stderr + failed.stdout
    assert old.call("memory_recall", cue="heron")["hits"]
    status = old.ask({"type": "status"})
    assert (status["version"], status["pid"]) == (OLD, old.process.pid)
    assert old.stop() == 0


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"schema": 1}, "upgrade iai-mcp"), ({"store": "/elsewhere"}, "serves another store")],
)
def test_whoever_can_not_follow_is_refused_and_nothing_changes(
    home: ScratchHome, fresh_daemon: DaemonProcess, changed: Json, why: str
) -> None:
    with asking_to_take_over(home, **changed) as line:
        assert why in line.receive()["error"]["message"]
    assert fresh_daemon.ask({"type": "status"})["pid"] == fresh_daemon.process.pid


def test_a_daemon_that_is_too_old_to_be_asked_is_stopped_and_replaced(
    home: ScratchHome, tmp_path: Path
) -> None:
    source = older_source(
        tmp_path, connection=("self._server.may_be_succeeded and", "self._server is None and")
    )
    old = DaemonProcess(home, PYTHONPATH=str(source)).start()
    old.call("memory_capture", text="the heron nests in april", session_id="s")
    swapped = json.loads(home.command("up", "--json").stdout)
    assert (swapped["swapped"], swapped["version"]) == (True, __version__)
    assert old.process.wait(10) == 0
    assert DaemonProcess(home).call("memory_recall", cue="heron")["hits"]
    home.command("down")
    old.stop()


class ServiceManager:
    """Holds the socket, and starts a daemon whenever somebody dials and none runs."""

    def __init__(self, home: ScratchHome, first: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(home.socket))
        self.listener.listen()
        self._home = home
        self._enough = threading.Event()
        self.started: list[subprocess.Popen[str]] = [self._start(PYTHONPATH=str(first))]
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _start(self, **more: str) -> "subprocess.Popen[str]":
        return activated(self._home, self.listener, "1", "own", **more)

    def _run(self) -> None:
        while not self._enough.is_set():
            if self.started[-1].poll() is not None:
                self.started.append(self._start())
            self._enough.wait(0.02)

    def close(self) -> None:
        self._enough.set()
        self._thread.join()
        for process in self.started:
            process.terminate()
            process.wait(10)
            assert process.stderr is not None
            process.stderr.close()
        self.listener.close()


def test_one_that_a_service_manager_started_is_started_by_it_again(
    home: ScratchHome, tmp_path: Path
) -> None:
    manager = ServiceManager(home, older_source(tmp_path))
    caller = None
    try:
        outside = DaemonProcess(home)
        until(outside.answers, "the old daemon answers")
        caller = Caller("who dials", dialling_each_time(home))
        caller.says_more()
        swapped = json.loads(home.command("up", "--json").stdout)
        caller.says_more()
    finally:
        if caller:
            caller.finish()
        manager.close()
    assert caller.failed == ""
    assert (swapped["swapped"], swapped["version"]) == (True, __version__)
    assert swapped["pid"] == manager.started[1].pid
    assert len(manager.started) == 2


def test_one_of_the_same_version_under_a_service_manager_is_also_started_anew(
    home: ScratchHome,
) -> None:
    manager = ServiceManager(home, SOURCE)
    try:
        outside = DaemonProcess(home)
        until(outside.answers, "the daemon answers")
        swap = "import json; from iai_mcp.cli import up; print(json.dumps(up.swap()))"
        done = subprocess.run(
            [sys.executable, "-c", swap], env=home.environment, capture_output=True, text=True
        )
    finally:
        manager.close()
    assert json.loads(done.stdout)["pid"] == manager.started[1].pid, done.stderr
