"""Another model on the same store: its vectors never mix with the old ones, and recall says what is missing."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder
from tests.support.answers import ask

from iai_mcp.core import dispatch
from iai_mcp.ports.embedder import Embedder
from iai_mcp.store import MemoryStore

MANY = 150


def other_embedder() -> Embedder:
    """Vectors of another length, in another space."""
    return FakeEmbedder(96, "other.1")


class CrowdedEmbedder(FakeEmbedder):
    """As gte-small does, puts even unrelated texts at a cosine of three quarters."""

    def __init__(self) -> None:
        super().__init__(64, "gte-small.q8a.0")

    @property
    def dimensions(self) -> int:
        return 65

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        alike = np.full((len(texts), 1), np.sqrt(0.75), np.float32)
        return np.hstack([alike, 0.5 * super().embed(texts)]).astype(np.float32)


@pytest.fixture(autouse=True)
def store_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "store"))


def _opened(load: Callable[[], Embedder]) -> MemoryStore:
    store = MemoryStore(load_embedder=load)
    store.embedder.wait(10)
    return store


def _degraded(store: MemoryStore) -> list[str]:
    told = ask(store, "memory_recall", cue="which port does server 7 use?")["degraded"]
    assert isinstance(told, list)
    return told


def _fill(store: MemoryStore, count: int) -> None:
    events = [
        {"text": f"server {number} listens on port {5000 + number}"} for number in range(count)
    ]
    dispatch(store, "capture_events", {"session_id": "s", "events": events})


def _embed(store: MemoryStore) -> None:
    while store.backlog.page():
        continue


def test_until_most_have_a_vector_of_the_new_model_recall_says_so() -> None:
    store = _opened(FakeEmbedder)
    _fill(store, MANY)
    _embed(store)
    assert _degraded(store) == []
    store.close()

    changed = _opened(other_embedder)
    assert len(changed.vectors or ()) == 0
    (said,) = _degraded(changed)
    assert "have no vector of this model yet" in said
    _embed(changed)

    assert _degraded(changed) == []
    assert len(changed.vectors or ()) == MANY
    changed.close()


def test_a_change_that_was_cut_short_still_says_so_after_a_restart() -> None:
    store = _opened(FakeEmbedder)
    _fill(store, MANY)
    _embed(store)
    store.close()
    _opened(other_embedder).close()

    again = _opened(other_embedder)

    assert _degraded(again) != []
    again.close()


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("tell me about quantum gravity and black holes", False),
        ("does the header parser drop empty cookies of parse_header?", True),
    ],
)
def test_nobody_is_interrupted_because_a_model_finds_everything_alike(
    prompt: str, told: bool
) -> None:
    store = _opened(CrowdedEmbedder)
    said = [{"text": "the header parser does drop empty cookies in parse_header"}]
    dispatch(store, "capture_events", {"session_id": "s", "events": said})
    _embed(store)

    answer = dispatch(store, "prompt_injection", {"prompt": prompt, "session_id": "new"})

    assert bool(answer["text"]) is told
    store.close()


def test_a_few_turns_without_vectors_are_not_worth_a_word() -> None:
    store = _opened(FakeEmbedder)
    _fill(store, 5)
    store.close()

    again = _opened(FakeEmbedder)

    assert _degraded(again) == []
    again.close()
