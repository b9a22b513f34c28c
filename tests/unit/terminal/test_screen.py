"""What the small emulator shows, where a real terminal is the measure."""

import pytest

from iai_mcp.terminal.screen import Screen
from iai_mcp.terminal.screen_paint import paint, unpaint


def shown(*pieces: bytes, rows: int = 4, cols: int = 10) -> list[str]:
    screen = Screen(rows, cols)
    for piece in pieces:
        screen.feed(piece)
    return screen.text()


def test_text_wraps_at_the_last_column_and_only_when_more_comes() -> None:
    assert shown(b"0123456789") == ["0123456789"]
    assert shown(b"0123456789\r\nx") == ["0123456789", "x"]
    assert shown(b"0123456789x") == ["0123456789", "x"]


def test_a_carriage_return_overwrites() -> None:
    assert shown(b"50%\r100%") == ["100%"]


def test_a_character_cut_in_two_is_one_character() -> None:
    assert shown(b"gr\xc3", b"\xbc\xc3", b"\x9fe") == ["grüße"]


def test_a_sequence_cut_in_two_is_one_sequence() -> None:
    assert shown(b"abc\x1b[", b"1;2", b"HX") == ["aXc"]


def test_an_unfinished_sequence_waits_as_it_came() -> None:
    screen = Screen(4, 10)
    screen.feed(b"abc\x1b[3")

    assert screen.pending == b"\x1b[3"


def test_wide_characters_take_two_columns() -> None:
    screen = Screen(4, 10)
    screen.feed("中文x".encode())

    assert screen.text() == ["中文x"]
    assert screen.col == 5


def test_writing_over_half_a_wide_character_blanks_the_other_half() -> None:
    assert shown("a中b\x1b[1;2HX".encode()) == ["aX b"]
    assert shown("a中b\x1b[1;3HX".encode()) == ["a Xb"]


def test_combining_marks_join_the_character_before() -> None:
    assert shown("e\u0301a".encode()) == ["e\u0301a"]


def test_lines_are_inserted_and_deleted_within_the_region() -> None:
    filled = b"one\r\ntwo\r\nthree\r\nfour"

    assert shown(filled, b"\x1b[2;1H\x1b[L") == ["one", "", "two", "three"]
    assert shown(filled, b"\x1b[1;1H\x1b[2M") == ["three", "four"]
    assert shown(filled, b"\x1b[1;3r\x1b[1;1H\x1b[M") == ["two", "three", "", "four"]


def test_only_the_region_scrolls() -> None:
    assert shown(b"head\x1b[2;4r\x1b[4;1Ha\nb\nc") == ["head", "a", " b", "  c"]


def test_the_cursor_may_leave_a_region_upward() -> None:
    assert shown(b"\x1b[2;3r\x1b[1;1H\x1b[5Atop") == ["top"]


def test_characters_are_inserted_and_deleted_in_a_line() -> None:
    assert shown(b"0123456789\x1b[1;3H\x1b[2@") == ["01  234567"]
    assert shown(b"0123456789\x1b[1;3H\x1b[2P") == ["01456789"]


def test_a_character_is_repeated() -> None:
    assert shown(b"ab\x1b[3b") == ["abbbb"]


def test_line_drawing_letters_become_lines() -> None:
    assert shown(b"\x1b(0lqk\x1b(B ok") == ["┌─┐ ok"]


def test_the_alternate_screen_comes_and_goes_without_touching_the_main_one() -> None:
    screen = Screen(4, 10)
    screen.feed(b"main\x1b[?1049h\x1b[Hother")
    assert (screen.alternate, screen.text()) == (True, ["other"])

    screen.feed(b"\x1b[?1049l!")

    assert (screen.alternate, screen.text()) == (False, ["main!"])


def test_lines_that_leave_the_main_screen_become_history() -> None:
    screen = Screen(2, 10, keep_history=True)
    screen.feed(b"1\r\n2\r\n3\r\n4\x1b[?1049h\r\nx\r\ny\r\nz\x1b[?1049l")

    assert screen.history == ["1", "2"]


def test_titles_and_strange_sequences_leave_no_trace() -> None:
    noise = b"\x1b]0;a title\x07\x1bP1$r0m\x1b\\\x1b[?1;2c\x1b[>4;2m\x1b#8\x1b]8;;http://x\x1b\\"

    assert shown(noise, b"text") == ["text"]


def test_a_reset_starts_anew() -> None:
    assert shown(b"old\x1b[31m\x1bcnew") == ["new"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (b"1;31", "\x1b[0;1;31m"),
        (b"38;5;208", "\x1b[0;38;5;208m"),
        (b"38;2;1;2;3;4", "\x1b[0;4;38;2;1;2;3m"),
        (b"4:3;58:2::255:0:0", "\x1b[0;4:3;58:2::255:0:0m"),
        (b"1;3;22", "\x1b[0;3m"),
        (b"31;42;39", "\x1b[0;42m"),
        (b"7;27", "\x1b[0m"),
        (b"21;24", "\x1b[0m"),
    ],
)
def test_looks_are_folded_into_what_brings_them_about(parameters: bytes, expected: str) -> None:
    screen = Screen(4, 10)
    screen.feed(b"\x1b[" + parameters + b"m")

    assert screen.looks.sequence(screen.pen) == expected


def test_painting_ends_with_what_was_cut_off() -> None:
    screen = Screen(4, 10)
    screen.feed(b"abc\x1b[3")

    painted = paint(screen, 4, modes={}, keypad=False, keyboard=0)

    assert painted.endswith(b"\x1b[3")


def test_painting_a_taller_screen_shows_the_part_with_the_cursor() -> None:
    screen = Screen(6, 10)
    screen.feed(b"1\r\n2\r\n3\r\n4\r\n5\r\n6")
    smaller = Screen(3, 10)

    smaller.feed(paint(screen, 3, modes={}, keypad=False, keyboard=0))

    assert smaller.text() == ["4", "5", "6"]


def test_modes_are_put_on_and_taken_back() -> None:
    modes = {1049: True, 2004: True, 25: False, 1000: False, 7: True}
    screen = Screen(4, 10)
    screen.start_on_alternate()

    on = paint(screen, 4, modes=modes, keypad=True, keyboard=5)
    off = unpaint(modes, 4, keypad=True, keyboard=5)

    for sequence in (b"\x1b[?1049h", b"\x1b[?2004h", b"\x1b[?25l", b"\x1b=", b"\x1b[>5u"):
        assert sequence in on
    for sequence in (b"\x1b[?1049l", b"\x1b[?2004l", b"\x1b[?25h", b"\x1b>", b"\x1b[<u"):
        assert sequence in off
    assert b"?1000" not in on + off
    assert b"?7" not in on + off
