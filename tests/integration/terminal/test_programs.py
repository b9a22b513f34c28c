"""Real programs in sessions: what they see of their terminal is what a terminal promises."""

import os
import signal

import pytest
from tests.terminal_kit import Desk, eventually

from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.errors import AlreadyExists, NotFound, NotInstalled, PtyFailed


def test_a_session_keeps_its_programs_exit_code(desk: Desk) -> None:
    session = desk.start("sh", "-c", "exit 3")

    ended = desk.ended(session)

    assert (ended.status, ended.exit_code, ended.signal) == ("exited", 3, None)


def test_a_program_killed_by_a_signal_says_which(desk: Desk) -> None:
    session = desk.start("sh", "-c", "kill -TERM $$")

    ended = desk.ended(session)

    assert (ended.exit_code, ended.signal) == (128 + signal.SIGTERM, signal.SIGTERM)


def test_typed_lines_reach_the_program_and_its_answer_comes_back(desk: Desk) -> None:
    session = desk.start("sh", "-c", "read line; echo got-$line")

    with desk.watching(session) as watcher:
        desk.pty.write(session, b"abc\r")
        seen = watcher.to_the_end()

    assert b"got-abc" in seen


def test_a_missing_program_is_not_installed_and_leaves_nothing(desk: Desk) -> None:
    with pytest.raises(NotInstalled):
        desk.start("no-such-program-at-all")

    assert list(desk.pty.all()) == []
    assert list((desk.home / ".iai-mcp" / "s").iterdir()) == []


def test_a_missing_directory_is_refused_with_its_name(desk: Desk) -> None:
    with pytest.raises(PtyFailed, match="/no/such/place"):
        desk.start("sh", cwd="/no/such/place")


def test_the_program_sees_its_size_and_every_change_of_it(desk: Desk) -> None:
    code = "trap 'stty size' WINCH; stty size; echo ready; while :; do read x; done"
    session = desk.start("bash", "--norc", "-c", code, rows=30, cols=100)

    with desk.watching(session) as watcher:
        watcher.until(b"ready")
        desk.pty.resize(session, TerminalSize(41, 123))
        desk.pty.write(session, b"\r")
        seen = watcher.until(b"41 123")

    assert b"30 100" in seen


def test_control_c_interrupts_what_runs_in_front(desk: Desk) -> None:
    code = "trap 'echo interrupted; exit 9' INT; echo ready; while :; do read x; done"
    session = desk.start("sh", "-c", code)

    with desk.watching(session) as watcher:
        watcher.until(b"ready")
        desk.pty.write(session, b"\x03")
        watcher.until(b"interrupted")

    assert desk.ended(session).exit_code == 9


def test_a_shell_has_job_control(desk: Desk) -> None:
    session = desk.start("bash", "--norc", "--noprofile", "-i", env={"PS1": "ready> "})

    with desk.watching(session) as watcher:
        watcher.until(b"ready> ")
        desk.pty.write(session, b"sleep 100\r")
        eventually(lambda: _command_in_front(desk, session) == "sleep", "sleep in front")
        desk.pty.write(session, b"\x1a")
        watcher.until(b"Stopped")
        desk.pty.write(session, b"jobs\r")
        watcher.until(b"[1]+")


def _command_in_front(desk: Desk, session: str) -> str:
    """The name of the foreground process group's leader."""
    child = desk.record(session).child
    with open(f"/proc/{child}/stat", encoding="utf-8") as source:
        group = source.read().rsplit(")", 1)[1].split()[5]
    try:
        with open(f"/proc/{group}/comm", encoding="utf-8") as source:
            return source.read().strip()
    except OSError:
        return ""


def test_the_program_gets_the_callers_environment_and_what_is_added(desk: Desk) -> None:
    code = 'read x; echo "[$ADDED][$TERM][$IAI_MCP_SESSION_ID][$IAI_MCP_SESSION_DIR]"'
    session = desk.start("sh", "-c", code, env={"ADDED": "päth"})

    with desk.watching(session) as watcher:
        desk.pty.write(session, b"\r")
        seen = watcher.to_the_end().decode()

    directory = desk.home / ".iai-mcp" / "s" / session
    assert seen.replace("\r\n", "").startswith(f"[päth][xterm-256color][{session}][{directory}]")


def test_an_id_that_is_given_is_taken_once(desk: Desk) -> None:
    spec = SpawnSpec("cat", (), str(desk.home))

    taken = desk.pty.spawn(spec, TerminalSize(), session_id="a-session-of-mine")

    assert taken == "a-session-of-mine"
    with pytest.raises(AlreadyExists):
        desk.pty.spawn(spec, TerminalSize(), session_id="a-session-of-mine")


def test_an_unknown_session_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.pty.write("nobody", b"x")


def test_the_holder_hides_the_programs_arguments_from_the_process_list(desk: Desk) -> None:
    session = desk.start("sh", "-c", "read x", "a-very-private-prompt")

    holder = eventually(lambda: desk.record(session).holder)

    with open(f"/proc/{holder}/cmdline", "rb") as source:
        command_line = source.read()
    with open(f"/proc/{holder}/environ", "rb") as source:
        environment = source.read()
    assert b"private" not in command_line + environment
    kept = b"".join(p.read_bytes() for p in (desk.home / ".iai-mcp").rglob("*") if p.is_file())
    assert b"private" not in kept


def test_files_and_socket_are_for_their_owner_alone(desk: Desk) -> None:
    desk.start("cat")

    modes = {p: p.lstat().st_mode & 0o777 for p in (desk.home / ".iai-mcp").rglob("*")}

    assert modes
    for path, mode in modes.items():
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_deep_user_data_directory_still_gets_a_bindable_socket(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = desk.home.joinpath(*["a-rather-long-directory-name"] * 8)
    monkeypatch.setenv("IAI_MCP_STORE", str(deep))

    session = desk.start("sh", "-c", "read x; exit 4")
    desk.pty.write(session, b"\r")

    record = desk.ended(session)
    assert record.exit_code == 4
    assert len(record.socket) < 100
    assert os.path.dirname(record.socket) != str(deep / "s")


ASKING = r"""
import os, tty
tty.setraw(0)
os.write(1, b"\x1b[c")
answer = b""
while not answer.endswith(b"c"):
    answer += os.read(0, 100)
os.write(1, b"terminal says " + ascii(answer).encode() + b"\r\n")
os.read(0, 1)
"""


def test_a_program_that_asks_its_terminal_is_answered_while_nobody_is_attached(desk: Desk) -> None:
    session = desk.python(ASKING)

    with desk.watching(session) as watcher:
        seen = watcher.until(b"terminal says ")
        seen = watcher.until(b"\r\n")

    assert rb"\x1b[?62;22c" in seen


def test_a_question_in_two_pieces_after_much_output_is_answered(desk: Desk) -> None:
    code = (
        "import os, tty\n"
        "tty.setraw(0)\n"
        "os.write(1, b'.' * 50_000 + b'\\x1b[')\n"
        "os.write(1, b'5n')\n"
        "print(ascii(os.read(0, 100)), flush=True)\n"
    )
    session = desk.python(code)

    with desk.watching(session) as watcher:
        watcher.until(rb"b'\x1b[0n'")


def test_an_attached_terminal_answers_for_itself(desk: Desk) -> None:
    session = desk.python("import sys; sys.stdin.readline()\n" + ASKING)

    with desk.attached(session) as terminal:
        terminal.is_raw()
        terminal.type(b"\r")
        terminal.until(lambda: b"\x1b[c" in terminal.output, "the question")
        terminal.type(b"\x1b[?1;2c")
        terminal.shows("terminal says b'\\x1b[?1;2c'")
