"""Splitting text the model's way."""

from pathlib import Path

import pytest
from tests import models

from iai_mcp.adapters.embedding.tokens import Tokens
from iai_mcp.domain.errors import ModelDamaged

CLS, SEP = 2, 3


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    models.write_published(tmp_path)
    return Tokens(tmp_path / "tokenizer.json", max_tokens=8)


def test_a_text_is_set_between_the_models_marks(tokens: Tokens) -> None:
    hello = models.VOCABULARY.index("hello")

    assert tokens.ids("hello") == [CLS, hello, SEP]
    assert tokens.ids("") == [CLS, SEP]


def test_a_long_text_keeps_its_beginning_and_both_marks(tokens: Tokens) -> None:
    ids = tokens.ids("cake hello " + "word " * 5000)

    assert len(ids) == 8
    assert ids[0] == CLS
    assert ids[-1] == SEP
    assert ids[1] == models.VOCABULARY.index("cake")


def test_the_published_cutting_and_padding_are_undone(tokens: Tokens) -> None:
    assert tokens.count("hello " * 100) == 100
    assert len(tokens.ids("hello")) == 3


def test_a_mark_that_somebody_wrote_is_text(tokens: Tokens) -> None:
    assert SEP not in tokens.ids("[SEP]")[1:-1]


def test_counting_in_pieces_counts_every_word_once(tokens: Tokens) -> None:
    assert tokens.count("hello cake " * 4000) == 8000


def test_half_a_surrogate_pair_is_only_a_strange_character(tokens: Tokens) -> None:
    assert tokens.count("hello \ud83d") == 2


def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")

    with pytest.raises(ModelDamaged, match=r"tokenizer\.json can not be read"):
        Tokens(path, max_tokens=8)
