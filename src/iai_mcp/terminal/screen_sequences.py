"""The control sequences that move the cursor, erase and shift, by their final byte."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iai_mcp.terminal.screen import Screen

Handler = Callable[["Screen", list[int]], None]


def _count(numbers: list[int]) -> int:
    return max(1, numbers[0])


def _up(screen: "Screen", numbers: list[int]) -> None:
    limit = screen.top if screen.row >= screen.top else 0
    screen.row = max(limit, screen.row - _count(numbers))


def _down(screen: "Screen", numbers: list[int]) -> None:
    limit = screen.bottom if screen.row <= screen.bottom else screen.rows - 1
    screen.row = min(limit, screen.row + _count(numbers))


def _right(screen: "Screen", numbers: list[int]) -> None:
    screen.col = min(screen.cols - 1, screen.col + _count(numbers))


def _left(screen: "Screen", numbers: list[int]) -> None:
    screen.col = max(0, screen.col - _count(numbers))


def _next_line(screen: "Screen", numbers: list[int]) -> None:
    _down(screen, numbers)
    screen.col = 0


def _previous_line(screen: "Screen", numbers: list[int]) -> None:
    _up(screen, numbers)
    screen.col = 0


def _column(screen: "Screen", numbers: list[int]) -> None:
    screen.col = min(screen.cols, _count(numbers)) - 1


def _row(screen: "Screen", numbers: list[int]) -> None:
    first = screen.top if screen.modes.get(6) else 0
    screen.row = min(screen.rows - 1, first + _count(numbers) - 1)


def _position(screen: "Screen", numbers: list[int]) -> None:
    _row(screen, numbers)
    _column(screen, numbers[1:] or [1])


def _erase_line(screen: "Screen", numbers: list[int]) -> None:
    start = 0 if numbers[0] in (1, 2) else screen.col
    end = screen.col + 1 if numbers[0] == 1 else screen.cols
    screen.grid.erase(screen.row, start, end, screen.pen)


def _erase_screen(screen: "Screen", numbers: list[int]) -> None:
    if numbers[0] == 3:
        screen.history.clear()
        return
    whole = {0: range(screen.row + 1, screen.rows), 1: range(screen.row)}.get(
        numbers[0], range(screen.rows)
    )
    for row in whole:
        screen.grid.erase(row, 0, screen.cols, screen.pen)
    if numbers[0] in (0, 1):
        _erase_line(screen, numbers)


def _insert_lines(screen: "Screen", numbers: list[int]) -> None:
    if screen.top <= screen.row <= screen.bottom:
        screen.grid.scroll(screen.row, screen.bottom, -_count(numbers), screen.pen)
        screen.col = 0


def _delete_lines(screen: "Screen", numbers: list[int]) -> None:
    if screen.top <= screen.row <= screen.bottom:
        screen.grid.scroll(screen.row, screen.bottom, _count(numbers), screen.pen)
        screen.col = 0


def _insert_characters(screen: "Screen", numbers: list[int]) -> None:
    count = min(_count(numbers), screen.cols - screen.col)
    chars, pens = screen.grid.chars[screen.row], screen.grid.pens[screen.row]
    chars[screen.col : screen.col] = [" "] * count
    pens[screen.col : screen.col] = [screen.pen] * count
    del chars[screen.cols :], pens[screen.cols :]


def _delete_characters(screen: "Screen", numbers: list[int]) -> None:
    count = min(_count(numbers), screen.cols - screen.col)
    chars, pens = screen.grid.chars[screen.row], screen.grid.pens[screen.row]
    del chars[screen.col : screen.col + count], pens[screen.col : screen.col + count]
    chars.extend([" "] * count)
    pens.extend([screen.pen] * count)


def _erase_characters(screen: "Screen", numbers: list[int]) -> None:
    end = min(screen.cols, screen.col + _count(numbers))
    screen.grid.erase(screen.row, screen.col, end, screen.pen)


def _scroll_up(screen: "Screen", numbers: list[int]) -> None:
    screen.scroll_up(_count(numbers))


def _scroll_down(screen: "Screen", numbers: list[int]) -> None:
    screen.grid.scroll(screen.top, screen.bottom, -_count(numbers), screen.pen)


def _region(screen: "Screen", numbers: list[int]) -> None:
    top = max(1, numbers[0]) - 1
    bottom = (numbers[1] if len(numbers) > 1 and numbers[1] else screen.rows) - 1
    bottom = min(bottom, screen.rows - 1)
    if top < bottom:
        screen.top, screen.bottom = top, bottom
        screen.row, screen.col = (top if screen.modes.get(6) else 0), 0


def _repeat(screen: "Screen", numbers: list[int]) -> None:
    screen.feed(screen.last.encode() * min(_count(numbers), screen.cols * screen.rows))


def _save(screen: "Screen", _numbers: list[int]) -> None:
    screen.saved = (screen.row, screen.col, screen.pen)


def _restore(screen: "Screen", _numbers: list[int]) -> None:
    screen.row, screen.col, screen.pen = screen.saved


def _back_tab(screen: "Screen", numbers: list[int]) -> None:
    screen.col = max(0, ((screen.col + 7) // 8 - _count(numbers)) * 8)


def _tab(screen: "Screen", numbers: list[int]) -> None:
    screen.col = min(screen.cols - 1, (screen.col // 8 + _count(numbers)) * 8)


SEQUENCES: dict[str, Handler] = {
    "@": _insert_characters,
    "A": _up,
    "B": _down,
    "C": _right,
    "D": _left,
    "E": _next_line,
    "F": _previous_line,
    "G": _column,
    "H": _position,
    "I": _tab,
    "J": _erase_screen,
    "K": _erase_line,
    "L": _insert_lines,
    "M": _delete_lines,
    "P": _delete_characters,
    "S": _scroll_up,
    "T": _scroll_down,
    "X": _erase_characters,
    "Z": _back_tab,
    "`": _column,
    "a": _right,
    "b": _repeat,
    "d": _row,
    "e": _down,
    "f": _position,
    "r": _region,
    "s": _save,
    "u": _restore,
}
