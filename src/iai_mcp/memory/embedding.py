"""Give vectors to memories that lack one: oldest first, in pages, off the write path."""

from dataclasses import dataclass

from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.vectors import Vectors


@dataclass(frozen=True, slots=True)
class EmbedBacklog:
    """One page at a time, so that whoever runs it can stop between pages."""

    memories: Memories
    embedder: Embedder
    vectors: Vectors

    def __call__(self, page: int = 32) -> int:
        """Embed the oldest `page` memories; how many there were."""
        waiting = self.memories.pending(page)
        if waiting:
            vectors = self.embedder.embed([text for _, text in waiting])
            self.vectors.put([key for key, _ in waiting], vectors)
        return len(waiting)
