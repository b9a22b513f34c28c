"""What a program wrote to its terminal, and what can be told from it.

`Ring` keeps the last of it in a fixed amount of memory. `Modes` knows what was turned on by bytes
that may have left the ring long ago; they are looked at in large slices, when somebody asks or a
little at a time, never as they are read. The functions tell where a reader may begin, and what a
terminal would answer.
"""

import mmap

# What one read may take. The kernel hands out about 4 KB at a time; the margin is for kernels
# that give more.
WINDOW = 65_536

# Private modes that outlive the moment: cursor keys, wrap, mouse, cursor, focus, alternate
# screen, paste, colour-scheme reports. Synchronised output (2026) is gone when a frame is drawn.
_MOUSE = (9, 1000, 1002, 1003, 1005, 1006, 1007, 1015, 1016)
ALTERNATE = (47, 1047, 1049)
KEPT = frozenset((1, 5, 6, 7, 12, 25, 45, 66, 1004, 2004, 2027, 2031, 2048, *_MOUSE, *ALTERNATE))
PASTE = 2004

_SLICE = 65_536
# Seven ways to begin a sequence that matters, folded into two: each search costs as much as the rest.
_FOLDED = bytes.maketrans(b"?><=cP", b"PPPPP_")
_LONGEST = 64  # a mode sequence is far shorter; a longer one is not one
_KEYBOARD_DEPTH = 16

# How far back a client looks to rebuild the screen. Programs that redraw in place (a spinner
# ten times a second) fill this in minutes, and a client parses it in a fraction of a second.
SCREEN_REACH = 262_144

_ENTERS = (b"\x1b[?1049h", b"\x1b[?1047h", b"\x1b[?47h")
_LEAVES = (b"\x1b[?1049l", b"\x1b[?1047l", b"\x1b[?47l")
_CLEARS = (b"\x1b[2J", b"\x1bc", b"\x1b[H\x1b[J", b"\x1b[1;1H\x1b[J")
_LOOK = 4096  # a line is rarely longer, and a screen is lost beyond it anyway

# Only what every terminal says. No answer to the rest means "I can not do that", which is true until
# somebody attaches.
_ANSWERS = (
    (b"\x1b[c", b"\x1b[?62;22c"),  # what are you: a VT220 with colours
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b[5n", b"\x1b[0n"),  # are you well
    (b"\x1b[6n", b"\x1b[1;1R"),  # where is the cursor: nobody has drawn it yet
)


class Ring:
    """`size` bytes of memory, taken page by page as they are first written, never more.

    Positions count all bytes the program ever wrote; the ring holds those in `[start, head)`.
    """

    __slots__ = ("_memory", "_view", "head", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.head = 0
        # Anonymous memory: a page costs nothing until output reaches it.
        self._memory = mmap.mmap(-1, size)
        self._view = memoryview(self._memory)

    @property
    def start(self) -> int:
        """The oldest position still held."""
        return max(0, self.head - self.size)

    def window(self) -> memoryview:
        """Where the next output goes: read into it, then say how much came with `advance`."""
        at = self.head % self.size
        return self._view[at : min(at + WINDOW, self.size)]

    def advance(self, count: int) -> None:
        self.head += count

    def view(self, position: int, limit: int) -> memoryview:
        """Up to `limit` bytes from `position` on, without copying; it may end at the seam."""
        at = position % self.size
        end = min(at + min(limit, self.head - position), self.size)
        return self._view[at:end]

    def copy(self, position: int, end: int) -> bytes:
        """The bytes of `[position, end)`, whole."""
        parts = []
        while position < end:
            part = bytes(self.view(position, end - position))
            parts.append(part)
            position += len(part)
        return b"".join(parts)


class Modes:
    """The modes in force at `scanned`, a position in the ring."""

    __slots__ = ("keyboard", "keypad", "private", "scanned")

    def __init__(self) -> None:
        self.scanned = 0
        self.private: dict[int, bool] = {}
        self.keypad = False
        self.keyboard: list[int] = []  # the stack of kitty keyboard flags

    def alternate_screen(self) -> bool:
        return any(self.private.get(mode, False) for mode in ALTERNATE)

    def paste(self) -> bool:
        return self.private.get(PASTE, False)

    def catch_up(self, ring: Ring, limit: int | None = None) -> None:
        """Look at everything up to the ring's head, or at about `limit` bytes of it."""
        stop = ring.head if limit is None else min(ring.head, self.scanned + limit)
        position = max(self.scanned, ring.start)
        while position < stop:
            end = min(position + _SLICE, ring.head)
            used = self._scan(ring.copy(position, end))
            position += used
            if used < _LONGEST and end == ring.head:
                break  # only a cut-off sequence is left: wait for the rest of it
        self.scanned = position

    def _scan(self, text: bytes) -> int:
        """Apply what `text` says and return how much of it is dealt with."""
        if b"\x1b" not in text:
            return len(text)
        cut = text.rfind(b"\x1b", max(0, len(text) - _LONGEST))
        if cut < 0 or not _is_cut_off(text[cut:]):
            cut = len(text)
        folded = text.translate(_FOLDED)
        found = []
        for lead in (b"\x1b[P", b"\x1bP"):
            at = folded.find(lead) if b"P" in folded else -1
            while 0 <= at < cut:
                found.append(at + 1)
                at = folded.find(lead, at + len(lead))
        for at in sorted(found):
            self._apply(text[at : at + 1], text[at + 1 : at + _LONGEST])
        return cut

    def _apply(self, first: bytes, rest: bytes) -> None:
        """One sequence, by what follows its ESC."""
        if first == b"c":
            self.private.clear()
            self.keyboard.clear()
            self.keypad = False
        elif first in (b"=", b">"):
            self.keypad = first == b"="
        elif first == b"[":
            lead = rest[:1]
            numbers, final = _parameters(rest[1:])
            if lead == b"?":
                self._private(numbers, final)
            elif final == b"u" and lead != b"c":
                self._keyboard(lead, numbers)

    def _private(self, numbers: list[int], final: bytes) -> None:
        if final in (b"h", b"l"):
            for number in numbers:
                if number in KEPT:
                    self.private[number] = final == b"h"

    def _keyboard(self, lead: bytes, numbers: list[int]) -> None:
        first = numbers[0] if numbers else 0
        if lead == b">":
            self.keyboard.append(first)
            del self.keyboard[:-_KEYBOARD_DEPTH]
        elif lead == b"<":
            del self.keyboard[len(self.keyboard) - max(1, first) :]
        elif self.keyboard:
            self.keyboard[-1] = first
        else:
            self.keyboard.append(first)


def _is_cut_off(tail: bytes) -> bool:
    """Whether `tail`, which begins with ESC, is a sequence that still lacks its end."""
    if len(tail) == 1:
        return True
    if tail[1:2] != b"[":
        return False
    return all(0x20 <= byte <= 0x3F for byte in tail[2:])


def _parameters(rest: bytes) -> tuple[list[int], bytes]:
    """The numbers of a control sequence, and the byte that ends it."""
    for at in range(len(rest)):
        if rest[at] >= 0x40:
            fields = rest[:at].replace(b":", b";").split(b";")
            return [int(field) for field in fields if field.isdigit()], rest[at : at + 1]
    return [], b""


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


def answer(text: bytes) -> bytes:
    """What a plain terminal types back after printing `text`, in the order of the questions.

    For programs that ask while nobody is attached: some wait seconds for it at their start, some
    give up.
    """
    if b"\x1b[" not in text:
        return b""
    found = []
    for question, reply in _ANSWERS:
        at = text.find(question)
        while at >= 0:
            found.append((at, reply))
            at = text.find(question, at + len(question))
    found.sort()
    return b"".join(reply for _, reply in found)
