"""Embeds all that a store lacks, in a process of its own, and tells what it took; any checkout's code.

python bench/embedding_run.py STORE: one line of JSON.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iai_mcp.adapters.embedding.runtime import OnnxEmbedder, load_configured
from iai_mcp.ports.embedder import Matrix
from iai_mcp.store import MemoryStore


class Noting(OnnxEmbedder):
    """Remembers how long what it was given is, in the model's tokens."""

    def __init__(self, real: OnnxEmbedder) -> None:
        self.__dict__ = real.__dict__
        self.ids: list[list[int]] = []

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.ids += [self._tokens.ids(text) for text in texts]
        return super().embed(texts)


def main(directory: Path) -> int:
    embedder = Noting(load_configured())
    store = MemoryStore(directory, load_embedder=lambda: embedder)
    store.embedder.wait(60)
    count = store.memories.count()
    found: dict[str, float] = {}
    began, spent = time.monotonic(), time.process_time()
    while store.memories.pending_count():
        store.backlog.page()
        if "first_seconds" not in found and len(store.vectors or ()) >= count:
            found |= _since(began, spent, "first_")
    found |= _since(began, spent)
    store.close()
    tokens = sum(map(len, embedder.ids))
    told = {"turns": count, "texts": len(embedder.ids), "tokens": tokens, **found, **_raw(embedder)}
    print(json.dumps(told))
    return 0


def _since(began: float, spent: float, which: str = "") -> dict[str, float]:
    return {
        f"{which}seconds": time.monotonic() - began,
        f"{which}cpu": time.process_time() - spent,
    }


def _raw(embedder: Noting) -> dict[str, float]:
    """The bare session on the same tokens, one text after the other."""
    session: Any = embedder._session
    kinds = session.inputs
    feeds = [
        {
            name: (np.array([ids]) if name == "input_ids" else np.ones((1, len(ids)))).astype(kind)
            for name, kind in kinds.items()
        }
        for ids in embedder.ids
    ]
    began, spent = time.monotonic(), time.process_time()
    for feed in feeds:
        session.run([session.output], feed)
    return _since(began, spent, "raw_")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
