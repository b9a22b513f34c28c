"""Our small emulator and pyte agree on what a terminal shows; cuts in the stream change nothing.

What pyte gets wrong is left to the unit tests: writing over half of a wide character, moving
lines that were never written to, inserting characters at a line's end, and cursor moves outside
a scrolling region.
"""

import itertools
from collections.abc import Callable

import pyte
from hypothesis import given, settings
from hypothesis import strategies as st

from iai_mcp.terminal.screen import Screen
from iai_mcp.terminal.screen_paint import paint

ROWS, COLS = 8, 20

_small = st.integers(0, 12)
_words = st.text(st.sampled_from("abcXYZ 0123-é"), min_size=1, max_size=30)
_moves = st.builds(lambda n, f: f"\x1b[{n}{f}", _small, st.sampled_from("ABCDGd"))
_places = st.builds(lambda r, c: f"\x1b[{r};{c}H", _small, st.integers(0, 25))
_erases = st.builds(lambda n, f: f"\x1b[{n}{f}", st.integers(0, 2), st.sampled_from("JK"))
_shifts = st.builds(lambda n, f: f"\x1b[{n}{f}", st.integers(1, 5), st.sampled_from("PX"))
_looks = st.builds(lambda n: f"\x1b[{n}m", st.sampled_from(["", "1", "31", "44", "1;32;45", "0"]))
_controls = st.sampled_from(["\r", "\n", "\r\n", "\x08", "\t", "\x1bM", "\x1b7", "\x1b8"])
_output = st.lists(
    st.one_of(_words, _moves, _places, _erases, _shifts, _looks, _controls), max_size=25
).map("".join)


class Oracle(pyte.Screen):
    """pyte, with the cursor where real terminals have it after the last column: still in it."""


def _in_the_last_column(name: str) -> Callable[..., None]:
    original = getattr(pyte.Screen, name)

    def settled(self: Oracle, *arguments: int, **options: bool) -> None:
        self.cursor.x = min(self.cursor.x, COLS - 1)
        original(self, *arguments, **options)

    return settled


for _name in (
    "cursor_back",
    "cursor_down",
    "cursor_to_line",
    "cursor_up",
    "delete_characters",
    "erase_characters",
    "erase_in_display",
    "erase_in_line",
    "index",
    "reverse_index",
    "save_cursor",
    "tab",
):
    setattr(Oracle, _name, _in_the_last_column(_name))


def pyte_lines(text: str) -> tuple[list[str], tuple[int, int]]:
    screen = Oracle(COLS, ROWS)
    pyte.Stream(screen).feed(text)
    # pyte keeps a cursor that is about to wrap one column to the right of the last.
    column = min(screen.cursor.x, COLS - 1)
    return [line.rstrip() for line in screen.display], (screen.cursor.y, column)


def our_screen(*pieces: bytes) -> Screen:
    screen = Screen(ROWS, COLS)
    for piece in pieces:
        screen.feed(piece)
    return screen


def lines(screen: Screen) -> list[str]:
    return [screen.grid.line(row) for row in range(ROWS)]


@settings(max_examples=300, deadline=None)
@given(_output)
def test_the_screen_is_what_pyte_shows(text: str) -> None:
    screen = our_screen(text.encode())

    assert (lines(screen), (screen.row, screen.col)) == pyte_lines(text)


@settings(max_examples=200, deadline=None)
@given(_output, st.lists(st.integers(0, 400), max_size=4))
def test_cuts_anywhere_in_the_stream_change_nothing(text: str, cuts: list[int]) -> None:
    data = text.encode()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]

    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]

    assert lines(our_screen(*pieces)) == lines(our_screen(data))


@settings(max_examples=200, deadline=None)
@given(_output)
def test_a_painted_screen_looks_the_same_elsewhere(text: str) -> None:
    screen = our_screen(text.encode())
    painted = paint(screen, ROWS, modes={}, keypad=False, keyboard=0).decode()

    shown, cursor = pyte_lines(painted)

    assert shown == [line.rstrip() for line in lines(screen)]
    assert cursor == (screen.row, screen.col)
