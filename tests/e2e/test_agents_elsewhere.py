"""Agents on another machine, by a real sshd: launched, listed, spoken with, and remembered here."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.sshd import Sshd
from tests.terminal_kit import Terminal

STANDIN = Path(__file__).parents[1] / "standins" / "agent.py"
FACT = "The staging database of project Heron listens on port 5433."


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


@pytest.fixture(scope="module")
def opened(far_machine: Sshd) -> Iterator[Outpost]:
    home = ScratchHome()
    made = Outpost(home, far_machine)
    made.iai("project", "add", made.address, "--name", "Heron")
    yield made
    made.daemon.stop()
    for control in home.store.glob("far/*.ssh"):
        subprocess.run(["ssh", "-F", "none", "-S", control, "-O", "exit", "far"], check=False)
    home.remove()


@pytest.fixture
def outpost(opened: Outpost) -> Iterator[Outpost]:
    yield opened
    opened.close()


def test_an_agent_lives_there_as_it_would_here(outpost: Outpost) -> None:
    ada = outpost.hire("Ada", "You are Ada and you speak in rhymes.\n")

    session = outpost.launch("ada", "--prompt", "hello")
    seen = outpost.report(ada, 1)
    listed = outpost.session(session)
    outpost.iai("session", "send", session, "And again.")
    outpost.report(ada, 2)
    outpost.iai("session", "wait", "ada", "--until", "idle", "--timeout", "30")
    said = outpost.iai("session", "logs", session)["text"]

    assert seen["cwd"] == str(outpost.project / ".ideai/run" / ada)
    assert seen["convention"].endswith("You are Ada and you speak in rhymes.\n")
    assert (listed["agent_name"], listed["machine"]) == ("Ada", "ssh://far")
    assert "And again." in said
    assert "far" in outpost.run("session", "list").stdout
    assert outpost.iai("project", "list")["projects"][0]["remote"] == "ssh://far"
    refused = outpost.run("agent", "delete", "ada", "--project", outpost.address)
    assert "is running" in refused.stderr
    assert outpost.there("session", "broadcast", "To all.")["sent"][0]["delivered"] is True
    outpost.iai("session", "kill", session)
    again = outpost.there("agent", "resume", "ada", "--detach", "--trust")["session"]["id"]
    assert again != session
    assert outpost.session(session)["status"] == "exited"
    outpost.there("agent", "delete", "ada", "--force")
    assert outpost.there("agent", "list")["agents"] == []
    assert outpost.there("agent", "prune")["run_dirs"] == []


def test_what_is_said_about_a_project_there_names_its_machine(outpost: Outpost) -> None:
    added = outpost.run("project", "add", outpost.address).stdout
    words = ("agent", "create", "Nia", "--profile", "goose", "--project", outpost.address)
    made = outpost.run(*words)
    outpost.there("agent", "delete", "nia")

    assert added.startswith("ssh://far/")
    assert f"agent launch nia --project {outpost.address}" in made.stdout
    assert "no 'goose' on the PATH of your login shell on far" in made.stderr


def test_what_it_is_told_there_is_remembered_here_with_its_machine(outpost: Outpost) -> None:
    ada = outpost.hire("Eve", "You are Eve.\n")
    outpost.launch("eve", "--prompt", FACT)
    outpost.report(ada, 1)
    told = until(lambda: outpost.recall("Heron staging port"), "it is remembered", 60)[0]
    ben = outpost.hire("Ben", "You are Ben.\n", "codex")
    outpost.launch("ben", "--prompt", "recall: Heron staging port")
    seen = outpost.report(ben, 1)

    assert (told["text"], told["agent"], told["machine"]) == (FACT, "Eve", "ssh://far")
    assert told["project"] == outpost.address
    assert seen["answers"] == [FACT]
    assert any(FACT in said for said in seen["injected"])
    # A program without hooks is told in its document, of that project and no other.
    words = ("--command", "sh", "--injection", "convention_file:NOTE.md")
    outpost.iai("profile", "add", "--name", "Plain", *words)
    kim = outpost.hire("Kim", "You are Kim.\n", "plain")
    outpost.launch("kim")
    note = outpost.project / ".ideai/run" / kim / "NOTE.md"
    assert FACT in note.read_text()
    for agent in ("eve", "ben", "kim"):
        outpost.there("agent", "delete", agent, "--force")


def test_a_machine_that_is_away_delays_nobody_and_its_rows_say_so(outpost: Outpost) -> None:
    outpost.hire("Zoe", "You are Zoe.\n")
    session = outpost.launch("zoe")
    assert outpost.session(session)["status"] != "unreachable"
    outpost.far.stop()
    try:
        began = time.monotonic()
        away = outpost.iai("session", "list")
        took = time.monotonic() - began
        refused = outpost.run("agent", "list", "--project", outpost.address)
    finally:
        outpost.far.start()

    assert [one["status"] for one in away["sessions"] if one["id"] == session] == ["unreachable"]
    assert away["unreachable"][0]["machine"] == "ssh://far"
    assert took < 10  # the machine's own limit is a second; this one may be busy
    assert refused.returncode == 1
    assert "it can not be reached" in refused.stderr
    assert outpost.session(session)["status"] != "unreachable"
    outpost.there("agent", "delete", "zoe", "--force")


def test_who_is_attached_is_connected_again_after_a_cut_and_misses_nothing(
    outpost: Outpost, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**outpost.home.environment, "PATH": outpost.path}.items():
        monkeypatch.setenv(name, value)
    outpost.iai("profile", "add", "--name", "Sh", "--command", "sh", "--injection", "env:X")
    outpost.hire("Sam", "x", "sh")
    session = outpost.launch("sam")
    command = [sys.executable, "-m", "iai_mcp.cli", "session", "attach", session]
    screen = Terminal(command)
    try:
        screen.is_raw()
        screen.type(b"echo be''fore\r")
        screen.shows("before")
        outpost.far.stop()
        screen.shows("connection to ssh://far lost")
        outpost.far.start()
        screen.until(
            lambda: "connection to" not in "\n".join(screen.screen.display), "it is painted anew"
        )
        assert "before" in "\n".join(screen.screen.display)
        screen.type(b"echo af''ter; exit 7\r")
        screen.shows("after")
        assert screen.ends() == 7
    finally:
        screen.close()
    outpost.there("agent", "delete", "sam", "--force")


def test_what_was_said_while_nobody_was_connected_comes_home_once(outpost: Outpost) -> None:
    mia = outpost.hire("Mia", "You are Mia.\n")
    session = outpost.launch("mia", "--prompt", "hello")
    outpost.report(mia, 1)
    assert outpost.session(session)["status"] != "unreachable"
    secret = "The lighthouse of project Heron blinks every seven seconds."
    outpost.far.stop()
    try:
        outpost.say_there(session, secret)
        outpost.report(mia, 2)
        (left,) = until(outpost.spooled, "it is in the spool over there")
        kept = left.read_bytes()
        assert left.stat().st_mode & 0o777 == 0o600
        assert outpost.recall("lighthouse blinks") == [] or all(
            hit["text"] != secret for hit in outpost.recall("lighthouse blinks")
        )
    finally:
        outpost.far.start()

    def found() -> list[dict[str, Any]]:
        return [hit for hit in outpost.recall("lighthouse blinks") if hit["text"] == secret]

    until(found, "it came home by itself", 60)
    until(lambda: not outpost.spooled(), "the spool is empty")
    left.write_bytes(kept)  # as after a kill between the storing and the removing
    until(lambda: not outpost.spooled(), "it was taken once more")

    assert [hit["machine"] for hit in found()] == ["ssh://far"]
    outpost.there("agent", "delete", "mia", "--force")


def test_the_doctor_examines_the_other_machine(outpost: Outpost) -> None:
    well = outpost.there("doctor")
    outpost.far.stop()
    try:
        away = outpost.run("doctor", "--project", outpost.address)
    finally:
        outpost.far.start()

    assert {check["name"]: check["status"] for check in well["checks"]} == dict.fromkeys(
        ("connection", "archive", "project", "memory", "spool", "disk", "programs"), "PASS"
    )
    assert away.returncode == 1
    assert "it can not be reached" in away.stdout
