"""Finds the detach key in what a person types, and leaves everything else as it is.

Terminals send a key in several ways: as one control byte, or spelled out when the program
asked for that (`CSI 93;5u` is Ctrl-] too).
"""

import re

from iai_mcp.domain.errors import InvalidInput

DEFAULT = "ctrl-] d"
_SPELLED = re.compile(
    rb"\x1b\[(?:27;(?P<mods1>\d+);(?P<code1>\d+)~|(?P<code2>\d+)(?::\d*)*(?:;(?P<mods2>\d+)(?::(?P<event>\d))?)?u)"
)
_RELEASE = b"3"
_CONTROL = 4  # in a key's modifiers, less one
_ORDINARY_MODIFIERS = 0b1111  # shift, alt, control, super; locks do not change a key


class Keys:
    """Splits typed bytes into what goes to the program and whether to detach.

    A detach key of two strokes is a prefix: the first stroke waits for the second, and
    typed twice it goes to the program once.
    """

    def __init__(self, spec: str) -> None:
        strokes = spec.split()
        if not 1 <= len(strokes) <= 2:
            raise InvalidInput(_BAD.format(spec))
        self._strokes = [_stroke(stroke, spec) for stroke in strokes]
        self._waiting = b""

    def feed(self, data: bytes) -> tuple[bytes, bool]:
        """The bytes for the program, and True when the person asked to detach."""
        if not self._waiting and self._strokes[0] not in data and b"\x1b" not in data:
            return data, False  # nearly everything people type
        passed = []
        for key in _split(data):
            stroke = _meaning(key)
            if stroke is None:
                passed.append(key)  # a key going up, or a piece of one
            elif self._waiting:
                if stroke == self._strokes[1]:
                    self._waiting = b""
                    return b"".join(passed), True
                # Twice the first stroke means the key itself; another key means both.
                passed.append(key if stroke == self._strokes[0] else self._waiting + key)
                self._waiting = b""
            elif stroke == self._strokes[0]:
                if len(self._strokes) == 1:
                    return b"".join(passed), True
                self._waiting = key
            else:
                passed.append(key)
        return b"".join(passed), False


_BAD = "'{}' is no detach key: give one or two keys like 'ctrl-] d', 'ctrl-a d' or 'ctrl-\\'"


def _stroke(text: str, spec: str) -> int:
    """A key as the byte an old terminal sends."""
    lowered = text.lower()
    if lowered.startswith("ctrl-") and len(lowered) == 6:
        code = ord(lowered[5].upper())
        if 0x40 <= code <= 0x5F:
            return code & 0x1F
    elif len(text) == 1 and " " < text < "\x7f":
        return ord(text)
    raise InvalidInput(_BAD.format(spec))


def _split(data: bytes) -> list[bytes]:
    """Single bytes, except for keys that are spelled out, and pastes, which hold no keys."""
    keys: list[bytes] = []
    at = 0
    while at < len(data):
        if data.startswith(b"\x1b[200~", at):
            end = data.find(b"\x1b[201~", at)
            stop = len(data) if end < 0 else end
            keys.append(data[at:stop])
            at = stop
            continue
        spelled = _SPELLED.match(data, at)
        if spelled:
            keys.append(spelled.group())
            at = spelled.end()
        else:
            keys.append(data[at : at + 1])
            at += 1
    return keys


def _meaning(key: bytes) -> int | None:
    """The byte an old terminal would have sent, or None for what is not a key going down."""
    if len(key) == 1:
        return key[0]
    spelled = _SPELLED.fullmatch(key)
    if spelled is None or spelled.group("event") == _RELEASE:
        return None
    code = int(spelled.group("code1") or spelled.group("code2"))
    modifiers = int(spelled.group("mods1") or spelled.group("mods2") or 1) - 1
    if modifiers & _ORDINARY_MODIFIERS == _CONTROL and code < 0x80:
        return ord(chr(code).upper()) & 0x1F
    return code if not modifiers & _ORDINARY_MODIFIERS and code < 0x80 else -1
