"""How much one answer may hold, and reading no more than that of what is large."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.ports.memories import Memories, Placed

# A line carries 16 MiB, whatever the way it goes; the rest is for what stands around the answer.
ANSWER_BYTES = 15 * 1024 * 1024
_READ_AT_ONCE = 4 * 1024 * 1024  # bytes of memories
_AROUND = 400  # bytes of a memory beside its words
_LABELS = 900  # bytes of what says which is which, and of the score and its reasons
_BETWEEN = " … "
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory as an answer holds it: its `text` may be an excerpt."""

    memory: Memory
    characters: int | None = None  # of the whole text, where this is an excerpt

    def shortened(self, longest: int) -> "Shown":
        """The same with the beginning and the end of its text, if that is longer than `longest`."""
        text = self.memory.text
        if len(text) <= longest:
            return self
        head = longest * 3 // 4
        short = f"{text[:head]}{_BETWEEN}{text[len(text) - (longest - head) :]}"
        return Shown(replace(self.memory, text=short), len(text))


@dataclass(slots=True)
class Room:
    """What is left of one answer."""

    left: int = ANSWER_BYTES

    def takes(self, weight: int) -> bool:
        """Whether so many bytes still fit; if so, their place is taken."""
        if weight > self.left:
            return False
        self.left -= weight
        return True


def weight_of(value: object) -> int:
    """The bytes of `value` in the longer of the two forms that an answer travels in.

    Agents' programs get it as JSON with blanks, or as a string of JSON, in which quotes are escaped.
    """
    text = _written(value)
    blanks = text.count(",") + text.count(":")
    escapes = text.count('"') + text.count("\\")
    return len(text.encode("utf-8", "surrogatepass")) + max(escapes, blanks)


def weight(memory: Memory) -> int:
    """The bytes that a memory takes of an answer, with all that is told about it; rather too many."""
    whence = memory.provenance
    names = (whence.session_id, whence.project, whence.host, whence.agent_id, whence.agent_name)
    told = (memory.text, memory.speaker, memory.role, memory.cue, whence.branch, *names)
    return weight_of((*told, dict(memory.meta))) + _LABELS


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
