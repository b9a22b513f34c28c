"""The cells of a terminal: how characters look, and how many cells one takes.

SGR parameters are folded into small interned numbers, pens. Pen 0 is the default look. Applying the
same parameters to the same pen is a dictionary lookup, which is what programs do nearly all the time.
"""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

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
