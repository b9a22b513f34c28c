"""Counting tokens word by word gives what the tokenizer itself gives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from iai_mcp.adapters.embedding.tokens import Tokens

_PIECES = [
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "b",
    "port",
    "##s",
    "##b",
    "##a",
    "hello",
    "5",
    "##4",
    ".",
    "_",
    "'",
]
_SAID = some.one_of(
    some.text(some.characters(max_codepoint=0x17F), max_size=60),
    some.lists(
        some.sampled_from(["port", "ports", "54", "a_b.a", "Hello", "don't", "\n", "é"])
    ).map(" ".join),
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tokens, Tokenizer]:
    path: Path = tmp_path_factory.mktemp("tokens") / "tokenizer.json"
    vocabulary = {piece: place for place, piece in enumerate(_PIECES)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.save(str(path))
    return Tokens(path, 32), made


@given(said=_SAID)
def test_word_by_word_is_as_exact_as_at_once(both: tuple[Tokens, Tokenizer], said: str) -> None:
    ours, real = both
    expected = len(real.encode(said, add_special_tokens=False).ids)
    assert ours.count(said) == expected
    assert ours.count(said) == expected  # from what is known by now
