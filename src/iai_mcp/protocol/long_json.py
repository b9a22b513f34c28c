"""A JSON text of megabytes, read in pieces.

The interpreter's own reader takes a text in one go and keeps everybody else from the interpreter
meanwhile: sixteen megabytes of small values for half a second. Here the containers that hold much are
gone through one value at a time, and whatever is short is left to that reader.
"""

from collections.abc import Callable

# The value that begins at an index, and where it ends; ValueError where there is none.
Scan = Callable[[str, int], tuple[object, int]]

# What ends within so many characters is read at once.
AT_ONCE = 4096
# More values than this are no message, and would take many times the memory of their text.
MOST_VALUES = 1_000_000
_DEEPEST = 200  # of containers that are longer than what is read at once
_BLANK = " \t\n\r"
_LONG = object()


def load(text: str, scan: Scan) -> object:
    """The one JSON value that `text` holds, as `scan` reads values.

    Raises:
        ValueError: it is not one JSON value, or beyond reason.
    """
    reader = _Reader(text, scan)
    value = reader.value(0)
    if reader.sign():
        raise ValueError("more than one JSON value")
    return value


class _Reader:
    """Goes through a text from one value to the next."""

    def __init__(self, text: str, scan: Scan) -> None:
        self._text = text
        self._scan = scan
        self._at = 0
        self._values = 0

    def sign(self) -> str:
        """The next character that is no blank, "" at the end."""
        text, at, end = self._text, self._at, len(self._text)
        while at < end and text[at] in _BLANK:
            at += 1
        self._at = at
        return text[at : at + 1]

    def value(self, depth: int) -> object:
        sign = self.sign()
        self._values += 1
        if self._values > MOST_VALUES or depth > _DEEPEST:
            raise ValueError("more than a message holds")
        if not sign or sign not in "[{":
            return self._whole()
        short = self._short()
        if short is not _LONG:
            return short
        self._at += 1
        return self._array(depth + 1) if sign == "[" else self._object(depth + 1)

    def _short(self) -> object:
        """The container that begins here if it is short; `_LONG` for one that is not, or is none."""
        piece = self._text[self._at : self._at + AT_ONCE]
        try:
            value, length = self._scan(piece, 0)
        except (ValueError, RecursionError):
            return _LONG
        self._at += length
        return value

    def _whole(self) -> object:
        value, self._at = self._scan(self._text, self._at)
        return value

    def _array(self, depth: int) -> list[object]:
        found: list[object] = []
        if self._ends("]"):
            return found
        while True:
            found.append(self.value(depth))
            if self._ends("]"):
                return found
            self._expect(",")

    def _object(self, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        if self._ends("}"):
            return found
        while True:
            if self.sign() != '"':
                raise ValueError("a name was expected")
            name = str(self._whole())
            self._expect(":")
            found[name] = self.value(depth)
            if self._ends("}"):
                return found
            self._expect(",")

    def _ends(self, sign: str) -> bool:
        if self.sign() != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._ends(sign):
            raise ValueError(f"{sign} was expected")
