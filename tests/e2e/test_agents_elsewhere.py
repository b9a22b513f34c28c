"""Agents on another machine, by a real sshd: launched, listed, spoken with, and remembered here."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.daemon import until
from tests.support.outpost import Outpost
from tests.support.outpost import outpost as made_outpost
from tests.support.sshd import Sshd
from tests.terminal_kit import Terminal

FACT = "The staging database of project Heron listens on port 5433."


@pytest.fixture(scope="module")
def opened(far_machine: Sshd) -> Iterator[Outpost]:
    with made_outpost(far_machine) as made:
        yield made


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


def test_what_happens_to_sessions_there_is_told_here_once(outpost: Outpost) -> None:
    ada = outpost.hire("Eve", "You are Eve.\n")
    session = outpost.launch("eve", "--prompt", "hello")
    outpost.report(ada, 1)

    def told(kind: str) -> list[dict[str, Any]]:
        events = outpost.iai("events", "--kind", kind, "--limit", "1000")["events"]
        return [one for one in events if one["data"].get("session_id") == session]

    until(lambda: told("SessionStatusChanged"), "its changes are told")
    state = json.loads((outpost.store_there / "s" / session / "state.json").read_text())
    os.kill(state["holder"], signal.SIGKILL)
    (lost,) = until(lambda: told("SessionLost"), "its loss is told")

    assert lost["data"]["machine"] == "ssh://far"
    assert lost["data"]["agent_id"] == ada
    (journal,) = outpost.store_there.glob("agent-events.jsonl")
    kept = [line for line in journal.read_text().splitlines() if session in line]
    everything = [*told("SessionStatusChanged"), *told("SessionExited"), *told("SessionLost")]
    assert len(everything) == len(kept)
    outpost.there("agent", "delete", "eve", "--force")
