"""Splitting text the model's way."""

import sys
from pathlib import Path

import pytest
from tests import models
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from iai_mcp.adapters.embedding.tokens import Tokens
from iai_mcp.domain.errors import ModelDamaged, NotInstalled

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


def _of_another_kind(path: Path) -> Path:
    tokenizer = Tokenizer(WordLevel({"hello": 0, "cake": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(path))
    return path


def test_a_tokenizer_of_another_kind_is_read_by_its_package(tmp_path: Path) -> None:
    tokens = Tokens(_of_another_kind(tmp_path / "tokenizer.json"), max_tokens=8)

    assert tokens.ids("cake hello pie") == [1, 0, 2]


def test_without_that_package_the_sentence_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _of_another_kind(tmp_path / "tokenizer.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(NotInstalled, match="pip install tokenizers"):
        Tokens(path, max_tokens=8)


@pytest.mark.parametrize(
    "damage",
    [
        "[]",
        '{"model": 5}',
        '{"model": {"type": "WordPiece"}, "normalizer": {"type": "BertNormalizer"}, '
        '"pre_tokenizer": {"type": "BertPreTokenizer"}}',
        '{"model": {}, "post_processor": {"type": "BertProcessing"}}',
    ],
)
def test_a_tokenizer_that_makes_no_sense_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "tokenizer.json").write_text(damage)

    with pytest.raises(ModelDamaged, match=r"tokenizer\.json can not be read"):
        Tokens(tmp_path / "tokenizer.json", max_tokens=8)
