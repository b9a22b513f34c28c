"""What every word index promises, on the fake and on the encrypted file alike."""

import pytest
from tests.fakes.memories import FakeMemories, FakeWordIndex, said

from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.words import SqliteWordIndex
from iai_mcp.ports.memories import Memories
from iai_mcp.ports.words import WordIndex

Kit = tuple[Memories, WordIndex]


@pytest.fixture(params=["fake", "sqlite"])
def kit(request: pytest.FixtureRequest) -> Kit:
    if request.param == "fake":
        fake = FakeMemories()
        return fake, FakeWordIndex(fake)
    database = request.getfixturevalue("database")
    return SqliteMemories(database), SqliteWordIndex(database)


def _add(memories: Memories, *texts: str) -> list[int]:
    return [one.key or 0 for one in memories.add([said(text) for text in texts])]


def test_a_word_has_its_places_once_for_every_time_it_is_there(kit: Kit) -> None:
    memories, index = kit
    one, two, _ = _add(memories, "heron and Heron", "a heron", "a pond")
    with index.looked_up() as words:
        assert words.spelled(["Heron", "heron", "a-b", "…"]) == ["heron", "a", "b"]
        assert words.places("heron", 10).tolist() == [one, one, two]
        assert words.places("heron", 2).tolist() == [one, one]
        assert words.places("nowhere", 10).tolist() == []
        assert [words.holding(word) for word in ("heron", "nowhere")] == [2, 0]


def test_a_phrase_is_found_where_its_words_stand_together_newest_first(kit: Kit) -> None:
    memories, index = kit
    keys = _add(memories, "the grey heron", "a heron, grey", "one grey heron more")
    with index.looked_up() as words:
        assert words.holding_phrase("grey heron", 10) == [keys[2], keys[0]]
        assert words.holding_phrase("grey heron", 1) == [keys[2]]
        assert words.holding_phrase("…", 10) == []


def test_what_was_forgotten_is_in_it_no_more_and_what_came_is(kit: Kit) -> None:
    memories, index = kit
    keys = _add(memories, "heron", "pond heron")
    memories.forget(keys[:1], 1)
    (third,) = _add(memories, "another heron")
    with index.looked_up() as words:
        assert words.places("heron", 10).tolist() == [keys[1], third]
        assert words.holding("heron") == 2


def test_a_text_has_its_words_as_the_index_spells_them_in_order(kit: Kit) -> None:
    _, index = kit
    assert list(index.tokens("Heron, a heron!\nPond")) == ["heron", "a", "heron", "pond"]
    assert list(index.tokens("")) == list(index.tokens("…")) == []


def test_the_words_of_a_text_are_those_it_is_found_by(kit: Kit) -> None:
    memories, index = kit
    text = "getUserById in src/app_main.py fails: ECONNREFUSED 5432, 数据库 déjà"
    (key,) = _add(memories, text)
    with index.looked_up() as words:
        for token in index.tokens(text):
            assert key in words.places(token, 10).tolist(), token
