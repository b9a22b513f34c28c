"""What would go if it were forgotten: samples and counts, for whoever has to decide."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.ports.memories import Memories

_SHOWN_OF_EACH = 1000  # characters
_SEARCHED = 1 << 18  # characters: a sample further on shows the beginning instead
_SAMPLE = 160
_COUNTED = 100_000
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Preview:
    """The first memories, cut short, each with a sample around the words; and how many there are in
    each project, the most first.
    """

    first: Sequence[tuple[Memory, str]]
    projects: Mapping[str, int]


def preview(memories: Memories, keys: Sequence[int], words: str, shown: int) -> Preview:
    """Of `keys`, with samples of the first `shown`."""
    phrase = Phrase(words)
    first = [
        (replace(memory, text=memory.text[:_SHOWN_OF_EACH]), phrase.sample(memory.text, _SAMPLE))
        for memory in memories.get(keys[:shown], _SEARCHED)
    ]
    projects: Counter[str] = Counter()
    for start in range(0, min(len(keys), _COUNTED), _AT_ONCE):
        page = memories.get(keys[start : start + _AT_ONCE], 1)
        projects.update(memory.provenance.project for memory in page)
    return Preview(first, dict(projects.most_common()))
