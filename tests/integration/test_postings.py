"""Where the words of a cue occur, and which of them are too common to tell anything."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.answers import ask

from iai_mcp.adapters.sqlite.words import SqliteWordIndex, SqliteWords
from iai_mcp.core import dispatch
from iai_mcp.engine import words
from iai_mcp.ports.words import Places
from iai_mcp.store import MemoryStore

Rows = list[list[int]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IAI_MCP_STORE", str(tmp_path / "data"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    made = MemoryStore()
    texts = [f"common shared filler {'rare' * (n == 7)} {'twin twin' * (n < 3)}" for n in range(40)]
    events = [{"id": str(n), "role": "user", "text": text} for n, text in enumerate(texts)]
    dispatch(made, "capture_events", {"session_id": "s", "events": events})
    yield made
    made.close()


def _rows(store: MemoryStore, *terms: str) -> list[list[int]]:
    with SqliteWordIndex(store.database).looked_up() as index:
        return [found.rows.tolist() for found in words.postings(_lookup(store, index), terms)]


def _lookup(
    store: MemoryStore,
    index: SqliteWords,
    common: words.CommonWords | None = None,
    places: words.KnownPlaces | None = None,
) -> words.Lookup:
    view = store.columns.current()
    known = (places or words.KnownPlaces()).of(view)
    return words.Lookup(index, view, common or words.CommonWords(), known)


def test_each_term_comes_with_its_rows_and_how_often_it_is_in_each(store: MemoryStore) -> None:
    with SqliteWordIndex(store.database).looked_up() as index:
        rare, twin, absent = words.postings(_lookup(store, index), ["rare", "twin", "nowhere"])

    assert (rare.rows.tolist(), rare.counts.tolist()) == ([7], [1])
    assert (twin.rows.tolist(), twin.counts.tolist()) == ([0, 1, 2], [2, 2, 2])
    assert absent.rows.size == 0


def test_a_common_word_is_left_out_beside_three_rarer_ones(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_COMMON_AT_LEAST", 5)

    assert len(_rows(store, "rare", "twin", "common", "shared")) == 3


def test_a_word_kept_anyway_is_read_whole_although_it_is_common(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_COMMON_AT_LEAST", 5)

    assert _rows(store, "common") == [list(range(40))]


def test_a_batch_of_thousands_is_stored_in_parts_and_whole(store: MemoryStore) -> None:
    events = [{"id": f"n{n}", "role": "user", "text": f"number {n}"} for n in range(2_500)]
    params = {"session_id": "long", "events": events}

    assert dispatch(store, "capture_events", params)["inserted"] == 2_500
    assert dispatch(store, "capture_events", params)["duplicates"] == 2_500


@pytest.mark.parametrize("times", [60, 300])
def test_repeats_do_not_take_the_places_of_everything_else(store: MemoryStore, times: int) -> None:
    said = "the deploy failed because the migration of the orders table ran into a lock timeout"
    same = [{"id": f"d{n}", "role": "user", "text": said} for n in range(times)]
    others = [
        {"id": f"o{n}", "role": "user", "text": f"deploy {n} has a migration plan for region {n}"}
        for n in range(12)
    ]
    dispatch(store, "capture_events", {"session_id": "same", "events": same})
    dispatch(store, "capture_events", {"session_id": "others", "events": others})

    hits = ask(store, "memory_recall", cue="deploy migration orders table lock timeout")["hits"]

    assert len(hits) == 10
    assert sum(hit["text"] == said for hit in hits) == 1


class _Counted(SqliteWords):
    """An index that notes which words it was asked for."""

    asked: list[str]

    def places(self, word: str, limit: int) -> Places:
        self.asked.append(word)
        return super().places(word, limit)

    def holding(self, word: str) -> int:
        self.asked.append(word)
        return super().holding(word)


def _asked(
    store: MemoryStore,
    known: words.CommonWords,
    *terms: str,
    places: words.KnownPlaces | None = None,
) -> tuple[list[str], Rows]:
    with store.database.reading() as db:
        index = _Counted(db)
        index.asked = []
        found = words.postings(_lookup(store, index, known, places), terms)
    return index.asked, [one.rows.tolist() for one in found]


@pytest.fixture
def _few_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_COMMON_AT_LEAST", "_TOO_COMMON", "_READ_AT_FIRST"):
        monkeypatch.setattr(words, name, 10)


@pytest.mark.usefixtures("_few_are_common")
def test_a_word_that_was_found_common_is_not_read_again(store: MemoryStore) -> None:
    known = words.CommonWords()
    _, first = _asked(store, known, "rare", "common", "twin")
    asked, again = _asked(store, known, "rare", "common", "twin")
    assert again == first == [[7], [0, 1, 2]]
    assert "common" not in asked


@pytest.mark.usefixtures("_few_are_common")
def test_of_words_that_are_all_common_the_rarest_is_read_whole(store: MemoryStore) -> None:
    known = words.CommonWords()
    ask(store, "memory_capture", text="filler filler", session_id="t")
    _, first = _asked(store, known, "filler", "common")
    assert _asked(store, known, "filler", "common")[1] == first == [list(range(40))]


@pytest.mark.usefixtures("_few_are_common")
def test_what_was_common_is_counted_again_when_something_was_forgotten(store: MemoryStore) -> None:
    known = words.CommonWords()
    _asked(store, known, "rare", "common")
    keys = list(range(1, 32))
    store.memories.forget(keys, 1)
    store.forgotten(keys)
    assert _asked(store, known, "rare", "common")[1] == [[], list(range(31, 40))]


def test_where_a_word_occurs_is_read_once_as_long_as_nothing_is_stored(store: MemoryStore) -> None:
    known, places = words.CommonWords(), words.KnownPlaces()
    _, first = _asked(store, known, "rare", "twin", "nowhere", places=places)
    asked, again = _asked(store, known, "twin", "rare", "nowhere", places=places)
    assert asked == []
    assert (first, again) == ([[7], [0, 1, 2], []], [[0, 1, 2], [7], []])

    ask(store, "memory_capture", text="a twin that nowhere stood before", session_id="t")
    _, now = _asked(store, known, "rare", "twin", "nowhere", places=places)
    assert now == [[7], [0, 1, 2, 40], [40]]


def test_nothing_is_kept_of_where_words_occur_that_were_forgotten(store: MemoryStore) -> None:
    known, places = words.CommonWords(), words.KnownPlaces()
    _asked(store, known, "rare", "twin", places=places)
    store.memories.forget([1], 1)
    store.forgotten([1])
    assert _asked(store, known, "rare", "twin", places=places)[1] == [[7], [1, 2]]


def test_only_so_many_words_are_kept(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_WORDS_KEPT", 2)
    known, places = words.CommonWords(), words.KnownPlaces()
    _asked(store, known, "rare", "twin", places=places)
    asked, found = _asked(store, known, "rare", "twin", places=places)
    assert (asked, found) == (["rare", "twin"], [[7], [0, 1, 2]])
