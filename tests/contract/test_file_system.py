"""What every `FileSystem` promises."""

from pathlib import Path

import pytest
from tests.fakes.file_system import FakeFileSystem

from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.errors import AlreadyExists, IoFailed, NotFound
from iai_mcp.ports.file_system import FileSystem


@pytest.fixture(params=["fake", "local"])
def files(request: pytest.FixtureRequest) -> FileSystem:
    return FakeFileSystem() if request.param == "fake" else LocalFileSystem()


@pytest.fixture
def root(files: FileSystem, tmp_path: Path) -> str:
    files.create_dir_all(str(tmp_path))
    return str(tmp_path)


def test_what_is_written_is_read_again(files: FileSystem, root: str) -> None:
    files.write(f"{root}/a", b"one\r\ntwo\x00")

    assert files.read(f"{root}/a") == b"one\r\ntwo\x00"


def test_writing_again_replaces_the_whole_file(files: FileSystem, root: str) -> None:
    files.write(f"{root}/a", b"a long text")
    files.write(f"{root}/a", b"short")

    assert files.read(f"{root}/a") == b"short"
    assert files.list(root) == ["a"]


def test_a_file_that_is_not_there_is_not_found(files: FileSystem, root: str) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        files.read(f"{root}/absent")


def test_a_directory_can_not_be_read_as_a_file(files: FileSystem, root: str) -> None:
    with pytest.raises(IoFailed):
        files.read(root)


def test_directories_are_made_with_their_parents_and_twice_is_fine(
    files: FileSystem, root: str
) -> None:
    files.create_dir_all(f"{root}/a/b/c")
    files.create_dir_all(f"{root}/a/b/c")

    assert files.exists(f"{root}/a/b/c")
    assert files.list(f"{root}/a") == ["b"]


def test_listing_is_sorted_and_an_absent_directory_is_empty(files: FileSystem, root: str) -> None:
    files.write(f"{root}/b", b"")
    files.write(f"{root}/a", b"")

    assert files.list(root) == ["a", "b"]
    assert files.list(f"{root}/absent") == []


def test_removing_takes_a_whole_directory_and_gone_is_fine(files: FileSystem, root: str) -> None:
    files.create_dir_all(f"{root}/a/b")
    files.write(f"{root}/a/b/c", b"x")
    files.remove(f"{root}/a")
    files.remove(f"{root}/a")

    assert not files.exists(f"{root}/a")


def test_removing_a_link_leaves_what_it_points_to(files: FileSystem, root: str) -> None:
    files.create_dir_all(f"{root}/kept")
    files.write(f"{root}/kept/file", b"x")
    files.symlink(f"{root}/kept", f"{root}/link")
    files.remove(f"{root}/link")

    assert files.read(f"{root}/kept/file") == b"x"
    assert not files.exists(f"{root}/link")


def test_a_link_is_not_made_over_something(files: FileSystem, root: str) -> None:
    files.write(f"{root}/a", b"x")

    with pytest.raises(AlreadyExists):
        files.symlink(root, f"{root}/a")


def test_writing_through_a_link_changes_the_file_behind_it(files: FileSystem, root: str) -> None:
    files.write(f"{root}/real", b"old")
    files.symlink(f"{root}/real", f"{root}/link")
    files.write(f"{root}/link", b"new")

    assert files.read(f"{root}/real") == b"new"


def test_a_directory_that_is_not_there_can_not_be_written_to(files: FileSystem, root: str) -> None:
    with pytest.raises(IoFailed):
        files.write(f"{root}/absent/file", b"x")
