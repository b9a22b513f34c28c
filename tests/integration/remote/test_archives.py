"""Archives over there: replaced by an upgrade, and swept when no session uses them."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from tests.support.sshd import Sshd

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.remote import archive
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.pty import RemotePty

LONG_AGO = time.time() - 86_400


def test_an_archive_that_no_session_uses_goes_and_one_in_use_stays(
    far: Machine, far_machine: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = RemotePty(far).spawn(SpawnSpec("cat", (), str(tmp_path)), TerminalSize())
    first = place(far_machine)
    upgraded = upgrade(far, tmp_path, monkeypatch)
    second = place(far_machine)
    os.utime(first, (LONG_AGO, LONG_AGO))
    again(far)

    assert upgraded.read() == (second / "far.pyz").read_bytes()
    assert first.is_dir()
    assert [one.id for one in RemotePty(far).all() if one.status.alive] == [session]

    RemotePty(far).kill(session)
    os.utime(first, (LONG_AGO, LONG_AGO))
    again(far)
    deadline = time.monotonic() + 20
    while first.exists():
        assert time.monotonic() < deadline, "it was not swept"
        far.call("project", path="/")


def place(far_machine: Sshd) -> Path:
    return far_machine.home / ".iai-mcp/far" / archive.current().digest


def upgrade(far: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> archive.Archive:
    """The same sources once more under another digest, as after an upgrade here."""
    newer = tmp_path / "newer.pyz"
    shutil.copy(archive.current().path, newer)
    with zipfile.ZipFile(newer, "a") as more:
        more.writestr("newer.txt", "of a later version")
    made = archive.Archive(newer, hashlib.sha256(newer.read_bytes()).hexdigest())
    monkeypatch.setattr("iai_mcp.remote.archive.current", lambda: made)
    again(far)
    return made


def again(far: Machine) -> None:
    far.close()
    far.hello()


_IMPORT_ALL = """
import importlib, os, sys
root = sys.argv[1]
sys.path.insert(0, root)
failed = []
for folder, _, names in os.walk(os.path.join(root, "iai_mcp")):
    for name in names:
        module = os.path.relpath(os.path.join(folder, name), root)[:-3].replace("/", ".")
        if not name.endswith(".py") or module.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.removesuffix(".__init__"))
        except ImportError as missing:
            failed.append(f"{module}: {missing.name}")
print("\\n".join(sorted(failed)))
"""


def test_what_travels_needs_nothing_that_stays_here(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive.build())) as packed:
        packed.extractall(tmp_path)
    command = [sys.executable, "-I", "-S", "-c", _IMPORT_ALL, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")

    # Values of recall travel along and are used by nobody there: who needed them would be named.
    pure = ("iai_mcp.domain.", "iai_mcp.ports.")
    assert [line for line in said if line and not line.startswith(pure)] == []
