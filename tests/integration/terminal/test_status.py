"""What a session says it is doing: the hooks' word first, else a guess that says so."""

import json
import os
from pathlib import Path

import pytest
from tests.terminal_kit import Desk, eventually


def report(desk: Desk, session: str, status: str) -> None:
    """What a host's hook does."""
    path = desk.home / ".iai-mcp" / "s" / session / "status"
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps({"status": status, "ts": 1, "source": "test"}) + "\n")


def events(desk: Desk, session: str) -> list[dict[str, object]]:
    path = desk.home / ".iai-mcp" / "s" / session / "events"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_hooks_word_is_the_status_until_the_next(desk: Desk) -> None:
    session = desk.start("cat")
    assert desk.state(session).status == "running"

    for status in ("waiting", "running", "idle"):
        report(desk, session, status)
        state = desk.state(session)
        assert (state.status, state.source) == (status, "hook")

    told = eventually(lambda: found if len(found := events(desk, session)) >= 3 else None)
    assert [event["status"] for event in told if event["source"] == "hook"] == [
        "waiting",
        "running",
        "idle",
    ]


def test_output_does_not_overrule_a_hook(desk: Desk) -> None:
    session = desk.start("sh", "-c", "while read x; do echo $x; done")
    report(desk, session, "waiting")
    desk.pty.write(session, b"noise\r")
    with desk.watching(session) as watcher:
        watcher.until(b"noise\r\nnoise")

    done = desk.cli("session", "wait", session, "--until", "idle", "--timeout", "3", "--json")

    assert json.loads(done.stdout)["error"]["code"] == "TIMEOUT"
    assert desk.state(session).status == "waiting"


def test_without_hooks_quiet_is_guessed_to_be_idle(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo working; read x")

    done = desk.cli("session", "wait", session, "--until", "idle", "--timeout", "10", "--json")

    answer = json.loads(done.stdout)
    assert (answer["status"], answer["status_source"]) == ("idle", "guess")


def test_a_bell_before_the_quiet_is_guessed_to_be_waiting(desk: Desk) -> None:
    session = desk.start("sh", "-c", r"printf '\033]0;title\007may I? \007'; read x")

    done = desk.cli("session", "wait", session, "--until", "waiting", "--timeout", "10", "--json")

    assert json.loads(done.stdout)["status_source"] == "guess"


def test_waiting_for_a_hooks_status_returns_when_it_comes(desk: Desk) -> None:
    session = desk.start(
        "sh",
        "-c",
        'read x; echo \'{"status": "waiting"}\' >> '
        '"$IAI_MCP_SESSION_DIR/status"; echo asked; read x',
    )
    desk.pty.write(session, b"\r")

    done = desk.cli("session", "wait", session, "--until", "waiting", "--timeout", "10", "--json")

    assert json.loads(done.stdout)["status_source"] == "hook"


def test_waiting_for_the_end_gives_the_exit_code(desk: Desk) -> None:
    session = desk.start("sh", "-c", "read x; exit 3")
    desk.pty.write(session, b"\r")

    done = desk.cli("session", "wait", session, "--until", "exited", "--json")

    assert json.loads(done.stdout) == {
        "session": session,
        "status": "exited",
        "status_source": "exit",
        "exit_code": 3,
    }


def test_a_session_that_ended_will_never_be_idle(desk: Desk) -> None:
    session = desk.start("true")
    desk.ended(session)

    done = desk.cli("session", "wait", session, "--until", "idle", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "NOT_FOUND"


def test_who_waits_right_after_sending_does_not_see_the_old_idle(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo ready; while read x; do echo heard; done")
    report(desk, session, "idle")
    assert desk.state(session).status == "idle"

    desk.cli("session", "send", session, "a task")

    state = desk.state(session)
    assert (state.status, state.source) == ("running", "guess")


def test_a_program_that_starts_its_conversation_with_the_first_message_is_not_at_rest(
    desk: Desk,
) -> None:
    """Codex tells of the start of a conversation only when the first message came."""
    session = desk.start("sh", "-c", "echo ready; while read x; do echo heard; done")
    report(desk, session, "started")
    assert (desk.state(session).status, desk.state(session).source) == ("idle", "hook")

    desk.cli("session", "send", session, "a task")
    report(desk, session, "started")
    assert desk.state(session).status == "running"
    for status in ("running", "idle"):
        report(desk, session, status)
        assert desk.state(session).status == status
    report(desk, session, "started")
    assert desk.state(session).status == "idle"


def test_a_program_launched_with_a_first_message_is_at_work_until_it_has_answered(
    desk: Desk,
) -> None:
    session = desk.start("cat", env={"IAI_MCP_PROMPTED": "1"})

    for status, shown in (("started", "running"), ("idle", "idle"), ("started", "idle")):
        report(desk, session, status)
        assert desk.state(session).status == shown


def test_a_shell_is_not_idle_while_its_command_runs_and_prints_nothing(desk: Desk) -> None:
    gate = desk.home / "gate"
    os.mkfifo(gate)
    session = desk.start("bash", "--norc", "-i", env={"PS1": "ready> "})
    desk.cli("session", "send", session, f"cat {gate}")

    early = desk.cli("session", "wait", session, "--until", "idle", "--timeout", "3", "--json")
    assert json.loads(early.stdout)["error"]["code"] == "TIMEOUT"
    gate.write_text("done\n")
    done = desk.cli("session", "wait", session, "--until", "idle", "--timeout", "10", "--json")
    assert json.loads(done.stdout)["status"] == "idle"


def test_news_run_the_persons_own_command(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    script = tmp_path / "notify"
    script.write_text(f'#!/bin/sh\necho "$1 $IAI_MCP_SESSION_STATUS" >> {told}\n')
    script.chmod(0o700)
    monkeypatch.setenv("IAI_MCP_NOTIFY", f"{script} 'for me'")
    session = desk.start("sh", "-c", "read x")

    report(desk, session, "waiting")
    eventually(lambda: told.exists() and "for me waiting" in told.read_text(), "the notice")
    desk.pty.write(session, b"\r")
    eventually(lambda: "for me exited" in told.read_text(), "the last notice")

    assert os.access(told, os.R_OK)


def test_the_end_is_an_event_with_its_code(desk: Desk) -> None:
    session = desk.start("sh", "-c", "exit 2")
    desk.ended(session)

    last = eventually(lambda: events(desk, session))[-1]

    assert (last["event"], last["exit_code"]) == ("SessionExited", 2)


def common_events(desk: Desk, session: str) -> list[dict[str, object]]:
    path = desk.home / ".iai-mcp" / "agent-events.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for line in lines if line["session_id"] == session]


def test_every_change_is_in_the_journal_of_all_agents(desk: Desk) -> None:
    session = desk.start("sh", "-c", "read x; exit 3", env={"IAI_MCP_AGENT_ID": "a-1"})
    report(desk, session, "waiting")
    eventually(lambda: len(common_events(desk, session)) >= 2, "the change")
    desk.pty.write(session, b"\r")
    eventually(lambda: common_events(desk, session)[-1]["status"] == "exited", "its end")

    told = common_events(desk, session)

    statuses = [line["status"] for line in told]
    assert (statuses[0], statuses[-1]) == ("running", "exited")
    assert "waiting" in statuses
    assert {line["agent_id"] for line in told} == {"a-1"}
    assert (told[-1]["event"], told[-1]["exit_code"]) == ("SessionExited", 3)
    path = desk.home / ".iai-mcp" / "agent-events.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_agent_id_that_is_none_can_not_break_the_journal(desk: Desk) -> None:
    session = desk.start("true", env={"IAI_MCP_AGENT_ID": '"}\n{"event": "Forged"'})
    desk.ended(session)

    assert "agent_id" not in eventually(lambda: common_events(desk, session))[-1]


def test_a_journal_that_takes_nothing_does_not_end_the_program(desk: Desk) -> None:
    (desk.home / ".iai-mcp" / "agent-events.jsonl").mkdir(parents=True)
    session = desk.start("sh", "-c", "read x; exit 4")
    report(desk, session, "waiting")
    eventually(lambda: desk.state(session).status == "waiting", "the change")
    desk.pty.write(session, b"\r")

    assert desk.ended(session).exit_code == 4
