"""A unigram vocabulary splits text as `tokenizers` does, which needs five times the memory for it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests import averaging_models as tiny
from tokenizers import Tokenizer, models, pre_tokenizers

from iai_mcp.adapters.embedding.pieces import Pieces
from iai_mcp.model_builder.universal_sentence_encoder import read_vocabulary, write_pieces

_SAID = some.one_of(
    some.text(some.sampled_from("abcdehloprst 端口√"), max_size=40),
    some.lists(some.sampled_from(["port", "ports", "hello", "the", "端口", "aports"])).map(
        " ".join
    ),
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pieces, Tokenizer]:
    directory: Path = tmp_path_factory.mktemp("pieces")
    write_pieces(read_vocabulary(tiny.sentencepiece_model()), directory, "tokenizer.json")
    # Its marks would be found in text; here no text holds them.
    real = Tokenizer(models.Unigram([(p, s) for p, s, _ in tiny.PIECES], tiny.UNKNOWN, False))
    real.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    return Pieces(directory / "tokenizer.json", 1000), real


@given(said=_SAID)
def test_both_find_the_same_pieces(both: tuple[Pieces, Tokenizer], said: str) -> None:
    ours, real = both
    plain = " ".join(said.split())
    expected = list(real.encode(plain).ids) if plain else []

    assert ours.ids(said) == [tiny.BEGIN, *expected, tiny.END]
    assert ours.count(said) == len(expected)
