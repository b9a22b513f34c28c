"""Reading a file that somebody else may have put there."""

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from iai_mcp import regular_files


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def waiting_device(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


def listening_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def directory(path: Path) -> None:
    path.mkdir()


def link_to_nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def nothing(path: Path) -> None:
    del path


@pytest.mark.parametrize("links", ["", regular_files.ANYWHERE])
@pytest.mark.parametrize(
    "make",
    [
        pipe,
        endless_device,
        waiting_device,
        listening_socket,
        directory,
        link_to_nowhere,
        link_to_itself,
        nothing,
    ],
)
def test_only_a_regular_file_is_read(
    tmp_path: Path, make: Callable[[Path], None], links: str
) -> None:
    make(tmp_path / "f")
    with pytest.raises(OSError):
        regular_files.read(str(tmp_path / "f"), 100, links=links)


def test_a_file_is_read_up_to_its_limit_and_not_beyond(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100)
    assert regular_files.read(str(tmp_path / "f"), 100) == b"x" * 100
    with pytest.raises(OSError, match="longer than 99 bytes"):
        regular_files.read(str(tmp_path / "f"), 99)


def test_a_file_of_holes_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="longer"):
        regular_files.read(str(tmp_path / "f"), 1000)


def test_a_link_is_followed_only_as_far_as_it_may_lead(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / "deep").mkdir(parents=True)
    outside.mkdir()
    (project / "deep/target").write_bytes(b"words")
    (outside / "target").write_bytes(b"secret")
    (project / "way-out").symlink_to(outside)
    for name, target in {
        "inside": "deep/target",
        "in-full": str(project / "deep/target"),
        "outside": "../outside/target",
        "through": "way-out/target",
        "beside": str(tmp_path / "project-beside"),
    }.items():
        (project / name).symlink_to(target)
    (tmp_path / "project-beside").write_bytes(b"secret")

    def read(name: str, links: str) -> bytes | None:
        try:
            return regular_files.read(str(project / name), 100, links=links)
        except OSError:
            return None

    for name in ("inside", "in-full"):
        assert read(name, str(project)) == b"words"
    for name in ("outside", "through", "beside"):
        assert read(name, str(project)) is None
        assert read(name, regular_files.ANYWHERE) == b"secret"
    assert read("inside", "") is None


def test_a_link_named_from_where_one_stands_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "target").write_bytes(b"words")
    (tmp_path / "link").symlink_to("target")
    monkeypatch.chdir(tmp_path)
    assert regular_files.tail("link", 3) == b"rds"


@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_a_file_on_which_somebody_holds_a_lease_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Without `O_NONBLOCK` whoever opens it waits for 45 seconds, or as long as the system says."""
    held = tmp_path / "f"
    held.write_bytes(b"words")
    holder = (
        "import fcntl, signal, sys; file = open(sys.argv[1], 'r+');"
        "signal.signal(signal.SIGIO, signal.SIG_IGN);"
        f"fcntl.fcntl(file, {fcntl.F_SETLEASE}, fcntl.F_WRLCK); print('held', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(held)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            regular_files.read(str(held), 100)
        process.communicate()


def test_no_descriptor_is_left_behind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_bytes(b"x" * 10)
    before = set(os.listdir("/dev/fd"))
    for name, limit in (("pipe", 5), ("f", 5), ("f", 20)):
        try:
            regular_files.read(str(tmp_path / name), limit)
        except OSError:
            continue
    assert set(os.listdir("/dev/fd")) == before
