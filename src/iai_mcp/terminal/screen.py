"""A small terminal emulator: what a terminal shows after output that nobody watched.

Used on the tail of a session's output to restore a screen or to return plain text. Output on its way
to a real terminal never passes through here. It supports the common part of xterm and skips the rest.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from iai_mcp.terminal.screen_sequences import SEQUENCES

# DEC special graphics: what `ESC ( 0` turns small letters into.
DRAWING = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")


class Look(NamedTuple):
    """One way to draw a character, as the SGR parameters that bring it about."""

    flags: tuple[str, ...] = ()  # sorted; "1" bold, "2" faint, "3" italic, "4" underline, ...
    fg: str = ""
    bg: str = ""
    underline: str = ""


_OFF = {
    22: ("1", "2"),
    23: ("3",),
    24: ("4",),
    25: ("5", "6"),
    27: ("7",),
    28: ("8",),
    29: ("9",),
    55: ("53",),
}
_EXTENDED = {38: "fg", 48: "bg", 58: "underline"}
_DEFAULT = {39: "fg", 49: "bg", 59: "underline"}


class Pens:
    """All looks one screen has used."""

    __slots__ = ("_looks", "_numbers", "_steps")

    def __init__(self) -> None:
        self._looks: list[Look] = [Look()]
        self._numbers: dict[Look, int] = {Look(): 0}
        self._steps: dict[tuple[int, str], int] = {}

    def apply(self, pen: int, parameters: str) -> int:
        """The pen after `CSI parameters m`."""
        key = (pen, parameters)
        known = self._steps.get(key)
        if known is None:
            look = _fold(self._looks[pen], parameters)
            known = self._numbers.get(look)
            if known is None:
                known = len(self._looks)
                self._looks.append(look)
                self._numbers[look] = known
            self._steps[key] = known
        return known

    def sequence(self, pen: int) -> str:
        """What selects `pen` from any other."""
        look = self._looks[pen]
        parts = ["0", *look.flags, look.fg, look.bg, look.underline]
        return "\x1b[" + ";".join(part for part in parts if part) + "m"


def _fold(look: Look, parameters: str) -> Look:
    fields = parameters.split(";")
    at = 0
    while at < len(fields):
        head = fields[at].split(":", 1)[0]
        code = int(head) if head.isdigit() else 0
        if code in _EXTENDED:
            used = _extended_length(fields, at)
            look = _coloured(look, _EXTENDED[code], ";".join(fields[at : at + used]))
            at += used
            continue
        look = _simple(look, code, fields[at])
        at += 1
    return look


def _coloured(look: Look, part: str, colour: str) -> Look:
    if part == "fg":
        return look._replace(fg=colour)
    if part == "bg":
        return look._replace(bg=colour)
    return look._replace(underline=colour)


def _extended_length(fields: list[str], at: int) -> int:
    """How many fields a colour takes: `38;5;N`, `38;2;R;G;B`, or all in one with colons."""
    if ":" in fields[at] or at + 1 >= len(fields):
        return 1
    return {"5": 3, "2": 5}.get(fields[at + 1], 2)


def _simple(look: Look, code: int, field: str) -> Look:
    if code == 0:
        return Look()
    if code in _OFF:
        return look._replace(flags=_without(look.flags, _OFF[code]))
    if code in _DEFAULT:
        return _coloured(look, _DEFAULT[code], "")
    if 30 <= code <= 37 or 90 <= code <= 97:
        return look._replace(fg=field)
    if 40 <= code <= 47 or 100 <= code <= 107:
        return look._replace(bg=field)
    if field == "4:0":
        return look._replace(flags=_without(look.flags, ("4",)))
    if 1 <= code <= 9 or code in (21, 53):
        flag = "4:2" if code == 21 else field
        others = _without(look.flags, (flag.split(":")[0],))
        return look._replace(flags=tuple(sorted([*others, flag])))
    return look


def _without(flags: tuple[str, ...], gone: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(flag for flag in flags if flag.split(":")[0] not in gone)


@lru_cache(maxsize=4096)
def cells(character: str) -> int:
    """0 for a mark that joins the character before it, 2 for a wide one, else 1."""
    if unicodedata.combining(character) or character in "\u200b\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)"
    r"|\x1b\[(?P<mark>[<=>?!]?)(?P<numbers>[0-9;:]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)"
    r"|\x1b(?P<slot>[()*+])(?P<charset>.)"
    r"|\x1b[#%](?:.)"
    r"|\x1b(?P<escape>[^\[\]PX^_()*+#%])"
    r"|(?P<control>[\x00-\x1f\x7f])",
    re.DOTALL,
)
# The beginning of a sequence whose end has not come yet.
_UNFINISHED = re.compile(
    r"\x1b(?:\[[<=>?!]?[0-9;:]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[()*+#%])?\Z", re.DOTALL
)
_LONGEST_UNFINISHED = 4096  # beyond it, it is not a sequence but noise
_ALTERNATE = (47, 1047, 1049)


class Grid:
    """One buffer of characters: the main screen or the alternate one."""

    __slots__ = ("chars", "cols", "pens", "rows")

    def __init__(self, rows: int, cols: int) -> None:
        self.rows = rows
        self.cols = cols
        self.chars: list[list[str]] = [[" "] * cols for _ in range(rows)]
        self.pens: list[list[int]] = [[0] * cols for _ in range(rows)]

    def scroll(self, top: int, bottom: int, count: int, pen: int) -> None:
        """Move the lines of `[top, bottom]` up by `count`, or down if it is negative."""
        size = bottom - top + 1
        moved = min(abs(count), size)
        new_chars = [[" "] * self.cols for _ in range(moved)]
        new_pens = [[pen] * self.cols for _ in range(moved)]
        if count > 0:
            self.chars[top : bottom + 1] = self.chars[top + moved : bottom + 1] + new_chars
            self.pens[top : bottom + 1] = self.pens[top + moved : bottom + 1] + new_pens
        else:
            self.chars[top : bottom + 1] = new_chars + self.chars[top : bottom + 1 - moved]
            self.pens[top : bottom + 1] = new_pens + self.pens[top : bottom + 1 - moved]

    def erase(self, row: int, start: int, end: int, pen: int) -> None:
        count = end - start
        if count > 0:
            self.chars[row][start:end] = [" "] * count
            self.pens[row][start:end] = [pen] * count

    def line(self, row: int) -> str:
        return "".join(self.chars[row]).rstrip(" ")


class Screen:
    """A terminal of `rows` by `cols`. Lines that scroll off the main screen go to `history`."""

    def __init__(self, rows: int, cols: int, *, keep_history: bool = False) -> None:
        self.rows = rows
        self.cols = cols
        self.main = Grid(rows, cols)
        self.other = Grid(rows, cols)
        self.grid = self.main
        self.looks = Pens()
        self.history: list[str] = []
        self.keep_history = keep_history
        self.title = ""
        self.pending = b""
        self.wide = False  # whether a wide character was ever printed
        self.modes: dict[int, bool] = {}
        self.saved = (0, 0, 0)
        self._saved_before_alternate = (0, 0, 0)
        self.reset()

    def reset(self) -> None:
        """As after switching on, contents apart."""
        self.row = self.col = self.pen = 0
        self.wrap_next = False
        self.top, self.bottom = 0, self.rows - 1
        self.insert = False
        self.wraps = True
        self.drawing = False
        self.last = " "

    @property
    def alternate(self) -> bool:
        return self.grid is self.other

    def start_on_alternate(self) -> None:
        """For output that begins while the alternate screen is already on."""
        self.grid = self.other

    def feed(self, data: bytes) -> None:
        """Take in output. What is cut off at its end waits in `pending` for the rest."""
        data = self.pending + data
        whole = _whole_characters(data)
        text = data[:whole].decode("utf-8", "replace")
        unfinished = _UNFINISHED.search(text, max(0, text.rfind("\x1b", -_LONGEST_UNFINISHED)))
        if unfinished and unfinished.group():
            self.pending = text[unfinished.start() :].encode() + data[whole:]
            text = text[: unfinished.start()]
        else:
            self.pending = data[whole:]
        for token in _TOKEN.finditer(text):
            kind = token.lastgroup
            if kind == "text":
                self._print(token.group())
            elif kind == "control":
                self._control(token.group())
            elif kind == "final":
                self._sequence(token)
            elif kind == "escape":
                self._escape(token.group("escape"))
            elif kind == "osc":
                self._command(token.group("osc"))
            elif kind == "charset" and token.group("slot") == "(":
                self.drawing = token.group("charset") == "0"

    def text(self) -> list[str]:
        """The lines on the screen, without blanks at their ends or below the last one."""
        lines = [self.grid.line(row) for row in range(self.rows)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    # --- characters

    def _print(self, text: str) -> None:
        if self.drawing:
            text = text.translate(DRAWING)
        if not text.isascii() or self.insert:
            for character in text:
                self._put(character, cells(character))
            return
        self.last = text[-1]
        while text:
            if self.wrap_next:
                self._wrap()
            room = self.cols - self.col
            part, text = text[:room], text[room:]
            end = self.col + len(part)
            if self.wide:
                self._split_wide(end)
            self.grid.chars[self.row][self.col : end] = part
            self.grid.pens[self.row][self.col : end] = [self.pen] * len(part)
            self.col = end
            if end == self.cols:
                self.col = self.cols - 1
                self.wrap_next = self.wraps
                if not self.wraps and text:
                    self.grid.chars[self.row][-1] = text[-1]
                    return

    def _put(self, character: str, width: int) -> None:
        """One character that is wide, joins the one before, or is inserted."""
        if width == 0:
            at = self.col if self.wrap_next else max(0, self.col - 1)
            if not self.grid.chars[self.row][at] and at:
                at -= 1
            self.grid.chars[self.row][at] += character
            return
        if self.wrap_next or self.col + width > self.cols:
            self._wrap()
        chars, pens = self.grid.chars[self.row], self.grid.pens[self.row]
        if self.insert:
            chars[self.col : self.col] = [" "] * width
            pens[self.col : self.col] = [self.pen] * width
            del chars[self.cols :], pens[self.cols :]
        self._split_wide(self.col + width)
        chars[self.col] = character
        pens[self.col] = self.pen
        self.wide = self.wide or width == 2
        if width == 2 and self.col + 1 < self.cols:
            chars[self.col + 1] = ""  # the second half of a wide character
            pens[self.col + 1] = self.pen
        self.last = character
        self.col += width
        if self.col >= self.cols:
            self.col = self.cols - 1
            self.wrap_next = self.wraps

    def _split_wide(self, end: int) -> None:
        """Half a wide character can not stay: the other half becomes a blank."""
        chars = self.grid.chars[self.row]
        if not chars[self.col] and self.col:
            chars[self.col - 1] = " "
        if end < self.cols and not chars[end]:
            chars[end] = " "

    def _wrap(self) -> None:
        self.wrap_next = False
        if self.wraps:
            self.col = 0
            self._line_feed()

    def _control(self, character: str) -> None:
        if character == "\n" or character in "\x0b\x0c":
            self._line_feed()
        elif character == "\r":
            self.col = 0
        elif character == "\x08":
            self.col = max(0, self.col - 1)
        elif character == "\t":
            self.col = min(self.cols - 1, (self.col // 8 + 1) * 8)
        else:
            if character in "\x0e\x0f":
                self.drawing = character == "\x0e"
            return
        self.wrap_next = False

    def _line_feed(self) -> None:
        if self.row == self.bottom:
            self.scroll_up(1)
        elif self.row < self.rows - 1:
            self.row += 1

    def scroll_up(self, count: int) -> None:
        """Lines leave at the top of the scrolling region, into the history from the main screen."""
        if self.keep_history and self.top == 0 and self.grid is self.main:
            for row in range(min(count, self.bottom + 1)):
                self.history.append(self.grid.line(row))
        self.grid.scroll(self.top, self.bottom, count, 0)

    # --- sequences

    def _escape(self, character: str) -> None:
        if character == "7":
            self.saved = (self.row, self.col, self.pen)
        elif character == "8":
            self.row, self.col, self.pen = self.saved
        elif character in "DE":
            self._line_feed()
            self.col = 0 if character == "E" else self.col
        elif character == "M":
            if self.row == self.top:
                self.grid.scroll(self.top, self.bottom, -1, 0)
            else:
                self.row = max(0, self.row - 1)
        elif character == "c":
            self.main, self.other = Grid(self.rows, self.cols), Grid(self.rows, self.cols)
            self.grid = self.main
            self.modes.clear()
            self.reset()
        self.wrap_next = False

    def _command(self, text: str) -> None:
        code, _, rest = text.partition(";")
        if code in ("0", "2"):
            self.title = rest

    def _sequence(self, token: re.Match[str]) -> None:
        final, mark = token.group("final"), token.group("mark")
        if token.group("middle"):
            return
        if final == "m" and not mark:
            self.pen = self.looks.apply(self.pen, token.group("numbers"))
            return
        numbers = [
            int(field) if field.isdigit() else 0 for field in token.group("numbers").split(";")
        ]
        if final in "hl":
            self._set_modes(mark, numbers, on=final == "h")
        elif mark == "!" and final == "p":
            self.reset()
        elif not mark and final in SEQUENCES:
            self.wrap_next = False
            SEQUENCES[final](self, numbers)

    def _set_modes(self, mark: str, numbers: list[int], *, on: bool) -> None:
        if mark == "":
            if 4 in numbers:
                self.insert = on
            return
        if mark != "?":
            return
        for number in numbers:
            self.modes[number] = on
            if number in _ALTERNATE:
                self._switch(number, on=on)
            elif number == 7:
                self.wraps = on
            elif number == 6:
                self.row, self.col = (self.top if on else 0), 0

    def _switch(self, number: int, *, on: bool) -> None:
        if on == self.alternate:
            return
        if on:
            if number == 1049:
                self._saved_before_alternate = (self.row, self.col, self.pen)
            self.other = Grid(self.rows, self.cols)
            self.grid = self.other
        else:
            self.grid = self.main
            if number == 1049:
                self.row, self.col, self.pen = self._saved_before_alternate
        self.wrap_next = False


def _whole_characters(data: bytes) -> int:
    """How many bytes of `data` are not the beginning of a character whose rest is missing."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needs = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        return len(data) - back if needs > back else len(data)
    return len(data)
