"""Terminal output as text for people who read it."""

import pytest

from iai_mcp.terminal.output import last_line
from iai_mcp.terminal.screen_paint import plain_text


def test_plain_text_has_every_line_and_no_sequence() -> None:
    data = b"".join(b"\x1b[32mline %d\x1b[m\r\n" % n for n in range(30))

    text = plain_text(data, 10, 40)

    assert text.splitlines() == [f"line {n}" for n in range(30)]


def test_progress_bars_and_spinners_leave_their_last_state() -> None:
    data = b"".join(b"\r%d%%\x1b[K" % n for n in range(101)) + b"\r\ndone\r\n"
    spinner = b"\x1b[2K\x1b[1G* one" + b"\x1b[2K\x1b[1G* two" + b"\r\n"

    assert plain_text(data + spinner, 10, 40) == "100%\ndone\n* two\n"


def test_a_frame_redrawn_in_place_is_there_once() -> None:
    frame = b"\x1b[3A\x1b[J+--+\r\n|ok|\r\n+--+\r\n"

    assert plain_text(b"hello\r\n\r\n\r\n\r\n" + frame * 50, 10, 40).count("|ok|") == 1


def test_no_output_is_no_text() -> None:
    assert plain_text(b"", 24, 80) == ""


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"one\r\ntwo\r\n", "two"),
        (b"one\r\ntwo\r\n$ ", "two"),
        (b"building\r\n\x1b[32m50%\x1b[m\r100%\x1b[K", "100%"),
        (b"\x1b]0;title\x07hello \x1b[1mworld\x1b[m", "hello world"),
        (b"ask me\r\n\xe2\x95\xad\xe2\x94\x80\xe2\x94\x80\xe2\x95\xae\r\n", "ask me"),
        (b"\x1b[5;1Hstatus: fine\x1b[6;1H\x1b[2K", "status: fine"),
        (b"\x1b[5;1Hthree\x1b[5;9Hwords\x1b[1Chere\x1b[2;1H\x1b[K", "three words here"),
        (b"\xe2\x94\x80\xe2\x94\x80", "──"),
        (b"", ""),
    ],
)
def test_the_last_line_is_the_last_that_says_something(tail: bytes, expected: str) -> None:
    assert last_line(tail) == expected
