"""A home with a daemon, and another machine with a project and agent programs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.sshd import Sshd

STANDIN = Path(__file__).parents[1] / "standins" / "agent.py"


class Outpost:
    """A home with a daemon, and another machine with a project and an agent program."""

    def __init__(self, home: ScratchHome, far: Sshd) -> None:
        self.home, self.far = home, far
        self.project = far.home / "heron"
        self.reports, programs = far.home / "reports", far.home / "bin"
        for folder in (self.project, self.reports, programs):
            folder.mkdir(exist_ok=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        for command, host in (("claude", "claude-code"), ("codex", "codex")):
            program = programs / command
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" {host} "$@"\n')
            program.chmod(0o755)
        # As people set up their machines: sshd itself knows nothing of it.
        (far.home / ".profile").write_text(
            f"echo welcome\nPATH={programs}:$PATH\nexport STANDIN_REPORTS={self.reports}\n"
        )
        near = self.home.path / "near-bin"
        near.mkdir()
        ssh = near / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {far.config} "$@"\n')
        ssh.chmod(0o755)
        self.path = f"{near}:{os.environ['PATH']}"
        self.address = f"ssh://far{self.project}"
        self.daemon = DaemonProcess(home, PATH=self.path).start()

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return self.home.command(*words, stdin=stdin, PATH=self.path)

    def iai(self, *words: str, stdin: str = "") -> dict[str, Any]:
        done = self.run(*words, "--json", stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return dict(json.loads(done.stdout))

    def there(self, *words: str, stdin: str = "") -> dict[str, Any]:
        """The same about the project over there."""
        return self.iai(*words, "--project", self.address, stdin=stdin)

    def hire(self, name: str, persona: str, profile: str = "claude-code") -> str:
        words = ("agent", "create", name, "--profile", profile, "--context-file", "-")
        return str(self.there(*words, stdin=persona)["agent"]["id"])

    def launch(self, agent: str, *more: str) -> str:
        started = self.there("agent", "launch", agent, "--detach", "--trust", *more)
        return str(started["session"]["id"])

    def report(self, agent_id: str, answers: int) -> dict[str, Any]:
        path = self.reports / f"{agent_id}.json"

        def enough() -> dict[str, Any] | None:
            if not path.exists():
                return None
            found = json.loads(path.read_text())
            return dict(found) if len(found["answers"]) >= answers else None

        return until(enough, f"{agent_id} has answered {answers} times", 60)

    def session(self, session_id: str) -> dict[str, Any]:
        listed = self.iai("session", "list")["sessions"]
        return dict(next(one for one in listed if one["id"] == session_id))

    def recall(self, cue: str) -> list[dict[str, Any]]:
        return list(self.daemon.call("memory_recall", cue=cue)["hits"])

    @property
    def store_there(self) -> Path:
        """Where what belongs to this home is kept over there."""
        return next((self.far.home / ".iai-mcp/far/homes").glob(self.home_id))

    @property
    def home_id(self) -> str:
        return (self.home.store / "far/home").read_text()

    def spooled(self) -> list[Path]:
        return sorted((self.store_there / ".deferred-captures").glob("*.jsonl"))

    def say_there(self, session: str, text: str) -> None:
        """As if the person had typed it on that machine: nothing of it comes from here."""
        done = self.home.command(
            *("session", "send", session, text), IAI_MCP_STORE=str(self.store_there)
        )
        assert done.returncode == 0, done.stderr

    def close(self) -> None:
        for session in self.there("session", "list")["sessions"]:
            self.run("session", "kill", session["id"], "--project", self.address)
        self.there("session", "prune")


@contextmanager
def outpost(far: Sshd) -> Iterator[Outpost]:
    home = ScratchHome()
    made = Outpost(home, far)
    try:
        made.iai("project", "add", made.address, "--name", "Heron")
        yield made
    finally:
        made.daemon.stop()
        for control in home.store.glob("far/*.ssh"):
            subprocess.run(["ssh", "-F", "none", "-S", control, "-O", "exit", "far"], check=False)
        home.remove()
