"""Where in a terminal's output a reader may begin without starting in the middle of something."""

from iai_mcp.terminal.holder.modes import Modes
from iai_mcp.terminal.holder.ring import Ring

# How far back a client looks to rebuild the screen. Programs that redraw in place (a spinner
# ten times a second) fill this in minutes, and a client parses it in a fraction of a second.
SCREEN_REACH = 262_144

_ENTERS = (b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h")
_LEAVES = (b"\x1b[?1049l", b"\x1b[?1047l", b"\x1b[?47l")
_CLEARS = (b"\x1b[2J", b"\x1bc", b"\x1b[H\x1b[J", b"\x1b[1;1H\x1b[J")
_LOOK = 4096  # a line is rarely longer, and a screen is lost beyond it anyway


def safe_offset(text: bytes) -> int:
    """The first place in `text` that is inside neither an escape sequence nor a character."""
    newline = text.find(b"\n", 0, _LOOK)
    if newline >= 0:
        return newline + 1
    escape = text.find(b"\x1b", 0, _LOOK)
    if escape >= 0:
        return escape
    offset = 0
    while offset < min(4, len(text)) and text[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


def screen_start(ring: Ring, modes: Modes) -> tuple[int, bool]:
    """Where to begin so that the screen can be rebuilt, and whether nothing before it matters."""
    begin = max(ring.start, ring.head - SCREEN_REACH)
    tail = ring.copy(begin, ring.head)
    if modes.alternate_screen():
        found = max(tail.rfind(mark) for mark in _ENTERS + _CLEARS)
    else:
        # A clear on the alternate screen, left since, says nothing about the main one.
        left = max(tail.rfind(mark) for mark in _LEAVES)
        found = max(tail.rfind(mark) for mark in _CLEARS)
        found = found if found > left else -1
    if found >= 0:
        return begin + found, True
    if begin == 0:
        return 0, True
    return begin + safe_offset(tail), False


def tail_start(ring: Ring, size: int) -> int:
    """Where the last `size` bytes or so begin."""
    begin = max(ring.start, ring.head - size)
    return begin if begin == 0 else begin + safe_offset(ring.copy(begin, ring.head))
