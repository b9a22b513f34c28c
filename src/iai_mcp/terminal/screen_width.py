"""How many cells a character takes on a terminal, and the line-drawing characters of old."""

import unicodedata
from functools import lru_cache

# DEC special graphics: what `ESC ( 0` turns small letters into.
DRAWING = str.maketrans("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")


@lru_cache(maxsize=4096)
def cells(character: str) -> int:
    """0 for a mark that joins the character before it, 2 for a wide one, else 1."""
    if unicodedata.combining(character) or character in "\u200b\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
