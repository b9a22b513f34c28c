"""Give vectors to memories that lack them: oldest first, in pages, off the write path."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from iai_mcp.domain.passages import passages
from iai_mcp.domain.traits import standing_wishes
from iai_mcp.engine.vectors import Passages, Vectors
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories, Unembedded

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
        for memory in self.memories.pending(page):
            plan = self._plan(memory)
            rows = self.embedder.embed(plan.texts)
            keys.append(memory.key)
            turns.append(rows[0])
            others.append(Passages(memory.key, plan.topics, plan.context, rows[1:]))
        if keys:
            self.vectors.put(keys, np.stack(turns), others)
        return len(keys)

    def _plan(self, memory: Unembedded) -> "_Plan":
        person = memory.role != "assistant"
        limit = _PASSAGES_OF_A_PERSON if person else _PASSAGES_OF_AN_ASSISTANT
        pieces = passages(memory.text, limit)
        topics: list[str] = []
        for wish in standing_wishes(memory.text, memory.role) if memory.wishes else ():
            topics += dict.fromkeys([wish.topic or wish.sentence, wish.sentence])
        short = person and len(memory.text) <= _SHORT_TURN
        before = self.memories.said_before(memory.key, _CONTEXT) if short else ""
        context = [f"{before}\n{memory.text}"] if before else []
        own = pieces if len(pieces) > 1 else []
        return _Plan([memory.text, *topics, *own, *context], len(topics), bool(context))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to embed for one memory: the turn, its wishes' topics, its passages, its context."""

    texts: Sequence[str]
    topics: int
    context: bool
