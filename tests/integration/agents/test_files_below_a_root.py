"""`LocalFileSystem` against somebody who changes things at the same time, and one's own links."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from iai_mcp.adapters.files.local import LocalFileSystem
from iai_mcp.domain.errors import IaiError, IoFailed
from iai_mcp.ports.file_system import LARGEST_FILE

ROUNDS = 400


def test_a_directory_swapped_for_a_link_all_the_while_never_leads_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "real", outside):
        folder.mkdir(parents=True)
    (outside / "kept").write_text("theirs")
    (outside / "file").write_text("theirs")
    stop = threading.Event()

    def swap() -> None:
        place = root / "way"
        while not stop.is_set():
            for step in (
                lambda: place.symlink_to(outside),
                place.unlink,
                place.mkdir,
                lambda: place.rename(root / f"was{os.urandom(6).hex()}"),
            ):
                with suppress(OSError):  # what the other side did meanwhile
                    step()

    swapping = threading.Thread(target=swap)
    swapping.start()
    files = LocalFileSystem(str(root))
    try:
        for _ in range(ROUNDS):
            for act in (
                lambda: files.write("way/file", b"ours"),
                lambda: files.create_dir_all("way/made"),
                lambda: files.remove("way/kept"),
                lambda: files.remove("way"),
                lambda: files.read("way/file").index(b"ours"),
            ):
                try:
                    act()
                except IaiError:
                    continue
    finally:
        stop.set()
        swapping.join()

    assert sorted(path.name for path in outside.iterdir()) == ["file", "kept"]
    assert (outside / "file").read_text() == "theirs"


def test_a_person_s_own_links_are_followed_in_their_own_data(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "dotfiles"
    (elsewhere / "templates").mkdir(parents=True)
    data.mkdir()
    (elsewhere / "profiles.json").write_text("old")
    (data / "profiles.json").symlink_to(elsewhere / "profiles.json")
    (data / "templates").symlink_to(elsewhere / "templates")
    files = LocalFileSystem(str(data), own=True)
    files.write("profiles.json", b"new")
    files.write("templates/a.md", b"a")

    assert (data / "profiles.json").is_symlink()
    assert (elsewhere / "profiles.json").read_text() == "new"
    assert files.read("templates/a.md") == b"a"
    assert files.list("templates") == ["a.md"]


def test_modes_are_set_on_what_was_opened_and_kept_where_they_are_nobody_s_secret(
    tmp_path: Path,
) -> None:
    files = LocalFileSystem(str(tmp_path))
    (tmp_path / "loose").mkdir(mode=0o755)
    (tmp_path / "shared").write_text("x")
    (tmp_path / "shared").chmod(0o640)
    files.create_dir_all("loose")
    files.write("loose/secret", b"x")
    files.write("shared", b"y", private=False)

    assert (tmp_path / "loose").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "loose/secret").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["loose", "shared"]


def test_a_sparse_terabyte_costs_no_memory(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(IoFailed, match=f"at most {LARGEST_FILE >> 20} MB"):
        LocalFileSystem(str(tmp_path)).read("huge")


def test_a_tree_too_deep_to_walk_is_told(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    files = LocalFileSystem(str(tmp_path))
    with pytest.raises(IoFailed):
        files.remove("d")
    # Put away by hand, level by level, so that nothing that walks has to.
    for _ in range(2000):
        os.rename(tmp_path / "d", tmp_path / "e")
        if (tmp_path / "e" / "d").exists():
            os.rename(tmp_path / "e" / "d", tmp_path / "d")
        os.rmdir(tmp_path / "e")


def test_no_descriptor_is_left_open_whatever_is_refused(tmp_path: Path) -> None:
    files = LocalFileSystem(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for path in ("pipe", "link", "folder", "absent", "link/x", "pipe/x", ""):
        for act in (
            lambda path=path: files.read(path),
            lambda path=path: files.write(path, b""),
            lambda path=path: files.list(path),
            lambda path=path: files.locked(path).__enter__(),
            lambda path=path: files.require_plain(path),
        ):
            try:
                act()
            except IaiError:
                continue
    (tmp_path / "absent").unlink()

    if before is not None:
        assert len(os.listdir("/proc/self/fd")) <= before
