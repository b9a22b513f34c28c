"""The other machine's disk is full, truly: a home on a small file system of its own."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sshd import Sshd, missing, sshd
from tests.support.strangers import needs_root

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.errors import DiskFull
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.ports import RemoteFiles
from iai_mcp.remote.pty import RemotePty

pytestmark = needs_root


class SmallHome:
    def __init__(self, far: Sshd) -> None:
        self.far, self.path = far, far.home

    def holds(self, kilobytes: int) -> None:
        self._mount("-o", f"remount,size={kilobytes}k")

    def fill(self) -> None:
        with (self.path / "ballast").open("wb", buffering=0) as out, pytest.raises(OSError):
            while True:
                out.write(bytes(4096))

    def _mount(self, *words: str) -> None:
        subprocess.run(["mount", *words, str(self.path)], check=True)

    @classmethod
    def of(cls, far: Sshd) -> "SmallHome":
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(far.home)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"needs a file system of its own: {done.stderr.strip()}")
        return cls(far)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallHome]:
    if absent := missing():
        pytest.skip(f"needs {absent}")
    with sshd(tmp_path) as far:
        made = SmallHome.of(far)
        yield made
        subprocess.run(["umount", "--lazy", str(far.home)], check=True)


@pytest.fixture
def machine(
    small: SmallHome, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path_factory.mktemp("store")))
    made = Machine(RemoteRef.parse("ssh://far"), ssh=("ssh", "-F", str(small.far.config)))
    yield made
    made.disconnect()


def test_what_runs_there_does_not_fit_and_leaves_nothing(
    machine: Machine, small: SmallHome
) -> None:
    with pytest.raises(DiskFull, match="could not take what runs there"):
        machine.hello()

    assert list((small.path / ".iai-mcp/far").iterdir()) == []
    small.holds(50_000)
    assert machine.hello().text("home") == str(small.path)


def test_a_disk_that_fills_up_is_told_and_all_is_well_when_it_has_room_again(
    machine: Machine, small: SmallHome
) -> None:
    small.holds(50_000)
    files, pty = RemoteFiles(machine, str(small.path)), RemotePty(machine)
    files.write("kept", b"before")
    spec = SpawnSpec("cat", (), str(small.path))
    running = pty.spawn(spec, TerminalSize())
    small.fill()

    with pytest.raises(DiskFull, match="on far: the disk is full"):
        files.write("kept", b"after" * 10_000)
    with pytest.raises(DiskFull, match="on far: the disk is full"):
        pty.spawn(spec, TerminalSize())
    assert files.read("kept") == b"before"
    assert [each.id for each in pty.all() if each.status.alive] == [running]

    (small.path / "ballast").unlink()
    files.write("kept", b"after")
    pty.kill(pty.spawn(spec, TerminalSize()))
    pty.kill(running)
