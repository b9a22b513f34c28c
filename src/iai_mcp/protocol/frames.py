"""Bytes to lines and back: one JSON value per line, bounded, sans I/O."""

from iai_mcp.protocol.codes import MAX_LINE


class Oversize:
    """Stands for a line that was longer than the limit; its bytes were dropped as they came."""

    __slots__ = ()
    why = f"the line is longer than {MAX_LINE} bytes"


class Late(Oversize):
    """Stands for a long line whose end did not come."""

    __slots__ = ()
    why = "the rest of a long line did not come: send it again on a new connection"


OVERSIZE = Oversize()


class LineDecoder:
    """Collects bytes and hands out whole lines; never holds more than `limit` bytes."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    @property
    def held(self) -> int:
        """How many bytes of a line are here whose end is not."""
        return self._size

    def feed(self, data: bytes) -> list[bytes | Oversize]:
        """The lines that `data` completes, in order, without their newline."""
        lines: list[bytes | Oversize] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            lines.append(self._finish(data[start:end]))
            start = end + 1
        rest = data[start:]
        if rest and not self._skipping:
            self._keep(rest)
        return lines

    def finish(self) -> list[bytes | Oversize]:
        """What stands without a newline at the end of the stream."""
        if self._skipping or self._size:
            return [self._finish(b"")]
        return []

    def _keep(self, rest: bytes) -> None:
        if self._size + len(rest) > self._limit:
            self._parts.clear()
            self._size = 0
            self._skipping = True
        else:
            self._parts.append(rest)
            self._size += len(rest)

    def _finish(self, tail: bytes) -> bytes | Oversize:
        whole = self._size + len(tail)
        oversize = self._skipping or whole > self._limit
        line = b"" if oversize else b"".join((*self._parts, tail))
        self._parts.clear()
        self._size = 0
        self._skipping = False
        return OVERSIZE if oversize else line
