"""The other machine as another account: nothing there needs root, and nothing is seen by others."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.daemon import until
from tests.support.sshd import Sshd, missing, sshd
from tests.support.strangers import needs_root

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.ports import RemoteFiles
from iai_mcp.remote.pty import RemotePty


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


@contextmanager
def theirs(account: pwd.struct_passwd, banner: str = "") -> Iterator[Sshd]:
    if absent := missing():
        pytest.skip(f"needs {absent}")
    directory = Path(tempfile.mkdtemp(prefix="iai-t-"))
    directory.chmod(0o755)
    (directory / "banner").write_text(banner)
    # Without PAM, sshd keeps out accounts that have no password, also those with a key.
    with sshd(directory, pam=True, more=f"Banner {directory}/banner\n") as running:
        os.chown(running.home, account.pw_uid, account.pw_gid)
        yield running
    shutil.rmtree(directory)


@needs_root
def test_a_session_runs_as_who_was_logged_in_and_only_they_can_look(
    account: pwd.struct_passwd,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    remote = RemoteRef.parse(f"ssh://{account.pw_name}@far")
    with theirs(account) as running:
        machine = Machine(remote, ssh=("ssh", "-F", str(running.config)))
        try:
            RemoteFiles(machine, str(running.home)).write("mine", b"x")
            session = RemotePty(machine).spawn(
                SpawnSpec("cat", (), str(running.home)), TerminalSize()
            )
            socket = Path(str(machine.call("pty.socket", session=session)))
            forwarded = Path(machine.hello().text("socket"))
            machine.close()
            machine.hello()
            everything = [running.home / "mine", *(running.home / ".iai-mcp").rglob("*")]

            assert {path.lstat().st_uid for path in everything} == {account.pw_uid}
            assert socket.stat().st_mode & 0o077 == 0
            assert forwarded.stat().st_mode & 0o077 == 0
            assert (running.home / ".iai-mcp/far").stat().st_mode & 0o077 == 0
            assert machine.hello().flag("memory")
            RemotePty(machine).kill(session)
        finally:
            machine.disconnect()


BANNER = "This machine is watched.\nGo away unless you may be here.\n"
# What each reads at a login: noise on both streams, without an end of line, and something to find.
START_UP = {
    "bash": (".bash_profile", "echo hello; printf 'no end' >&2; export HERON=grey\n"),
    "tcsh": (".login", "echo hello; setenv HERON grey\nprintf 'no end'\n"),
    "fish": (".config/fish/config.fish", "echo hello; set -gx HERON grey; printf 'no end'\n"),
}


@pytest.fixture
def newcomer(request: pytest.FixtureRequest) -> Iterator[pwd.struct_passwd]:
    """An account made for the test, with the login shell it names."""
    shell, name = shutil.which(str(request.param)), f"iai-t{os.getpid()}"
    if shell is None or shutil.which("useradd") is None:
        pytest.skip(f"needs {request.param} and useradd")
    subprocess.run(["useradd", "--no-create-home", "--shell", shell, name], check=True)
    yield pwd.getpwnam(name)
    subprocess.run(["userdel", name], check=True)


@needs_root
@pytest.mark.parametrize("newcomer", sorted(START_UP), indirect=True)
def test_any_login_shell_and_a_banner_will_do(
    newcomer: pwd.struct_passwd,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))
    name, text = START_UP[os.path.basename(newcomer.pw_shell)]
    with theirs(newcomer, banner=BANNER) as running:
        start_up = running.home / name
        start_up.parent.mkdir(parents=True, exist_ok=True)
        start_up.write_text(text)
        for made in (start_up, *start_up.parents[: len(Path(name).parts) - 1]):
            os.chown(made, newcomer.pw_uid, newcomer.pw_gid)
        ssh = ("ssh", "-F", str(running.config))
        machine = Machine(RemoteRef.parse(f"ssh://{newcomer.pw_name}@far"), ssh=ssh)
        try:
            pty, heard = RemotePty(machine), bytearray()
            spec = SpawnSpec("sh", ("-c", "echo the heron is $HERON; cat"), str(running.home))
            session = pty.spawn(spec, TerminalSize())
            stop = pty.subscribe_output(session, heard.extend)
            until(lambda: b"the heron is grey" in heard, f"it was told: {heard!r}")
            stop()
            pty.kill(session)
        finally:
            machine.disconnect()
