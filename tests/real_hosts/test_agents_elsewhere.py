"""The real programs on another machine, by a real sshd: they remember, and are remembered, here."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import pytest

from tests.real_hosts.conftest import Machine
from tests.real_hosts.programs import CLAUDE, CODEX, Program
from tests.real_hosts.stub_model import Say
from tests.real_hosts.test_launched_agents import FACT, NOTED, records, requests, screen, until
from tests.support.sshd import Sshd

pytestmark = pytest.mark.real_hosts

QUESTION = "Which port was it?"
ANSWER = "It was 5433."
ALONE = "While nobody listens: the heron nests on pier nine."
HEARD = "Pier nine, then."


@pytest.fixture
def near_ssh(far_machine: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon has to find it too, so it is there before the daemon starts."""
    ssh = tmp_path / "near" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {far_machine.config} "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")


@pytest.fixture
def outpost(near_ssh: None, machine: Machine, far_machine: Sshd) -> Iterator[Machine]:
    """Claude Code and Codex are installed and set up over there, and nothing of them here."""
    there = far_machine.home
    lines = [f"PATH={machine.cache / 'node_modules' / '.bin'}:$PATH"]
    for program in (CLAUDE, CODEX):
        program.prepare(there, machine.model.url)
        given = program.environment(machine.model.url).items()
        lines += [f"export {name}={quote(value)}" for name, value in given]
    (there / ".profile").write_text("\n".join([*lines, ""]))
    known = {"approved": ["sk-ant-stub"], "rejected": []}
    (there / ".claude.json").write_text(
        json.dumps(
            {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": known}
        )
    )
    yield machine
    for session in machine.iai("session", "list")["sessions"]:
        if session["status"] != "exited":
            machine.iai("session", "kill", session["id"])


def say_there(store: Path, session: str, text: str) -> None:
    """As if the person had typed it on that machine: nothing of it comes from here."""
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "session", "send", session, text],
        env={**os.environ, "IAI_MCP_STORE": str(store)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", [CLAUDE, CODEX], ids=lambda p: p.id)
def test_a_program_over_there_is_remembered_and_recalls_here_also_after_a_cut(
    outpost: Machine, far_machine: Sshd, program: Program
) -> None:
    place = far_machine.home / f"heron-{program.id}"
    subprocess.run(["git", "init", "-q", str(place)], check=True, timeout=30)
    there = ("--project", f"ssh://far{place}")
    outpost.iai("project", "add", there[1])
    outpost.iai("agent", "create", "Ada", "--profile", program.id, *there)

    outpost.model.expect(Say(NOTED))
    words = ("agent", "launch", "ada", "--detach", "--trust", "--prompt", FACT)
    launched = outpost.iai(*words, *there)
    session = launched["session"]["id"]
    until(lambda: len(requests(outpost)) >= 1, lambda: screen(outpost, launched))
    learnt = records(outpost, 2, *there)

    assert [(r["text"], r["host"]) for r in learnt] == [(FACT, program.id), (NOTED, program.id)]
    assert {(r["machine"], r["agent"]) for r in learnt} == {("ssh://far", "Ada")}

    outpost.iai("session", "wait", session, "--until", "idle", "--timeout", "60")
    outpost.model.expect(program.recall("Heron staging port"), Say(ANSWER))
    outpost.iai("session", "send", session, QUESTION)
    until(lambda: len(requests(outpost)) >= 2, lambda: screen(outpost, launched))
    asked, answered = requests(outpost)[:2]
    records(outpost, 4, *there)

    assert answered.count(FACT) > asked.count(FACT), "recall over there found nothing"

    outpost.iai("session", "wait", session, "--until", "idle", "--timeout", "60")
    home_id = (Path(os.environ["IAI_MCP_STORE"]) / "far/home").read_text()
    store = far_machine.home / ".iai-mcp/far/homes" / home_id
    outpost.model.expect(Say(HEARD))
    far_machine.stop()
    try:
        say_there(store, session, ALONE)
        until(lambda: len(requests(outpost)) >= 1, lambda: "the program did not ask its model")
        spool = store / ".deferred-captures"
        until(
            lambda: HEARD in "".join(p.read_text() for p in spool.glob("*.jsonl")),
            lambda: f"spooled: {list(spool.iterdir())}",
        )
    finally:
        far_machine.start()

    until(lambda: not list(spool.glob("*.jsonl")), lambda: "the spool was not emptied")
    everything = records(outpost, 6, *there)
    assert [r["text"] for r in everything] == [FACT, NOTED, QUESTION, ANSWER, ALONE, HEARD]
    assert {r["machine"] for r in everything} == {"ssh://far"}
