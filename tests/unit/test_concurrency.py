"""Paths that are computed on access, and a lock that dies with its holder."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.home import SOURCE

from iai_mcp import concurrency
from iai_mcp.concurrency import ProcessLock, cleanup_stale_socket


def test_the_paths_follow_the_environment_of_the_moment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "one"))
    monkeypatch.delenv("IAI_DAEMON_SOCKET_PATH", raising=False)
    assert tmp_path / "one" / ".daemon.sock" == concurrency.SOCKET_PATH
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "two"))
    assert tmp_path / "two" / ".lock" == concurrency.LOCK_PATH
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(tmp_path / "s"))
    assert tmp_path / "s" == concurrency.SOCKET_PATH


def test_an_override_counts_and_undoing_it_does_not_freeze_a_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(tmp_path / "a"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concurrency, "SOCKET_PATH", tmp_path / "mine")
        assert tmp_path / "mine" == concurrency.SOCKET_PATH
    monkeypatch.setenv("IAI_DAEMON_SOCKET_PATH", str(tmp_path / "b"))
    assert tmp_path / "b" == concurrency.SOCKET_PATH


def test_one_holder_keeps_another_out_until_it_lets_go(tmp_path: Path) -> None:
    first, second = ProcessLock(tmp_path / "l"), ProcessLock(tmp_path / "l")
    assert first.try_acquire_exclusive() is True
    assert second.try_acquire_exclusive() is False
    first.release()
    assert second.try_acquire_exclusive() is True
    assert second.holder() == os.getpid()
    for lock in (first, second):
        lock.close()


def test_a_killed_holder_releases_the_lock(tmp_path: Path) -> None:
    hold = (
        "import sys, time; from iai_mcp.concurrency import ProcessLock; lock = ProcessLock(sys.argv[1]); "
        "print(lock.try_acquire_exclusive(), flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / "l")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    mine = ProcessLock(tmp_path / "l")
    assert mine.try_acquire_exclusive() is False
    assert mine.holder() == holder.pid
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert mine.try_acquire_exclusive() is True
    mine.close()


def test_the_lock_file_is_private_even_where_it_was_not(tmp_path: Path) -> None:
    place = tmp_path / "l"
    place.touch(mode=0o644)
    os.chmod(place, 0o644)
    lock = ProcessLock(place)
    assert lock.try_acquire_exclusive() is True
    assert place.stat().st_mode & 0o777 == 0o600
    lock.close()


def test_only_what_nobody_serves_is_cleaned_up() -> None:
    short = Path(tempfile.mkdtemp(prefix="iai-c-"))
    live = socket.socket(socket.AF_UNIX)
    live.bind(str(short / "live"))
    live.listen()
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(short / "dead"))
    dead.close()
    (short / "directory").mkdir()
    assert cleanup_stale_socket(short / "dead") is True
    assert cleanup_stale_socket(short / "live") is False
    assert cleanup_stale_socket(short / "directory") is False
    assert cleanup_stale_socket(short / "absent") is False
    assert (short / "live").exists()
    live.close()


def test_a_file_with_somebodys_words_in_it_is_not_a_leftover(tmp_path: Path) -> None:
    for words in ("dear reader", "dear other reader"):
        (tmp_path / "letter").write_text(words)
        assert cleanup_stale_socket(tmp_path / "letter") is True
        assert not (tmp_path / "letter").exists()
    assert (tmp_path / "letter.kept-1").read_text() == "dear reader"
    assert (tmp_path / "letter.kept-2").read_text() == "dear other reader"


def test_the_way_to_a_socket_that_is_served_is_kept_too() -> None:
    short = Path(tempfile.mkdtemp(prefix="iai-c-"))
    with socket.socket(socket.AF_UNIX) as live:
        live.bind(str(short / "live"))
        live.listen()
        (short / "link").symlink_to(short / "live")
        assert cleanup_stale_socket(short / "link") is False
        (short / "gone").symlink_to(short / "nowhere")
        assert cleanup_stale_socket(short / "gone") is True


def test_a_socket_of_another_kind_is_somebodys() -> None:
    short = Path(tempfile.mkdtemp(prefix="iai-c-"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(short / "datagrams"))
        assert cleanup_stale_socket(short / "datagrams") is False
