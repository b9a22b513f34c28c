"""The other machine as another account: nothing there needs root, and nothing is seen by others."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sshd import Sshd, missing, sshd
from tests.support.strangers import needs_root

from iai_mcp.domain.launching import SpawnSpec
from iai_mcp.domain.projects import RemoteRef
from iai_mcp.domain.terminals import TerminalSize
from iai_mcp.far.machine import Machine
from iai_mcp.far.ports import FarFiles
from iai_mcp.far.pty import FarPty


def _who_may_log_in() -> pwd.struct_passwd | None:
    for one in pwd.getpwall():
        shell = os.path.basename(one.pw_shell)
        if one.pw_uid and shell in ("sh", "bash"):
            return one
    return None


@pytest.fixture
def account() -> pwd.struct_passwd:
    found = _who_may_log_in()
    if found is None:
        pytest.skip("needs a second account that may log in")
    return found


@pytest.fixture
def theirs(account: pwd.struct_passwd) -> Iterator[Sshd]:
    if absent := missing():
        pytest.skip(f"needs {absent}")
    directory = Path(tempfile.mkdtemp(prefix="iai-t-"))
    directory.chmod(0o755)
    # Without PAM, sshd keeps out accounts that have no password, also those with a key.
    with sshd(directory, pam=True) as running:
        os.chown(running.home, account.pw_uid, account.pw_gid)
        yield running
    shutil.rmtree(directory)


@needs_root
def test_a_session_runs_as_who_was_logged_in_and_only_they_can_look(
    theirs: Sshd,
    account: pwd.struct_passwd,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    remote = RemoteRef.parse(f"ssh://{account.pw_name}@far")
    machine = Machine(remote, ssh=("ssh", "-F", str(theirs.config)))
    try:
        FarFiles(machine, str(theirs.home)).write("mine", b"x")
        session = FarPty(machine).spawn(SpawnSpec("cat", (), str(theirs.home)), TerminalSize())
        socket = Path(str(machine.call("pty.socket", session=session)))
        forwarded = Path(machine.hello().text("socket"))
        machine.close()
        machine.hello()
        everything = [theirs.home / "mine", *(theirs.home / ".iai-mcp").rglob("*")]

        assert {path.lstat().st_uid for path in everything} == {account.pw_uid}
        assert socket.stat().st_mode & 0o077 == 0
        assert forwarded.stat().st_mode & 0o077 == 0
        assert (theirs.home / ".iai-mcp/far").stat().st_mode & 0o077 == 0
        assert machine.hello().flag("memory")
        FarPty(machine).kill(session)
    finally:
        machine.disconnect()
