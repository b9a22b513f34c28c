"""Directories that are not ours keep their modes, and unsafe ones are refused with a sentence."""

import asyncio
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.strangers import UID
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.strangers import needs_root

from iai_mcp.concurrency import ProcessLock
from iai_mcp.paths import NotOurs
from iai_mcp.socket_server import SocketServer


@pytest.fixture
def home() -> Iterator[ScratchHome]:
    made = ScratchHome()
    os.chmod(made.path, 0o755)
    yield made
    made.remove()


PROFILE = ("profile", "add", "--name", "x", "--command", "x", "--injection", "stdin")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def a_directory(path: Path, mode: int) -> Path:
    path.mkdir()
    os.chmod(path, mode)
    return path


def refused(home: ScratchHome) -> str:
    """What a daemon says that does not start."""
    process = DaemonProcess(home).spawn()
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in said
    return str(said)


@pytest.mark.parametrize("loose", [0o755, 0o775, 0o1777])
def test_a_directory_that_was_there_is_used_as_it_is(home: ScratchHome, loose: int) -> None:
    shared = a_directory(home.path / "shared", loose)
    home.socket = shared / "d.sock"
    daemon = DaemonProcess(home).start()
    assert home.command("status").returncode == 0
    assert mode(home.socket) == 0o600
    assert daemon.stop() == 0
    assert mode(shared) == loose


def test_a_directory_that_we_make_is_private(home: ScratchHome) -> None:
    home.socket = home.path / "made/by us/d.sock"
    daemon = DaemonProcess(home).start()
    assert mode(home.socket.parent) == 0o700
    assert daemon.stop() == 0


def test_where_anybody_could_replace_the_socket_no_daemon_starts(home: ScratchHome) -> None:
    open_to_all = a_directory(home.path / "open", 0o777)
    home.socket = open_to_all / "d.sock"
    said = refused(home)
    assert str(open_to_all) in said
    assert "IAI_DAEMON_SOCKET_PATH" in said
    assert mode(open_to_all) == 0o777
    assert list(open_to_all.iterdir()) == []
    assert str(open_to_all) in home.command("up").stderr


def test_an_embedded_server_refuses_it_too(home: ScratchHome) -> None:
    open_to_all = a_directory(home.path / "open", 0o777)
    with pytest.raises(NotOurs, match="open"):
        asyncio.run(SocketServer(None).serve(socket_path=open_to_all / "d.sock"))
    assert mode(open_to_all) == 0o777


@needs_root
def test_a_directory_of_another_user_is_refused(home: ScratchHome) -> None:
    theirs = a_directory(home.path / "theirs", 0o755)
    os.chown(theirs, UID, UID)
    home.socket = theirs / "d.sock"
    said = refused(home)
    assert str(theirs) in said
    assert str(UID) in said
    assert mode(theirs) == 0o755
    assert list(theirs.iterdir()) == []


@needs_root
def test_a_link_that_another_user_made_is_refused(home: ScratchHome) -> None:
    ours = a_directory(home.path / "ours", 0o755)
    link = home.path / "link"
    link.symlink_to(ours)
    os.lchown(link, UID, UID)
    home.socket = link / "d.sock"
    assert str(UID) in refused(home)
    home.socket, home.store = home.path / "d.sock", link
    assert str(UID) in refused(home)
    assert mode(ours) == 0o755


def test_a_link_of_our_own_is_followed(home: ScratchHome) -> None:
    (home.path / "link").symlink_to(a_directory(home.path / "elsewhere", 0o755))
    home.store = home.path / "link"
    daemon = DaemonProcess(home).start()
    assert daemon.stop() == 0
    assert mode(home.path / "elsewhere") == 0o700


def test_a_shared_directory_never_becomes_a_store(home: ScratchHome) -> None:
    shared = a_directory(home.path / "shared", 0o1777)
    theirs = shared / "their.txt"
    theirs.write_text("not ours")
    os.chmod(theirs, 0o644)
    home.store = shared
    assert "IAI_MCP_STORE" in refused(home)
    for words in (("up",), ("capture", "pause"), ("recall", "x"), ("doctor", "--fix"), PROFILE):
        done = home.command(*words)
        assert done.returncode != 0, words
        assert str(shared) in done.stdout + done.stderr, words
        assert "Traceback" not in done.stderr
    assert mode(shared) == 0o1777
    assert mode(theirs) == 0o644


@needs_root
def test_a_store_of_another_user_is_not_touched(home: ScratchHome) -> None:
    theirs = a_directory(home.path / "theirs", 0o755)
    os.chown(theirs, UID, UID)
    home.store = theirs
    said = refused(home)
    assert str(UID) in said
    assert "IAI_MCP_STORE" in said
    assert mode(theirs) == 0o755


@needs_root
def test_repairing_modes_leaves_what_others_own_as_it_is(home: ScratchHome) -> None:
    home.store.mkdir()
    ours, theirs = home.store / "ours", home.store / "theirs"
    for path in (ours, theirs):
        path.touch()
        os.chmod(path, 0o644)
    os.chown(theirs, UID, UID)
    home.command("doctor", "--fix")
    assert (mode(ours), mode(theirs)) == (0o600, 0o644)


def test_a_lock_leaves_its_directory_as_it_is(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)
    lock = ProcessLock(tmp_path / "l")
    assert lock.try_acquire_exclusive()
    lock.close()
    assert mode(tmp_path) == 0o755


def test_a_hook_that_has_no_private_place_says_so_and_leaves_nothing_there(
    home: ScratchHome,
) -> None:
    shared = a_directory(home.path / "shared", 0o1777)
    home.store = shared
    transcript = home.path / "t.jsonl"
    transcript.write_text('{"type":"user","message":{"role":"user","content":"hello"}}\n')
    done: subprocess.CompletedProcess[str] = home.command(
        "capture-transcript", "--no-spawn", str(transcript)
    )
    assert done.returncode == 0
    assert "IAI_MCP_STORE" in done.stdout
    assert list(shared.iterdir()) == []
