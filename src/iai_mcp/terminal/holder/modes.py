"""Which modes a program turned on in its terminal, for clients that attach later.

The bytes that set a mode may have left the ring long ago. They are looked at in large
slices, when somebody asks or a little at a time, never as they are read.
"""

from iai_mcp.terminal.holder.ring import Ring

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
