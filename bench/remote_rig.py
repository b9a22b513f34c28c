"""A home with a daemon, and this machine once more behind a real sshd, for the benchmarks of far agents."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.support.sshd import Sshd, missing, sshd

from bench.cut_network import Link
from bench.scratch import Scratch


class Rig:
    """`here` and `there` are projects that differ in nothing but their machine."""

    def __init__(self, home: Scratch, far: Sshd, link: Link | None = None) -> None:
        self.home, self.far, self.link = home, far, link
        near = home.path / "bin"
        near.mkdir()
        ssh = near / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {far.config} "$@"\n')
        ssh.chmod(0o755)
        self.environment = {**home.environment, "PATH": f"{near}:{os.environ['PATH']}"}
        home.environment = self.environment
        os.environ.update(self.environment)  # what is done in this process is done as at that home
        self.here, place = str(home.path / "project"), far.home / "project"
        for folder in (self.here, place):
            Path(folder).mkdir()
        self.there = f"ssh://far{place}"
        words = ("--command", "cat", "--injection", "env:CONTEXT")
        self.iai("profile", "add", "--name", "Cat", *words)
        self.iai("project", "add", self.there)

    def iai(self, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", *words, "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            check=True,
            cwd=self.home.path,
        )
        return dict(json.loads(done.stdout))

    def launch(self, project: str, agent: str) -> str:
        started = self.iai("agent", "launch", agent, "--detach", "--project", project)
        return str(started["session"]["id"])

    @property
    def store_there(self) -> Path:
        home_id = (self.home.path / "store/far/home").read_text()
        return self.far.home / ".iai-mcp/far/homes" / home_id


@contextmanager
def rig(*, daemon: bool, network: bool = False) -> Iterator[Rig]:
    """`network`: the other machine has one of its own, where this user may make one."""
    if absent := missing():
        raise SystemExit(f"needs {absent}")
    home = Scratch()
    folder = home.path / "sshd"
    folder.mkdir()
    with ExitStack() as open_:
        link = open_.enter_context(Link.made()) if network else None
        where = sshd(folder, address=link.there, within=link.within) if link else sshd(folder)
        far = open_.enter_context(where)
        made = Rig(home, far, link)
        if daemon:
            home.start()
        try:
            yield made
        finally:
            _end(made)
            home.remove()


def _end(made: Rig) -> None:
    from iai_mcp.domain.projects.project import RemoteRef
    from iai_mcp.remote.machine import Machine
    from iai_mcp.remote.pty import RemotePty
    from iai_mcp.terminal import cleanup

    cleanup.end_all()
    machine = Machine.of(RemoteRef.parse("ssh://far"))
    for session in RemotePty(machine).all():
        RemotePty(machine).kill(session.id)
    machine.disconnect()
