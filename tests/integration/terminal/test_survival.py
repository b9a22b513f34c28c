"""What a session outlives, what it does not, and that nothing is left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.terminal_kit import SOURCE, Desk, Terminal, eventually

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import SessionLabel, TerminalSize
from iai_mcp.terminal import cleanup, pty, records, session_loss
from iai_mcp.terminal.pty import HolderPty

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if os.fork() == 0:
    os.setpgid(0, 0)
print("ready", os.getpid(), flush=True)
while True:
    time.sleep(60)
"""


def lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as source:
            return source.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def test_a_session_outlives_the_terminal_and_the_process_that_started_it(desk: Desk) -> None:
    command = [sys.executable, "-m", "iai_mcp.cli", "session", "start", "--", "cat"]
    terminal = Terminal(command)
    terminal.is_raw()
    session = eventually(lambda: [record.id for record in records.read_all()])[0]

    os.close(terminal.master)  # the window is closed
    terminal.process.wait(20)

    desk.pty.write(session, b"hello\r")
    with desk.watching(session) as watcher:
        watcher.until(b"hello\r\nhello")
    terminal.master = os.open(os.devnull, os.O_RDWR)
    terminal.close()


def test_the_holder_has_no_terminal_and_a_group_of_its_own(desk: Desk) -> None:
    session = desk.start("cat")
    record = eventually(lambda: found if (found := desk.record(session)).holder else None)
    assert record.holder is not None
    assert record.child is not None

    with open(f"/proc/{record.holder}/stat", encoding="utf-8") as source:
        fields = source.read().rsplit(")", 1)[1].split()
    group, terminal = int(fields[2]), int(fields[4])

    assert terminal == 0
    assert group not in (os.getpgrp(), record.child)
    assert os.getsid(record.child) == record.child
    assert not [
        fd
        for fd in _open_files(record.holder)
        if fd.startswith(str(desk.home)) and not fd.endswith("/lock")
    ]


def _open_files(pid: int) -> list[str]:
    directory = f"/proc/{pid}/fd"
    return [os.readlink(f"{directory}/{fd}") for fd in os.listdir(directory)]


def test_killing_the_holder_hangs_up_its_program(desk: Desk) -> None:
    session = desk.start("sleep", "1000")
    record = eventually(lambda: found if (found := desk.record(session)).child else None)
    assert record.holder is not None
    assert record.child is not None

    child = record.child
    os.kill(record.holder, signal.SIGKILL)

    eventually(lambda: not lives(child), "the program's end")
    lost = desk.record(session)
    assert (lost.status, lost.exit_code, lost.rebooted) == ("lost", None, False)
    assert cleanup.strays() == []


def test_a_program_that_ignores_the_hang_up_is_found_as_a_stray(desk: Desk) -> None:
    session = desk.python(STUBBORN)
    with desk.watching(session) as watcher:
        watcher.until(b"ready")
    record = desk.record(session)
    assert record.holder is not None
    assert record.child is not None

    child = record.child
    os.kill(record.holder, signal.SIGKILL)
    eventually(lambda: desk.record(session).status == "lost", "the loss")

    assert any(str(child) in sentence for sentence in cleanup.strays())
    desk.cli("session", "prune")
    eventually(lambda: not lives(child), "the stray's end")
    assert cleanup.strays() == []


def _members(session: int) -> list[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(pid) == session:
                found.append(pid)
    return found


def test_kill_ends_everything_in_the_session_within_a_second(desk: Desk) -> None:
    session = desk.python(STUBBORN)
    with desk.watching(session) as watcher:
        watcher.until(b"ready")
    child = desk.record(session).child
    assert child is not None
    everyone = eventually(lambda: pids if len(pids := _members(child)) == 2 else None)

    code = desk.pty.kill(session)

    assert code == 128 + signal.SIGKILL
    assert not any(lives(pid) for pid in everyone)
    assert not desk.record(session).alive


def test_a_program_that_minds_the_hang_up_ends_with_its_own_code(desk: Desk) -> None:
    code = "trap 'echo bye; exit 4' HUP; echo ready; while :; do read x; done"
    session = desk.start("sh", "-c", code)

    with desk.watching(session) as watcher:
        watcher.until(b"ready")
        assert desk.pty.kill(session) == 4
        assert b"bye" in watcher.to_the_end()


def test_a_session_whose_files_were_deleted_ends(desk: Desk) -> None:
    session = desk.start("sleep", "1000")
    record = eventually(lambda: found if (found := desk.record(session)).child else None)
    assert record.holder is not None
    assert record.child is not None

    child, holder = record.child, record.holder
    shutil.rmtree(desk.home / ".iai-mcp" / "s" / session)

    eventually(lambda: not lives(child), "the program's end")
    eventually(lambda: not lives(holder), "the holder's end")
    assert not os.path.exists(record.socket)


def test_a_tethered_program_ends_with_whoever_started_it(desk: Desk) -> None:
    code = (
        "import os, sys\n"
        "from iai_mcp.terminal.pty import HolderPty\n"
        "from iai_mcp.domain.agents.launch import SpawnSpec\n"
        "from iai_mcp.domain.agents.terminal import TerminalSize\n"
        "spec = SpawnSpec('sleep', ('1000',), '/')\n"
        "print(HolderPty().spawn(spec, TerminalSize(), detached=False), flush=True)\n"
        "sys.stdin.read()\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert starter.stdout is not None
    session = starter.stdout.readline().strip()
    assert desk.record(session).alive

    starter.communicate("")

    assert desk.ended(session).exit_code == 128 + signal.SIGHUP


def test_after_a_restart_of_the_machine_sessions_are_listed_as_lost(desk: Desk) -> None:
    session = desk.start("sleep", "1000")
    lose(desk, session)
    meta = desk.home / ".iai-mcp" / "s" / session / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "boot": "another"}))

    listed = json.loads(desk.cli("session", "list", "--json").stdout)["sessions"]

    assert [(entry["id"], entry["status"], entry["lost_to_reboot"]) for entry in listed] == [
        (session, "lost", True)
    ]


def lose(desk: Desk, session: str) -> records.SessionRecord:
    """Kill the session's holder; the session as it was."""
    record = eventually(lambda: found if (found := desk.record(session)).holder else None)
    assert record.holder is not None
    os.kill(record.holder, signal.SIGKILL)
    eventually(lambda: desk.record(session).status == "lost", "the loss")
    return record


def test_a_loss_is_told_once_whoever_notices_it(desk: Desk) -> None:
    label = SessionLabel(agent_id="a-1", agent_name="Backend Dev", profile_id="p")
    session = desk.start("sleep", "1000", label=label)
    before = lose(desk, session)
    with ThreadPoolExecutor(4) as pool:
        lists = list(pool.map(lambda _: desk.cli("session", "list", "--json"), range(4)))
        list(pool.map(lambda _: session_loss.note(), range(4)))

    assert all('"lost"' in done.stdout for done in lists)
    journal = (desk.home / ".iai-mcp" / "agent-events.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in journal if "SessionLost" in line]
    assert [(event["session_id"], event["agent_id"]) for event in told] == [(session, "a-1")]
    assert desk.record(session).child == before.child


def test_the_list_says_how_a_lost_agent_comes_back(desk: Desk) -> None:
    label = SessionLabel(agent_id="a-1", agent_name="Backend Dev", profile_id="p")
    session = desk.start("sleep", "1000", label=label)
    lose(desk, session)
    assert (
        f"iai-mcp agent resume a-1 --session {session[:12]}  # Backend Dev"
        in desk.cli("session", "list").stdout
    )

    desk.start("cat", label=label)

    assert "resume" not in desk.cli("session", "list").stdout


def test_a_holder_that_does_nothing_any_more_is_ended_with_its_session(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pty, "_KILL_DEADLINE", 0.5)
    session = desk.python(STUBBORN)
    with desk.watching(session) as watcher:
        watcher.until(b"ready")
    record = desk.record(session)
    assert record.holder is not None
    assert record.child is not None
    child = record.child
    os.kill(record.holder, signal.SIGSTOP)

    assert desk.pty.kill(session) is None

    eventually(lambda: not lives(child), "the program's end")
    assert not lives(record.holder)


def test_damaged_files_are_left_out_and_reported(desk: Desk) -> None:
    session = desk.start("cat")
    sessions = desk.home / ".iai-mcp" / "s"
    (sessions / "broken").mkdir()
    (sessions / "broken" / "meta.json").write_text("{")
    (sessions / "0123456789ab.sock").touch()
    assert cleanup.strays() == []  # they may belong to a session that is just starting
    for name in ("broken", "0123456789ab.sock"):
        os.utime(sessions / name, (1, 1))

    assert [record.id for record in records.read_all()] == [session]
    assert len(cleanup.strays()) == 2
    desk.cli("session", "prune")
    assert cleanup.strays() == []
    assert desk.record(session).alive


def test_everything_can_be_ended_at_once(desk: Desk) -> None:
    desk.start("cat")
    desk.ended(desk.start("true"))

    cleanup.end_all()

    assert list((desk.home / ".iai-mcp" / "s").iterdir()) == []


def test_background_work_does_not_keep_an_ended_session_open(desk: Desk) -> None:
    code = "trap '' HUP; sleep 1000 & echo $!; exit 6"
    session = desk.start("sh", "-c", code)

    ended = desk.ended(session)

    assert ended.exit_code == 6
    done = desk.cli("session", "logs", session)
    os.kill(int(done.stdout.split()[0]), signal.SIGKILL)


def test_many_sessions_started_at_once_are_all_there(desk: Desk) -> None:
    spec = SpawnSpec("cat", (), str(desk.home))

    started = {HolderPty().spawn(spec, TerminalSize()) for _ in range(8)}

    assert {record.id for record in records.read_all() if record.alive} == started


def test_a_disk_that_takes_nothing_does_not_end_the_program(desk: Desk) -> None:
    session = desk.start("cat")
    directory = desk.home / ".iai-mcp" / "s" / session
    (directory / "state.new").mkdir()
    (directory / "events").unlink()
    (directory / "events").mkdir()
    (directory / "status").write_text('{"status": "waiting"}\n')

    status = desk.state(session).status
    desk.pty.write(session, b"still here\r")
    with desk.watching(session) as watcher:
        watcher.until(b"still here\r\nstill here")

    assert status == "waiting"
    state = json.loads((directory / "state.json").read_text())
    assert state["status"] == "waiting"
    desk.pty.write(session, b"\x04")
    ended = desk.ended(session)
    assert (ended.status, ended.exit_code) == ("exited", 0)
    (directory / "state.new").rmdir()
    (directory / "events").rmdir()
