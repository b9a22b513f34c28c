"""A socket of another user in the daemon's place is told nothing, by nobody."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bench.strangers import UID, Eavesdropper
from tests.integration.mcp_sessions.processes import BridgeProcess
from tests.support.home import ScratchHome
from tests.support.strangers import needs_root

from iai_mcp.domain.errors import PtyFailed
from iai_mcp.terminal import output
from iai_mcp.terminal.connection import HolderConnection
from iai_mcp.terminal.records import Owner, SessionRecord

pytestmark = needs_root
SECRET = "the launch code is 0000"


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    os.chmod(made.path, 0o755)
    shared = made.path / "shared"
    shared.mkdir()
    os.chmod(shared, 0o1777)
    made.socket = shared / "d.sock"
    (made.path / "t.jsonl").write_text(
        json.dumps({"type": "user", "message": {"role": "user", "content": SECRET}}) + "\n"
    )
    yield made
    made.remove()


@pytest.fixture
def stranger(home: ScratchHome) -> Iterator[Eavesdropper]:
    listening = Eavesdropper(home.socket)
    yield listening
    listening.heard()


def names_the_stranger(said: str, home: ScratchHome) -> bool:
    return str(home.socket) in said and str(UID) in said and "IAI_DAEMON_SOCKET_PATH" in said


def test_the_stranger_of_these_tests_does_hear_what_it_is_told(stranger: Eavesdropper) -> None:
    with socket.socket(socket.AF_UNIX) as careless:
        careless.connect(str(stranger.path))
        careless.sendall(b"hello")
        careless.shutdown(socket.SHUT_WR)
        assert careless.recv(1) == b""
    assert stranger.heard() == b"hello"


def test_a_hook_puts_its_turns_into_the_spool_instead(
    home: ScratchHome, stranger: Eavesdropper
) -> None:
    done = home.command("capture-transcript", "--no-spawn", "t.jsonl")
    assert json.loads(done.stdout)["status"] == "deferred"
    (spooled,) = (home.store / ".deferred-captures").glob("*.jsonl")
    assert SECRET in spooled.read_text()
    assert names_the_stranger((home.store / "logs/capture.log").read_text(), home)
    assert stranger.heard() == b""


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_no_moment_of_a_session_is_told(
    home: ScratchHome, stranger: Eavesdropper, event: str
) -> None:
    given = {
        "session_id": "s",
        "cwd": str(home.path),
        "prompt": SECRET,
        "transcript_path": str(home.path / "t.jsonl"),
    }
    done = home.command("hook", "claude-code", event, stdin=json.dumps(given))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stranger.heard() == b""


def test_the_bridge_serves_its_host_alone_and_says_why(
    home: ScratchHome, stranger: Eavesdropper, bridge_command: tuple[str, ...]
) -> None:
    bridge = BridgeProcess(home.environment, bridge_command)
    try:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
        bridge.say({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert bridge.hear()["result"]["serverInfo"]["name"] == "iai-mcp"
        call = {"name": "memory_recall", "arguments": {"cue": SECRET}}
        bridge.say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        error = bridge.hear()["error"]
    finally:
        bridge.close()
    assert error["code"] == -32002
    assert names_the_stranger(error["message"], home)
    assert "iai-mcp up" not in error["message"]
    assert stranger.heard() == b""


@pytest.mark.parametrize(
    "words", [("recall", SECRET), ("capture", SECRET), ("status",), ("up",), ("doctor",)]
)
def test_a_command_tells_the_person_instead(
    home: ScratchHome, stranger: Eavesdropper, words: tuple[str, ...]
) -> None:
    done = home.command(*words)
    assert done.returncode != 0
    assert names_the_stranger(done.stdout + done.stderr, home)
    assert "Traceback" not in done.stderr
    assert stranger.heard() == b""


def test_a_daemon_neither_follows_nor_replaces_it(
    home: ScratchHome, stranger: Eavesdropper
) -> None:
    for arguments in ((), ("--take-over",)):
        refused = subprocess.run(
            [sys.executable, "-m", "iai_mcp.daemon", *arguments],
            env=home.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert refused.returncode != 0
        assert names_the_stranger(refused.stderr, home)
    assert stat.S_ISSOCK(home.socket.stat().st_mode)
    assert stranger.heard() == b""


@pytest.mark.parametrize(
    "dial", [HolderConnection, lambda path: output.previews([session_at(path)])]
)
def test_a_terminal_s_client_types_nothing_into_it(
    stranger: Eavesdropper, dial: Callable[[str], object]
) -> None:
    try:
        assert dial(str(stranger.path)) == {}
    except PtyFailed as refused:
        assert str(stranger.path) in refused.message
        assert str(UID) in refused.message
    assert stranger.heard() == b""


def session_at(path: str) -> SessionRecord:
    return SessionRecord(
        id="s1",
        label=Owner(),
        command="sh",
        cwd="/",
        rows=24,
        cols=80,
        started_ms=0,
        socket=path,
        status="running",
        source="guess",
        since_ms=0,
    )


def test_what_a_stranger_left_in_the_socket_s_place_is_not_removed(home: ScratchHome) -> None:
    left = Eavesdropper(home.socket)
    left.heard()  # it is gone, its socket file is not
    refused = subprocess.run(
        [sys.executable, "-m", "iai_mcp.daemon"],
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode != 0
    assert names_the_stranger(refused.stderr, home)
    assert home.socket.stat().st_uid == UID


def test_a_lock_that_a_stranger_made_is_not_taken_for_ours(home: ScratchHome) -> None:
    planted = Path(f"{home.socket}.lock")
    planted.touch()
    os.chown(planted, UID, UID)
    os.chmod(planted, 0o666)
    refused = subprocess.run(
        [sys.executable, "-m", "iai_mcp.daemon"],
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode != 0
    assert str(planted) in refused.stderr
    assert str(UID) in refused.stderr
    assert stat.S_IMODE(planted.stat().st_mode) == 0o666
