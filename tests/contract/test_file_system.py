"""What every `FileSystem` promises."""

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.file_system import FakeDisk

from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.errors import Busy, IoFailed, NotFound
from iai_mcp.ports.file_system import LARGEST_FILE, FilesBelow, FileSystem
from iai_mcp.remote.ports import RemoteFiles


class Plant:
    """Puts things below the root that the port itself would never make."""

    def __init__(self, root: str, disk: FakeDisk | None) -> None:
        self.root = root
        self._disk = disk

    def link(self, path: str, target: str) -> None:
        if self._disk is None:
            os.symlink(target, f"{self.root}/{path}")
        else:
            self._disk.links[f"{self.root}/{path}"] = target

    def pipe(self, path: str) -> None:
        if self._disk is None:
            os.mkfifo(f"{self.root}/{path}")
        else:
            self._disk.pipes.add(f"{self.root}/{path}")


@pytest.fixture
def disk() -> FakeDisk:
    return FakeDisk()


@pytest.fixture(params=["fake", "local", "far"])
def below(request: pytest.FixtureRequest, disk: FakeDisk) -> FilesBelow:
    if request.param == "far":
        return partial(RemoteFiles, request.getfixturevalue("far"))
    return disk if request.param == "fake" else LocalFileSystem


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "root")


@pytest.fixture
def files(below: FilesBelow, root: str) -> FileSystem:
    made = below(root)
    made.create_dir_all("")
    return made


@pytest.fixture
def outside(below: FilesBelow, tmp_path: Path) -> FileSystem:
    """A directory beside the root, with things of somebody else."""
    made = below(str(tmp_path / "outside"))
    made.create_dir_all("")
    made.create_dir_all("inner")
    made.write("file", b"theirs")
    made.write("inner/file", b"theirs")
    return made


@pytest.fixture
def plant(below: FilesBelow, disk: FakeDisk, root: str) -> Plant:
    return Plant(root, disk if below is disk else None)


def test_what_is_written_is_read_again(files: FileSystem) -> None:
    files.write("a", b"one\r\ntwo\x00")

    assert files.read("a") == b"one\r\ntwo\x00"


def test_writing_again_replaces_the_whole_file(files: FileSystem) -> None:
    files.write("a", b"a long text")
    files.write("a", b"short")

    assert files.read("a") == b"short"
    assert files.list("") == ["a"]


def test_a_file_that_is_not_there_is_not_found(files: FileSystem) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        files.read("absent")
    with pytest.raises(NotFound, match="there is no file"):
        files.read("absent/below")


def test_a_directory_can_not_be_read_written_or_locked_as_a_file(files: FileSystem) -> None:
    files.create_dir_all("a")
    for path in ("a", ""):
        with pytest.raises(IoFailed):
            files.read(path)
        with pytest.raises(IoFailed):
            files.write(path, b"x")
        with pytest.raises(IoFailed), files.locked(path):
            pass


def test_directories_are_made_with_their_parents_and_twice_is_fine(files: FileSystem) -> None:
    files.create_dir_all("a/b/c")
    files.create_dir_all("a/b/c")

    assert files.exists("a/b/c")
    assert files.list("a") == ["b"]


def test_the_root_is_made_only_when_it_is_asked_for_itself(below: FilesBelow, root: str) -> None:
    files = below(root)
    with pytest.raises(IoFailed, match="there is no directory"):
        files.create_dir_all("a")
    assert not files.exists("")
    files.create_dir_all("")

    assert files.exists("")


def test_listing_is_sorted_and_an_absent_directory_is_empty(files: FileSystem) -> None:
    files.write("b", b"")
    files.write("a", b"")

    assert files.list("") == ["a", "b"]
    assert files.list("absent") == []


def test_removing_takes_a_whole_directory_and_gone_is_fine(files: FileSystem) -> None:
    files.create_dir_all("a/b")
    files.write("a/b/c", b"x")
    files.remove("a")
    files.remove("a")

    assert not files.exists("a")


def test_the_root_itself_is_never_removed(files: FileSystem) -> None:
    files.write("a", b"x")
    with pytest.raises(IoFailed):
        files.remove("")

    assert files.read("a") == b"x"


def test_a_directory_that_is_not_there_can_not_be_written_to(files: FileSystem) -> None:
    with pytest.raises(IoFailed):
        files.write("absent/file", b"x")


EVERY_DEED: dict[str, Callable[[FileSystem, str], object]] = {
    "read": lambda files, path: files.read(path),
    "write": lambda files, path: files.write(path, b"ours"),
    "make": lambda files, path: files.create_dir_all(path),
    "list": lambda files, path: files.list(path),
    "lock": lambda files, path: files.locked(path).__enter__(),
    "require": lambda files, path: files.require_plain(path),
}


def _remove(files: FileSystem, path: str) -> None:
    files.remove(path)


@pytest.mark.parametrize("deed", [*EVERY_DEED, "remove"])
@pytest.mark.parametrize(
    "path", ["../outside/file", "/etc/passwd", "a/../../x", ".", "a//b", "a\0"]
)
def test_no_path_leads_out_of_the_root(files: FileSystem, deed: str, path: str) -> None:
    act = EVERY_DEED.get(deed, _remove)
    with pytest.raises(IoFailed):
        act(files, path)
    assert not files.exists(path)


@pytest.mark.parametrize("deed", EVERY_DEED)
def test_a_link_is_refused_wherever_it_leads(
    files: FileSystem, outside: FileSystem, plant: Plant, tmp_path: Path, deed: str
) -> None:
    files.write("real", b"ours too")
    for target in (tmp_path / "outside" / "file", tmp_path / "outside", tmp_path / "no", "real"):
        plant.link("link", str(target))
        with pytest.raises(IoFailed, match="link is a link"):
            EVERY_DEED[deed](files, "link")
        assert files.exists("link")
        files.remove("link")

    assert outside.read("file") == b"theirs"
    assert files.read("real") == b"ours too"


@pytest.mark.parametrize("deed", [*EVERY_DEED, "remove"])
def test_a_link_on_the_way_is_refused(
    files: FileSystem, outside: FileSystem, plant: Plant, tmp_path: Path, deed: str
) -> None:
    act = EVERY_DEED.get(deed, _remove)
    plant.link("way", str(tmp_path / "outside"))
    for path in ("way/file", "way/inner", "way/inner/file", "way/new"):
        with pytest.raises(IoFailed, match="way is a link"):
            act(files, path)
        assert not files.exists(path)

    assert outside.list("") == ["file", "inner"]
    assert outside.read("inner/file") == b"theirs"


def test_removing_a_link_or_what_holds_one_leaves_what_it_points_to(
    files: FileSystem, outside: FileSystem, plant: Plant, tmp_path: Path
) -> None:
    files.create_dir_all("a/b")
    plant.link("a/b/link", str(tmp_path / "outside"))
    plant.link("link", str(tmp_path / "outside"))
    files.remove("link")
    files.remove("a")

    assert files.list("") == []
    assert outside.read("inner/file") == b"theirs"


def test_a_pipe_is_refused_at_once_and_can_be_removed(files: FileSystem, plant: Plant) -> None:
    plant.pipe("pipe")
    for act in EVERY_DEED.values():
        with pytest.raises(IoFailed):
            act(files, "pipe")
    files.remove("pipe")

    assert files.list("") == []


def test_what_is_too_large_is_neither_read_nor_written(files: FileSystem) -> None:
    files.write("a", b"x" * LARGEST_FILE)
    assert len(files.read("a")) == LARGEST_FILE
    with pytest.raises(IoFailed, match="too large"):
        files.write("a", b"x" * (LARGEST_FILE + 1))

    assert len(files.read("a")) == LARGEST_FILE


def test_only_files_and_directories_are_plain(files: FileSystem, plant: Plant) -> None:
    files.create_dir_all("a/b")
    files.write("a/b/c", b"x")
    files.require_plain("a")
    files.require_plain("a/b/c")
    files.require_plain("absent")
    plant.link("a/b/link", "c")

    with pytest.raises(IoFailed, match="a/b/link is a link"):
        files.require_plain("a")
    files.remove("a/b/link")
    plant.pipe("a/pipe")
    with pytest.raises(IoFailed, match="a/pipe"):
        files.require_plain("a")


def test_a_lock_is_held_by_one_at_a_time(below: FilesBelow, files: FileSystem, root: str) -> None:
    together, most = 0, 0

    def hold() -> None:
        nonlocal together, most
        with below(root).locked("lock"):
            together += 1
            most = max(most, together)
            together -= 1

    threads = [threading.Thread(target=hold) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1
    assert files.exists("lock")


def test_a_lock_that_is_not_let_go_of_is_told(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from iai_mcp.adapters.files import local

    monkeypatch.setattr(local, "PATIENCE_SECONDS", 0.05)
    files = LocalFileSystem(root)
    files.create_dir_all("")
    with files.locked("lock"), pytest.raises(Busy, match="another iai-mcp"):
        files.locked("lock").__enter__()
