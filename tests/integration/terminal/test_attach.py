"""Attaching: the screen as it is, then live; and a terminal that is left as it was found."""

import shutil
import signal
import sys

import pytest
from tests.terminal_kit import Desk, eventually

DETACH = b"\x1dd"

CURSES = """
import curses
def main(screen):
    curses.curs_set(0)
    key = 0
    while key != ord("q"):
        rows, cols = screen.getmaxyx()
        screen.erase()
        screen.border()
        screen.addstr(1, 2, f"size {rows}x{cols}")
        screen.addstr(2, 2, "grüße", curses.A_BOLD)
        screen.addstr(rows - 2, 2, f"last key {key}")
        screen.refresh()
        key = screen.getch()
curses.wrapper(main)
"""


def test_attach_shows_the_current_screen_and_not_everything_before(desk: Desk) -> None:
    code = "for n in $(seq 1 5000); do echo line-$n; done; printf 'prompt> '; read x; read x"
    session = desk.start("sh", "-c", code)
    with desk.watching(session) as watcher:
        watcher.until(b"prompt> ")

    with desk.attached(session) as terminal:
        lines = terminal.shows("prompt>")

        assert lines[-2:] == ["line-5000", "prompt>"]
        assert lines[0] == "line-4978"
        assert len(terminal.output) < 4000
        assert (terminal.screen.cursor.y, terminal.screen.cursor.x) == (23, 8)


def test_after_the_screen_comes_what_the_program_does_next(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo before; while read x; do echo heard $x; done")

    with desk.attached(session) as terminal:
        terminal.shows("before")
        terminal.type(b"you\r")
        lines = terminal.shows("heard you")

    assert lines[:3] == ["before", "you", "heard you"]


def test_colours_and_cursor_of_the_screen_are_restored(desk: Desk) -> None:
    drawing = r"printf '\033[31mred \033[1;44mboth\033[m plain\033[5;10Hhere'; read x"
    session = desk.start("sh", "-c", drawing)
    with desk.watching(session) as watcher:
        watcher.until(b"here")

    with desk.attached(session) as terminal:
        terminal.shows("here")
        first = terminal.screen.buffer[0]

    assert (first[0].fg, first[0].bg) == ("red", "default")
    assert (first[4].fg, first[4].bg, first[4].bold) == ("red", "blue", True)
    assert (first[9].fg, first[9].bold) == ("default", False)
    assert (terminal.screen.cursor.y, terminal.screen.cursor.x) == (4, 13)


def test_a_curses_program_is_restored_and_follows_the_window(desk: Desk) -> None:
    session = desk.start(sys.executable, "-c", CURSES)
    with desk.watching(session) as watcher:
        watcher.until(b"last key")

    with desk.attached(session) as terminal:
        lines = terminal.shows("last key 0")
        assert "size 24x80" in lines[1]
        assert "grüße" in lines[2]
        terminal.resize(30, 100)
        terminal.shows("size 30x100")
        terminal.type(b"q")
        assert terminal.ends() == 0

    assert desk.ended(session).exit_code == 0


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_on_its_alternate_screen_is_restored(desk: Desk) -> None:
    text = desk.home / "text"
    text.write_text("".join(f"row {n}\n" for n in range(1000)))
    session = desk.start("less", str(text))
    with desk.watching(session) as watcher:
        watcher.until(b"row 22")
    desk.pty.write(session, b"100g")
    with desk.watching(session) as watcher:
        watcher.until(b"row 121")

    with desk.attached(session) as terminal:
        lines = terminal.shows("row 121")
        assert lines[0] == "row 99"
        assert b"\x1b[?1049h" in terminal.output
        terminal.type(DETACH)
        terminal.ends()
        assert b"\x1b[?1049l" in terminal.output

    assert desk.record(session).alive


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
def test_vim_is_edited_across_two_attachments(desk: Desk) -> None:
    session = desk.start("vim", "-u", "NONE", "-i", "NONE", "-n", "note.txt", cwd=str(desk.home))
    with desk.attached(session) as terminal:
        terminal.shows("note.txt")
        terminal.type(b"ihello from the first")
        terminal.shows("hello from the first")
        terminal.type(DETACH)
        assert terminal.ends() == 0

    with desk.attached(session) as terminal:
        terminal.shows("hello from the first")
        terminal.type(b" and the second\x1b:wq\r")
        assert terminal.ends() == 0

    assert (desk.home / "note.txt").read_text() == "hello from the first and the second\n"


def test_modes_that_were_set_long_ago_reach_the_new_terminal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_SESSION_RING", "65536")
    code = r"printf '\033[?2004h\033[?1002;1006h\033[?25l\033[>5u'; seq 1 40000; echo done; read x"
    session = desk.start("sh", "-c", code)
    with desk.watching(session) as watcher:
        watcher.until(b"done")
    assert desk.state(session).start > 0

    with desk.attached(session) as terminal:
        terminal.shows("done")
        for sequence in (b"\x1b[?2004h", b"\x1b[?1002h", b"\x1b[?1006h", b"\x1b[?25l", b"\x1b[>5u"):
            assert sequence in terminal.output, sequence
        terminal.type(DETACH)
        terminal.ends()
        for sequence in (b"\x1b[?2004l", b"\x1b[?1002l", b"\x1b[?1006l", b"\x1b[?25h", b"\x1b[<u"):
            assert sequence in terminal.output, sequence


def test_the_terminal_is_given_back_as_it_was(desk: Desk) -> None:
    session = desk.start("cat")

    with desk.attached(session) as terminal:
        terminal.is_raw()
        terminal.type(DETACH)
        assert terminal.ends() == 0
        assert terminal.attributes() == terminal.before
        assert b"detached" in terminal.output


def test_a_terminated_client_gives_its_terminal_back_too(desk: Desk) -> None:
    session = desk.start("cat")

    with desk.attached(session) as terminal:
        terminal.type(b"hello\r")
        terminal.shows("hello")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.ends()
        assert terminal.attributes() == terminal.before

    assert desk.record(session).alive


def test_killing_a_client_changes_nothing_for_the_program(desk: Desk) -> None:
    session = desk.start("cat")
    with desk.attached(session) as terminal:
        terminal.type(b"hello\r")
        terminal.shows("hello")
        terminal.process.kill()
        terminal.process.wait()

    eventually(lambda: desk.state(session).clients == 0, "the client's absence")
    with desk.watching(session) as watcher:
        desk.pty.write(session, b"still here\r")
        watcher.until(b"still here\r\nstill here")


def test_two_clients_see_the_same_and_the_newest_sets_the_size(desk: Desk) -> None:
    session = desk.start("sh", "-c", "while read x; do stty size; done", rows=20, cols=70)

    with desk.attached(session, rows=24, cols=80) as first:
        first.type(b"\r")
        first.shows("24 80")
        with desk.attached(session, rows=40, cols=100) as second:
            second.shows("24 80")
            second.type(b"\r")
            second.shows("40 100")
            first.shows("40 100")
            second.type(DETACH)
            second.ends()
        first.type(b"\r")
        lines = first.until(
            lambda: sum("24 80" in line for line in first.screen.display) == 2, "the old size"
        )

    assert "40 100" in lines


def test_a_read_only_client_types_nothing(desk: Desk) -> None:
    session = desk.start("cat")

    with desk.attached(session, "--read-only") as watcher, desk.attached(session) as typist:
        watcher.is_raw()
        watcher.type(b"not this")
        typist.type(b"this\r")
        typist.shows("this")
        lines = watcher.shows("this")

    assert not any("not this" in line for line in lines)


def test_the_detach_key_can_be_chosen_and_its_first_stroke_typed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IAI_MCP_DETACH_KEY", "ctrl-a q")
    session = desk.start("cat", "-v")

    with desk.attached(session) as terminal:
        terminal.type(b"\x01\x01\r")
        terminal.shows("^A")
        terminal.type(b"\x01q")
        assert terminal.ends() == 0

    assert desk.record(session).alive


def test_the_end_of_the_program_ends_the_client_with_its_code(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo ready; read x; echo bye; exit 5")

    with desk.attached(session) as terminal:
        terminal.shows("ready")
        terminal.type(b"\r")
        assert terminal.ends() == 5

    assert b"bye" in terminal.output
    assert b"has ended, exit code 5" in terminal.output


def test_attach_without_a_terminal_says_what_to_use_instead(desk: Desk) -> None:
    session = desk.start("cat")

    done = desk.cli("session", "attach", session)

    assert done.returncode == 1
    assert "needs a terminal" in done.stderr
