"""Recall of sessions in which somebody worked: exchanges, not turns, are weighed against each other."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder

from iai_mcp.core import dispatch
from iai_mcp.store import MemoryStore

# Words that the model below takes for the same.
_ALIKE = {"obsolete": "outdated", "credentials": "passwords"}


class Knowing(FakeEmbedder):
    """Knows that some words mean about the same, and what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)

    def _direction(self, word: str) -> NDArray[np.float32]:
        own = super()._direction(word)
        return own if word not in _ALIKE else super()._direction(_ALIKE[word]) + 0.4 * own


class Kit:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def work(self, session: str, *said: str) -> None:
        """Turns as "u: text" and "a: text"."""
        roles = {"u": "user", "a": "assistant"}
        events = [{"role": roles[one[0]], "text": one[3:]} for one in said]
        dispatch(self.store, "capture_events", {"session_id": session, "events": events})
        while self.store.backlog.page():
            continue

    def texts(self, cue: str, **params: object) -> list[str]:
        answer: dict[str, Any] = dispatch(self.store, "memory_recall", {"cue": cue, **params})
        return [hit["text"] for hit in answer["hits"]]

    def meant(self) -> list[str]:
        """The words whose meaning is kept."""
        with self.store.database.reading() as db:
            return [str(row[0]) for row in db.execute("SELECT token FROM word_vectors")]


@pytest.fixture
def kit() -> Iterator[Kit]:
    store = MemoryStore(load_embedder=Knowing)
    store.embedder.wait(10)
    yield Kit(store)
    store.close()


def _filler(kit: Kit, sessions: int = 12) -> None:
    for n in range(sessions):
        kit.work(
            f"filler {n}",
            f"u: please rename module number {n} of the parser",
            f"a: Let me look at module {n}.",
            f"a: Renamed module {n}; all tests of the parser pass.",
        )


def test_an_exchange_is_found_by_what_its_prompt_and_its_conclusion_say_together(kit: Kit) -> None:
    _filler(kit)
    kit.work(
        "x", "u: why does the importer stall?", "a: Let me check.", "a: Queues were full once."
    )
    kit.work(
        "wanted",
        "u: the importer of invoices stalls at night, why?",
        "a: Let me read the log first.",
        "a: A lock file is left behind when the backup kills it; it is removed at each start.",
    )

    first = kit.texts("importer invoices lock file backup")[0]
    assert first.startswith("A lock file is left behind")


def test_what_a_cue_quotes_letter_by_letter_brings_its_exchange_first(kit: Kit) -> None:
    _filler(kit)
    kit.work(
        "wanted", "u: it fails", "a: Looking.", "a: ECONNRESET comes from the proxy of the gateway."
    )

    assert kit.texts("module parser tests rename ECONNRESET")[0].startswith("ECONNRESET")


def test_talk_and_work_are_found_side_by_side(kit: Kit) -> None:
    _filler(kit)
    kit.work("talk", "u: my sister lives in Lisbon", "a: How nice!")

    assert kit.texts("where does my sister live?")[0] == "my sister lives in Lisbon"
    assert "number 7" in kit.texts("rename module number 7 of the parser")[0]


def test_the_scope_bounds_what_an_exchange_is_made_of(kit: Kit) -> None:
    kit.work("wanted", "u: the heron cache?", "a: Looking.", "a: It is dropped after a minute.")

    assert kit.texts("heron cache", role="user") == ["the heron cache?"]
