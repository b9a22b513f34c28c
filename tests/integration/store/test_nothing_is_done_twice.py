"""On the way from a cue or a prompt to its answer nothing is embedded or looked for again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.ports.embedder import Matrix
from iai_mcp.ports.memories import Scope
from iai_mcp.recall.candidates import Candidates, Finder
from iai_mcp.recall.query import Query
from iai_mcp.store import MemoryStore


class CountingEmbedder(FakeEmbedder):
    embedded: list[str]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded = [*getattr(self, "embedded", []), *texts]
        return super().embed(texts)


@dataclass(frozen=True)
class CountingFinder(Finder):
    looked_for: list[Query] = field(default_factory=list)

    def find(
        self, query: Query, embedded: Matrix | None, scope: Scope, *more: Any, **named: Any
    ) -> Candidates:
        self.looked_for.append(query)
        return super().find(query, embedded, scope, *more, **named)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def store(embedder: CountingEmbedder) -> Iterator[MemoryStore]:
    opened = MemoryStore(load_embedder=lambda: embedder)
    opened.embedder.start()
    opened.embedder.wait(20)
    yield opened
    opened.close()


def remember(store: MemoryStore, *texts: str, **call: object) -> None:
    """Each text in a session of its own, with its vector."""
    for number, text in enumerate(texts):
        event = {"text": text, "ts": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}Z"}
        dispatch(store, "capture_events", {**call, "session_id": f"s{number}", "events": [event]})
    while store.backlog.page(50):
        continue


def looked_for(store: MemoryStore, **question: object) -> tuple[int, list[str]]:
    real = store.recall.finder
    finder = CountingFinder(real.columns, real.index, real.vectors)
    before, store.recall = store.recall, replace(store.recall, finder=finder)
    hits = dispatch(store, "memory_recall", question)["hits"]
    store.recall = before
    assert isinstance(hits, list)
    return len(finder.looked_for), [hit["id"] for hit in hits]


def test_a_prompt_asks_no_model(store: MemoryStore, embedder: CountingEmbedder) -> None:
    remember(store, "we decided to keep valkey_cache in the cluster", "the cake was lemon")
    embedder.embedded = []

    told = dispatch(store, "prompt_injection", {"prompt": "should valkey_cache be in there?"})

    assert "valkey" in str(told["text"])
    assert embedder.embedded == []


DEPLOYS = ["the deploy failed at noon", "the deploy key is in the vault"]
CUE = "did the deploy fail because of the key in the vault"


def test_a_cue_is_looked_for_once_with_all_its_wordings(store: MemoryStore) -> None:
    remember(store, *DEPLOYS, *["the deploy went well"] * 30)

    times, found = looked_for(store, cue=CUE, wordings=["deploy key", "deploy failed"], k=5)

    assert times == 1
    assert len(found) == 3, "what says the same is one hit, and takes no other's place"


def test_a_cue_and_its_wordings_are_embedded_once_each(
    store: MemoryStore, embedder: CountingEmbedder
) -> None:
    remember(store, *DEPLOYS)
    embedder.embedded = []

    dispatch(store, "memory_recall", {"cue": CUE, "wordings": ["deploy key", "deploy key", CUE]})

    assert embedder.embedded == [CUE, "deploy key"]
