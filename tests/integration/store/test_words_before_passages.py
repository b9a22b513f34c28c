"""What single words mean is learned before long turns are embedded passage by passage."""

from collections.abc import Iterator

import pytest
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

LONG = "\n\n".join(f"Shard {n} of the osprey cache was moved to another disk." for n in range(40))


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    store = MemoryStore(load_embedder=FakeEmbedder)
    store.embedder.wait(10)
    yield store
    store.close()


def test_words_are_known_while_passages_are_still_to_come(store: MemoryStore) -> None:
    events = [
        {"role": role, "text": text}
        for n in range(60)
        for role, text in (
            ("user", f"what about shard {n}?"),
            ("assistant", "Let me look."),
            ("assistant", f"{n}: {LONG}"),
        )
    ]
    dispatch(store, "capture_events", {"session_id": "s", "events": events})
    assert store.backlog.page()
    assert store.vectors is not None
    words = store.vectors.words
    assert words is not None
    while not len(words):
        assert store.backlog.page()
    left = store.backlog.left()
    assert left["first_vectors_pending"] == 0
    assert left["vectors_pending"]
