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


def test_narration_does_not_speak_for_its_exchange(kit: Kit) -> None:
    _filler(kit)
    kit.work(
        "wanted",
        "u: fix it",
        "a: Let me look at the heron cache of the gateway.",
        "a: The heron entries expired too late: they are dropped after a minute.",
    )

    assert kit.texts("heron cache of the gateway")[0].startswith("The heron entries")


def test_a_word_is_stood_in_for_by_one_that_means_the_same(kit: Kit) -> None:
    for n in range(3):
        kit.work(
            f"s{n}",
            f"u: what about report {n}?",
            "a: Reading it.",
            f"a: Report {n} is outdated and was moved to the attic.",
        )
    _filler(kit)

    assert "outdated" in kit.texts("obsolete things")[0]


def test_a_word_that_is_asked_again_is_not_embedded_again(kit: Kit) -> None:
    _filler(kit)
    embedder = kit.store.embedder.get()
    assert isinstance(embedder, Knowing)

    first = kit.texts("obsolete parser")
    assert embedder.asked.count("obsolete") == 1
    assert kit.texts("obsolete parser") == first
    kit.texts("obsolete module")
    assert embedder.asked.count("obsolete") == 1


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
    assert "module 7" in kit.texts("rename module number 7 of the parser")[0]


def test_the_meaning_of_words_that_nobody_says_any_more_is_forgotten(kit: Kit) -> None:
    for n in range(3):
        kit.work(f"s{n}", "u: zeppelin?", "a: Reading.", f"a: The zeppelin number {n} landed.")
    _filler(kit)
    assert "zeppelin" in kit.meant()
    dispatch(kit.store, "memory_forget", {"query": "zeppelin"})

    assert kit.meant()
    assert "zeppelin" not in kit.meant()


def test_where_nobody_works_no_words_are_read(kit: Kit) -> None:
    for n in range(4):
        kit.work(f"talk {n}", "u: the garden wants water", "a: Then water the garden.")

    assert kit.meant() == []
    assert "garden" in kit.texts("garden")[0]


def test_the_scope_bounds_what_an_exchange_is_made_of(kit: Kit) -> None:
    kit.work("wanted", "u: the heron cache?", "a: Looking.", "a: It is dropped after a minute.")

    assert kit.texts("heron cache", role="user") == ["the heron cache?"]
