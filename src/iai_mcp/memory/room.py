"""How much one answer may hold, and reading no more than that of what is large."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from iai_mcp.domain.memories import Memory
from iai_mcp.ports.memories import Memories, Placed

# A line carries 16 MiB, whatever the way it goes; the rest is for what stands around the answer.
ANSWER_BYTES = 15 * 1024 * 1024
_READ_AT_ONCE = 4 * 1024 * 1024  # bytes of memories
_AROUND = 400  # bytes of a memory beside its words
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(slots=True)
class Room:
    """What is left of one answer."""

    left: int = ANSWER_BYTES

    def takes(self, shown: object) -> bool:
        """Whether `shown` still fits; if so, its place is taken."""
        weight = weight_of(shown)
        if weight > self.left:
            return False
        self.left -= weight
        return True


def weight_of(shown: object) -> int:
    """The bytes of `shown` in the longer of the two forms that an answer travels in.

    Agents' programs get it as JSON with blanks, or as a string of JSON, in which quotes are escaped.
    """
    text = _written(shown)
    blanks = text.count(",") + text.count(":")
    escapes = text.count('"') + text.count("\\")
    return len(text.encode("utf-8", "surrogatepass")) + max(escapes, blanks)


def in_portions(memories: Memories, placed: Iterable[Placed]) -> Iterator[tuple[Placed, Memory]]:
    """These memories in the order given, never many megabytes of them in hand.

    What was forgotten meanwhile is left out.
    """
    portion: list[Placed] = []
    size = 0
    for one in placed:
        if portion and size + one.bytes + _AROUND > _READ_AT_ONCE:
            yield from _read(memories, portion)
            portion, size = [], 0
        portion.append(one)
        size += one.bytes + _AROUND
    yield from _read(memories, portion)


def _read(memories: Memories, portion: list[Placed]) -> Iterator[tuple[Placed, Memory]]:
    found = {memory.key: memory for memory in memories.get([one.key for one in portion])}
    for one in portion:
        if one.key in found:
            yield one, found[one.key]
