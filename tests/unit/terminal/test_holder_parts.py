"""The holder's parts one by one: ring, modes, boundaries, bell and hooks."""

import pytest

from iai_mcp.terminal.holder.output import (
    Modes,
    Ring,
    answer,
    safe_offset,
    screen_start,
    tail_start,
)
from iai_mcp.terminal.holder.status import rang, reported

SIZE = 65_536


def filled(*pieces: bytes, size: int = SIZE) -> Ring:
    ring = Ring(size)
    for piece in pieces:
        write(ring, piece)
    return ring


def write(ring: Ring, data: bytes) -> None:
    while data:
        window = ring.window()
        part = data[: len(window)]
        window[: len(part)] = part
        ring.advance(len(part))
        data = data[len(part) :]


def test_a_ring_holds_the_last_bytes_and_counts_them_all() -> None:
    data = bytes(range(256)) * 1000

    ring = filled(data)

    assert (ring.head, ring.start) == (len(data), len(data) - SIZE)
    assert ring.copy(ring.start, ring.head) == data[-SIZE:]
    assert ring.copy(ring.head - 10, ring.head) == data[-10:]


def test_a_view_ends_at_the_seam_and_the_next_goes_on_behind_it() -> None:
    ring = filled(b"a" * SIZE, b"b" * 10)

    first = ring.view(SIZE - 4, 14)
    second = ring.view(SIZE - 4 + len(first), 14 - len(first))

    assert (bytes(first), bytes(second)) == (b"aaaa", b"b" * 10)


def test_modes_are_found_also_when_cut_in_two() -> None:
    ring = filled(b"text\x1b[?20")
    modes = Modes()
    modes.catch_up(ring)
    assert not modes.paste()

    write(ring, b"04h more")
    modes.catch_up(ring)

    assert modes.paste()


def test_the_last_word_on_a_mode_counts() -> None:
    ring = filled(b"\x1b[?1049h\x1b[?2004h", b"x" * 3000, b"\x1b[?1049l\x1b[?1000;1006h\x1b=")
    modes = Modes()

    modes.catch_up(ring)

    assert modes.private == {1049: False, 2004: True, 1000: True, 1006: True}
    assert (modes.alternate_screen(), modes.keypad) == (False, True)


def test_keyboard_modes_are_a_stack() -> None:
    modes = Modes()
    ring = filled(b"\x1b[>1u\x1b[>5u")
    modes.catch_up(ring)
    assert modes.keyboard == [1, 5]

    write(ring, b"\x1b[<u\x1b[=3u")
    modes.catch_up(ring)

    assert modes.keyboard == [3]


def test_a_question_before_a_letter_is_no_keyboard_mode() -> None:
    modes = Modes()
    modes.catch_up(filled(b"\x1b[>1u\x1b[cu\x1bP>u\x1b[0cu"))

    assert modes.keyboard == [1]


def test_a_reset_forgets_modes() -> None:
    modes = Modes()
    modes.catch_up(filled(b"\x1b[?2004h\x1b[>1u\x1bc"))

    assert (modes.private, modes.keyboard) == ({}, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"rest of it\nnext", b"next"),
        (b"31mred\x1b[mplain", b"\x1b[mplain"),
        (b"\xbc\x9fe", b"e"),
        (b"abc", b"abc"),
    ],
)
def test_a_safe_place_is_in_no_sequence_and_no_character(text: bytes, expected: bytes) -> None:
    assert text[safe_offset(text) :] == expected


def test_a_screen_begins_at_the_last_clear() -> None:
    ring = filled(b"old\x1b[H\x1b[2Jnew")
    modes = Modes()
    modes.catch_up(ring)

    assert screen_start(ring, modes) == (ring.head - len(b"\x1b[2Jnew"), True)


def test_a_clear_on_the_alternate_screen_says_nothing_about_the_main_one() -> None:
    ring = filled(b"main\x1b[?1049h\x1b[2Jother\x1b[?1049l$ ")
    modes = Modes()
    modes.catch_up(ring)

    assert screen_start(ring, modes) == (0, True)


def test_a_screen_out_of_reach_begins_at_a_line_and_says_so() -> None:
    ring = filled(b"some line\r\n" * 20_000)
    modes = Modes()
    modes.catch_up(ring)

    start, whole = screen_start(ring, modes)

    assert not whole
    assert ring.copy(start, start + 4) == b"some"
    assert ring.copy(tail_start(ring, 100), ring.head).startswith(b"some line\r\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"status": "idle", "ts": 1}', "idle"),
        (b'{"ts":1,"status":"waiting","source":"x"}', "waiting"),
        (b'{"status": "sleeping"}', ""),
        (b'{"state": "idle"}', ""),
        (b"not json", ""),
        (b'{"status"', ""),
    ],
)
def test_a_hooks_line_is_read_for_its_status(line: bytes, expected: str) -> None:
    assert reported(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"done\x07", True),
        (b"\x1b]0;title\x07", False),
        (b"\x1b]0;title\x07 and \x07", True),
        (b"\x07 and \x1b]0;title\x07", True),
        (b"quiet", False),
    ],
)
def test_a_bell_is_told_from_the_end_of_a_title(text: bytes, expected: bool) -> None:
    assert rang(text) is expected


def test_questions_are_answered_in_their_order() -> None:
    asked = b"\x1b[?u\x1b[c hello \x1b[6n\x1b[5n\x1b[31m"

    assert answer(asked) == b"\x1b[?62;22c\x1b[1;1R\x1b[0n"
    assert answer(b"\x1b[31mno question") == b""
