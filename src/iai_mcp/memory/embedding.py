"""Give vectors to memories that lack them: oldest first, in pages, off the write path."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.memories import Memory
from iai_mcp.domain.passages import passages
from iai_mcp.domain.traits import standing_wishes
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.vectors import Passages, Vectors, WordVectors

_PASSAGES_OF_A_PERSON = 12
# An assistant's turns are long and many: fewer, longer passages find nearly as much.
_PASSAGES_OF_AN_ASSISTANT = 8
# A short turn means little without the one it answers.
_SHORT_TURN = 600  # characters
_CONTEXT = 300


@dataclass(frozen=True, slots=True)
class EmbedBacklog:
    """One page at a time, so that whoever runs it can stop between pages."""

    memories: Memories
    embedder: Embedder
    vectors: Vectors

    def __call__(self, page: int = 32) -> int:
        """Embed the oldest `page` memories; how many there were."""
        keys: list[int] = []
        turns, others = [], []
        for key in self.memories.pending(page):
            for memory in self.memories.get([key]):  # one at a time: each may be megabytes long
                plan = self._plan(memory)
                rows = self.embedder.embed(plan.texts)
                keys.append(key)
                turns.append(rows[0])
                others.append(Passages(key, plan.topics, plan.context, rows[1:]))
        if keys:
            # The turn's own vector goes last: it takes the memory off the backlog.
            self.vectors.put_passages([one for one in others if len(one.vectors)])
            self.vectors.put(keys, np.stack(turns))
        return len(keys)

    def _plan(self, memory: Memory) -> "_Plan":
        person = memory.role != "assistant"
        limit = _PASSAGES_OF_A_PERSON if person else _PASSAGES_OF_AN_ASSISTANT
        pieces = passages(memory.text, limit)
        topics: list[str] = []
        for wish in standing_wishes(memory.text, memory.role):
            topics += dict.fromkeys([wish.topic or wish.sentence, wish.sentence])
        before = self._before(memory) if person and len(memory.text) <= _SHORT_TURN else ""
        context = [f"{before[-_CONTEXT:]}\n{memory.text}"] if before else []
        own = pieces if len(pieces) > 1 else []
        return _Plan([memory.text, *topics, *own, *context], len(topics), bool(context))

    def _before(self, memory: Memory) -> str:
        before, _ = self.memories.neighbours(memory, 1)
        return before[-1].text if before else ""


@dataclass(frozen=True, slots=True)
class EmbedWords:
    """What single words mean, so that recall finds what was said in others."""

    embedder: Embedder
    words: WordVectors

    def __call__(self, page: int = 32) -> bool:
        """Embed the words of the next `page` memories; whether there were any memories."""
        found = self.words.unmeant(page)
        if found.read_to is None:
            return False
        nothing = np.zeros((0, 0), np.float32)
        self.words.put(found, self.embedder.embed(found.words) if found.words else nothing)
        return True


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to embed for one memory: the turn, its wishes' topics, its passages, its context."""

    texts: Sequence[str]
    topics: int
    context: bool
