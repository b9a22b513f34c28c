"""The last bytes of a terminal's output, in a fixed amount of memory.

Positions count all bytes the program ever wrote; the ring holds those in `[start, head)`.
"""

import mmap

# What one read may take. The kernel hands out about 4 KB at a time; the margin is for kernels
# that give more.
WINDOW = 65_536


class Ring:
    """`size` bytes of memory, taken page by page as they are first written, never more."""

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
