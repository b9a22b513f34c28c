"""Two agents on one project, each with its own persona and terminal, and one memory for both."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

STANDIN = Path(__file__).parents[1] / "standins" / "agent.py"
FACT = "The staging database of project Heron listens on port 5433."


class Workshop:
    """A scratch home with two agent programs on the PATH, a project and a running daemon."""

    def __init__(self, daemon: DaemonProcess) -> None:
        self.daemon = daemon
        self.home: ScratchHome = daemon.home
        self.project = self.home.path / "heron"
        self.reports = self.home.path / "reports"
        self.programs = self.home.path / "bin"
        for folder in (self.project, self.reports, self.programs):
            folder.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        for command, host in (("claude", "claude-code"), ("codex", "codex")):
            program = self.programs / command
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" {host} "$@"\n')
            program.chmod(0o755)

    def iai(self, *words: str, stdin: str = "") -> dict[str, Any]:
        done = self.home.command(
            *words,
            "--json",
            stdin=stdin,
            PATH=f"{self.programs}:{os.environ['PATH']}",
            STANDIN_REPORTS=str(self.reports),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return dict(json.loads(done.stdout))

    def hire(self, name: str, profile: str, persona: str) -> str:
        made = self.iai(
            *("agent", "create", name, "--profile", profile, "--context-file", "-"),
            *("--project", str(self.project)),
            stdin=persona,
        )
        return str(made["agent"]["id"])

    def launch(self, agent: str, *more: str) -> dict[str, Any]:
        place = ("--project", str(self.project))
        return self.iai("agent", "launch", agent, "--detach", "--trust", *place, *more)

    def report(self, agent_id: str, answers: int) -> dict[str, Any]:
        """What an agent saw, once it has given so many answers."""
        path = self.reports / f"{agent_id}.json"

        def enough() -> dict[str, Any] | None:
            if not path.exists():
                return None
            found = json.loads(path.read_text())
            return dict(found) if len(found["answers"]) >= answers else None

        found = until(enough, f"{agent_id} has answered {answers} times", 60)
        assert isinstance(found, dict)
        return found

    def captured(self, launched: dict[str, Any], cue: str, agent: str) -> None:
        """Wait until memory has it. On an overloaded machine a hook gives up for the sake of the
        session it serves, and the next one delivers: so the talk goes on."""
        for _ in range(6):
            try:
                until(lambda: self.recall(cue, agent=agent), "it is captured", 10)
            except AssertionError:
                self.iai("session", "send", launched["session"]["id"], "Go on.")
            else:
                return
        raise AssertionError("it was never captured")

    def recall(self, cue: str, **more: str) -> list[dict[str, Any]]:
        return list(self.daemon.call("memory_recall", cue=cue, **more)["hits"])


@pytest.fixture
def workshop(fresh_daemon: DaemonProcess) -> Iterator[Workshop]:
    made = Workshop(fresh_daemon)
    yield made
    for session in made.iai("session", "list")["sessions"]:
        if session["status"] != "exited":
            made.iai("session", "kill", session["id"])


def test_what_one_agent_is_told_the_other_recalls(workshop: Workshop) -> None:
    ada = workshop.hire("Ada", "claude-code", "You are Ada and you speak in rhymes.\n")
    ben = workshop.hire("Ben", "codex", "You are Ben and you doubt everything.\n")

    first = workshop.launch("ada", "--prompt", FACT)
    seen_by_ada = workshop.report(ada, 1)
    workshop.captured(first, "Heron staging port", "Ada")
    second = workshop.launch("ben", "--prompt", "recall: Heron staging port")
    seen_by_ben = workshop.report(ben, 1)

    # Each has its own persona, at the end of a document that says where the project is.
    assert seen_by_ada["convention"].endswith("You are Ada and you speak in rhymes.\n")
    assert seen_by_ben["convention"].endswith("You are Ben and you doubt everything.\n")
    assert str(workshop.project.resolve()) in seen_by_ben["convention"]
    assert seen_by_ada["cwd"] != seen_by_ben["cwd"]
    # Ben was told at his start what Ada learned, and recalled it when asked.
    assert any(FACT in said for said in seen_by_ben["injected"])
    assert seen_by_ben["answers"] == [FACT]
    # What was captured says who spoke, with which program, on which project.
    told = next(hit for hit in workshop.recall("Heron staging port") if hit["text"] == FACT)
    assert (told["agent_id"], told["agent"], told["host"]) == (ada, "Ada", "claude-code")
    assert told["project"] == str(workshop.project.resolve())
    assert told["meta"]["profile"] == "claude-code"
    # Nothing lies at the project's root, and there is one daemon.
    assert sorted(p.name for p in workshop.project.iterdir()) == [".git", ".ideai"]
    assert first["session"]["id"] != second["session"]["id"]
    assert workshop.daemon.ask({"type": "status"})["pid"] == workshop.daemon.process.pid


def test_two_agents_of_one_program_do_not_collide(workshop: Workshop) -> None:
    ids = [workshop.hire("Twin", "claude-code", f"You are twin {n}.\n") for n in (1, 2)]
    for slug in ("twin", "twin-2"):
        workshop.launch(slug, "--prompt", "hello")
    reports = [workshop.report(agent, 1) for agent in ids]

    assert [r["convention"].splitlines()[-1] for r in reports] == [
        "You are twin 1.",
        "You are twin 2.",
    ]
    assert len({r["cwd"] for r in reports}) == 2
    sessions = workshop.iai("session", "list")["sessions"]
    assert {s["agent_id"] for s in sessions} == set(ids)


def test_an_agent_launched_while_the_daemon_is_down_is_captured_later(workshop: Workshop) -> None:
    ada = workshop.hire("Ada", "claude-code", "You are Ada.\n")
    workshop.daemon.stop()
    launched = workshop.launch("ada", "--prompt", FACT)
    workshop.report(ada, 1)
    workshop.daemon.start()

    assert any("iai-mcp up" in note for note in launched["notes"])
    workshop.captured(launched, "Heron staging port", ada)


def test_agents_are_managed_over_the_socket_by_the_same_names(workshop: Workshop) -> None:
    place = {"project": str(workshop.project)}
    made = workshop.daemon.call(
        "agents_create", name="Cleo", profile="codex", context="I am Cleo.\n", **place
    )["agent"]

    listed = workshop.iai("agent", "list", "--project", str(workshop.project))["agents"]
    assert [agent["id"] for agent in listed] == [made["id"]]
    assert workshop.daemon.call("agents_list", **place)["agents"] == listed
    plan = workshop.daemon.call("agents_launch", agent="cleo", print_only=True, **place)
    assert plan["command"] == "codex"
    refused = workshop.daemon.rpc("agents_launch", agent="cleo", **place)["error"]
    assert "iai-mcp agent launch" in refused["message"]
    missing = workshop.daemon.rpc("agents_create", **place)["error"]
    assert (missing["code"], missing["message"]) == (-32602, "missing required param: 'name'")
    workshop.daemon.call("agents_delete", agent="cleo", **place)
    assert workshop.daemon.call("agents_list", **place)["agents"] == []
    gone = workshop.daemon.rpc("agents_delete", agent="cleo", **place)["error"]
    assert gone["data"]["code"] == "NOT_FOUND"


def test_a_session_that_is_lost_is_an_event_before_anybody_asks_for_it(workshop: Workshop) -> None:
    ada = workshop.hire("Ada", "claude-code", "You are Ada.\n")
    session = str(workshop.launch("ada")["session"]["id"])
    workshop.report(ada, 0)
    state = workshop.home.store / "s" / session / "state.json"
    os.kill(json.loads(state.read_text())["holder"], signal.SIGKILL)
    journal = state.parents[2] / "agent-events.jsonl"

    until(lambda: "SessionLost" in journal.read_text(), "the loss is noticed", 5)
    (lost,) = workshop.daemon.call("events_query", kind="SessionLost")["events"]
    assert (lost["data"]["session_id"], lost["data"]["agent_id"]) == (session, ada)
