"""What would go if it were forgotten: samples and counts, for whoever has to decide."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.whole_words import Phrase
from iai_mcp.domain.work import Record, text_of
from iai_mcp.ports.memories import Memories

SHOWN_OF_EACH = 1000  # characters
_SEARCHED = 1 << 18  # characters: a sample further on shows the beginning instead
_SAMPLE = 160
_COUNTED = 100_000
_AT_ONCE = 500
_FOR_WORK = 4  # one sample of so many, where what was said would fill all


@dataclass(frozen=True, slots=True)
class Preview:
    """The first memories, cut short, each with a sample around the words; the first of what was done
    in the same way; and how many of both there are in each project, the most first.
    """

    first: Sequence[tuple[Memory, str]]
    projects: Mapping[str, int]
    done: Sequence[tuple[Record, str]] = ()

    def with_work(self, works: Sequence[Record], words: str, shown: int) -> "Preview":
        """Beside what was done: `shown` samples of both."""
        phrase = Phrase(words)
        room = max(shown - len(self.first), shown // _FOR_WORK)
        done = [
            (work, phrase.sample(text_of(work.done, work.note), _SAMPLE)) for work in works[:room]
        ]
        projects = Counter(self.projects)
        projects.update(work.provenance.project for work in works)
        return Preview(self.first[: shown - len(done)], dict(projects.most_common()), done)


def preview(memories: Memories, keys: Sequence[int], words: str, shown: int) -> Preview:
    """Of `keys`, with samples of the first `shown`."""
    phrase = Phrase(words)
    first = [
        (replace(memory, text=memory.text[:SHOWN_OF_EACH]), phrase.sample(memory.text, _SAMPLE))
        for memory in memories.get(keys[:shown], _SEARCHED)
    ]
    projects: Counter[str] = Counter()
    for start in range(0, min(len(keys), _COUNTED), _AT_ONCE):
        page = memories.get(keys[start : start + _AT_ONCE], 1)
        projects.update(memory.provenance.project for memory in page)
    return Preview(first, dict(projects.most_common()))
