"""Another machine by a real sshd: what is put there, what may be in the way, and how it is told."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sshd import Sshd

from iai_mcp.domain.errors import DiskFull, IaiError, NotInstalled, RemoteFailed, TimedOut
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote import archive
from iai_mcp.remote.machine import Machine, home_id


@pytest.fixture
def machine(
    far_machine: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    """A connection of this test's own."""
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    made = Machine(RemoteRef.parse("ssh://far"), ssh=("ssh", "-F", str(far_machine.config)))
    yield made
    made.disconnect()


@pytest.fixture
def start_up_files(far_machine: Sshd) -> Iterator[Path]:
    """The home over there, whose start-up file goes with the test."""
    yield far_machine.home
    (far_machine.home / ".bashrc").unlink(missing_ok=True)


def refused(machine: Machine) -> IaiError:
    with pytest.raises(IaiError) as told:
        machine.hello()
    return told.value


def test_the_archive_is_the_same_for_the_same_sources() -> None:
    assert archive.build() == archive.build()


def test_what_runs_there_is_put_there_once_and_for_its_owner_only(
    machine: Machine, far_machine: Sshd
) -> None:
    machine.hello()
    place = far_machine.home / ".iai-mcp/far" / archive.current().digest
    before = (place / "far.pyz").stat()
    machine.close()
    machine.hello()

    assert (place / "far.pyz").stat().st_mtime_ns == before.st_mtime_ns
    assert place.parent.stat().st_mode & 0o077 == 0
    assert (place / "far.pyz").read_bytes() == archive.current().read()
    assert machine.call("files.exists", root="/", path="etc", own=False) is True


def test_start_up_files_that_print_are_passed_over(machine: Machine, start_up_files: Path) -> None:
    noise = "echo welcome; printf 'no line end'; echo to stderr >&2\n"
    (start_up_files / ".bashrc").write_text(noise)

    assert machine.hello().text("home") == str(start_up_files)


def test_start_up_files_that_end_the_shell_are_told(machine: Machine, start_up_files: Path) -> None:
    (start_up_files / ".bashrc").write_text("exit 3\n")

    assert isinstance(told := refused(machine), RemoteFailed)
    assert "before anything ran there" in told.message


def test_a_machine_without_python_is_told(
    machine: Machine, start_up_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iai_mcp.remote.machine._PYTHONS", "no-such-python")
    nothing_of_ours_there(machine, monkeypatch)

    assert isinstance(told := refused(machine), NotInstalled)
    assert "has no Python: install Python 3.11 or newer there" in told.message


def test_a_machine_with_an_old_python_is_told(
    machine: Machine, far_machine: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = far_machine.home / "old-python"
    old.write_text("#!/bin/sh\necho 0\n")
    old.chmod(0o755)
    monkeypatch.setattr("iai_mcp.remote.machine._PYTHONS", str(old))
    nothing_of_ours_there(machine, monkeypatch)

    assert "only an older Python" in refused(machine).message


def test_a_full_disk_is_told_and_nothing_is_left_of_the_try(
    machine: Machine, far_machine: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    starved = far_machine.home / "starved-python"
    # The limit on a file's size stands for a full disk: both end the writing of the archive.
    starved.write_text("#!/bin/bash\ntrap '' XFSZ\nulimit -f 100\nexec /usr/bin/python3 \"$@\"\n")
    starved.chmod(0o755)
    monkeypatch.setattr("iai_mcp.remote.machine._PYTHONS", str(starved))
    nothing_of_ours_there(machine, monkeypatch)

    told = refused(machine)

    assert isinstance(told, RemoteFailed | DiskFull)
    assert "could not take what runs there" in told.message
    assert not [p for p in (far_machine.home / ".iai-mcp/far").iterdir() if ".new" in p.name]


def test_a_home_there_that_can_not_be_used_is_told(machine: Machine, far_machine: Sshd) -> None:
    machine.hello()
    machine.close()
    place = far_machine.home / ".iai-mcp/far/homes" / home_id()
    place.rename(place.with_name("aside"))
    place.write_text("in its place")
    try:
        told = refused(machine)
    finally:
        place.unlink()
        place.with_name("aside").rename(place)

    assert isinstance(told, RemoteFailed)
    assert "could not take what runs there" in told.message


def test_a_changed_host_key_is_never_accepted(
    machine: Machine, far_machine: Sshd, tmp_path: Path
) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "k"], check=True
    )
    known, other = far_machine.directory / "known", (tmp_path / "k.pub").read_text().split()[:2]
    before = known.read_text()
    known.write_text(f"[127.0.0.1]:{far_machine.port} {' '.join(other)}\n")
    try:
        told = refused(machine)
        assert "its host key is not known or has changed" in told.message
        assert other[1] in known.read_text()
    finally:
        known.write_text(before)


def test_a_machine_that_asks_for_a_password_is_told(
    far_machine: Sshd, machine: Machine, tmp_path: Path
) -> None:
    ssh = ("ssh", "-F", str(far_machine.config), "-o", f"IdentityFile={tmp_path}/none")
    without_key = Machine(RemoteRef.parse("ssh://far"), ssh=(*ssh, "-o", "IdentityAgent=none"))
    config = far_machine.config.read_text()
    far_machine.config.write_text(config.replace("IdentityFile", "# IdentityFile"))
    try:
        assert "does not let you in without a question" in refused(without_key).message
    finally:
        far_machine.config.write_text(config)


def test_a_machine_that_is_not_there_is_told_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    nobody = Machine(RemoteRef.parse("ssh://127.0.0.1:9"), ssh=("ssh", "-F", "none"))

    assert "it can not be reached" in refused(nobody).message


def test_one_that_never_answers_is_waited_for_as_long_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    silent = tmp_path / "ssh"
    silent.write_text("#!/bin/sh\nexec sleep 30\n")
    silent.chmod(0o755)

    nowhere = Machine(RemoteRef.parse("ssh://nowhere"), ssh=(str(silent),))
    with pytest.raises(TimedOut, match="does not answer"):
        nowhere.call("project", 0.3, path="/")
    nowhere.disconnect()


def test_who_has_little_patience_does_not_wait_for_who_has_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    silent, started = tmp_path / "ssh", tmp_path / "started"
    silent.write_text(f"#!/bin/sh\necho $$ > {started}\nexec sleep 30\n")
    silent.chmod(0o755)
    nowhere = Machine(RemoteRef.parse("ssh://nowhere"), ssh=(str(silent),))
    patient = threading.Thread(target=lambda: refused(nowhere), daemon=True)
    patient.start()
    while not started.exists() or not started.read_text():
        time.sleep(0.005)

    with pytest.raises(TimedOut, match="does not answer"):
        nowhere.call("project", 0.2, path="/")

    assert patient.is_alive()
    os.kill(int(started.read_text()), signal.SIGKILL)
    patient.join()


def test_a_cut_is_told_and_the_next_call_connects_again(
    machine: Machine, far_machine: Sshd
) -> None:
    machine.hello()
    far_machine.stop()
    with pytest.raises((RemoteFailed, TimedOut)):
        machine.call("project", 5, path="/")
    far_machine.start()

    assert machine.call("project", path="/") == "/"


def test_the_connection_outlives_who_opened_it(machine: Machine) -> None:
    machine.hello()
    machine.close()

    assert machine.is_connected()


def test_no_ssh_is_told(machine: Machine) -> None:
    missing = Machine(RemoteRef.parse("ssh://far"), ssh=("no-such-ssh",))

    assert isinstance(refused(missing), NotInstalled)


def nothing_of_ours_there(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the first contact: an archive that is not over there yet."""
    other = archive.Archive(archive.current().path, "0" * 64)
    monkeypatch.setattr("iai_mcp.remote.archive.current", lambda: other)
