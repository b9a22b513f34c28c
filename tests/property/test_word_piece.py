"""Text is split and normalised as the package `tokenizers` does it."""

import struct
import unicodedata
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from iai_mcp.adapters.embedding.character_map import CharacterMap
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
    "σ",
    "##σ",
    "e",
    "##e",
    "端",
    "口",
    "が",
    "!",
    "«",
    "i",
    "##i",
]
_WORDS = [
    "port",
    "ports",
    "54",
    "a_b.a",
    "Hello",
    "don't",
    "\n",
    "é",
    "ΣΣ",
    "端口",
    "がa",
    "«a»",
    "İ",
]


def _is_old(character: str) -> bool:
    """Whether all versions of Unicode agree on it: the package has another version than Python."""
    old = unicodedata.ucd_3_2_0.category(character)
    return old != "Cn" and old == unicodedata.category(character)


_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]).filter(_is_old), max_size=60),
    st.lists(st.sampled_from(_WORDS)).map(" ".join),
)


@pytest.fixture(scope="module", params=["lower", "cased"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokens, Tokenizer]:
    path: Path = tmp_path_factory.mktemp("tokens") / "tokenizer.json"
    tokenizer = Tokenizer(
        models.WordPiece({p: n for n, p in enumerate(_PIECES)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=request.param == "lower")
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(path))
    return Tokens(path, 512), tokenizer


@given(text=_TEXTS)
def test_the_pieces_are_those_of_the_package(both: tuple[Tokens, Tokenizer], text: str) -> None:
    ours, package = both
    expected = list(package.encode(text, add_special_tokens=False).ids)

    assert ours.ids(text) == (expected or [0])
    assert ours.count(text) == len(expected)


_REPLACED = {"ﬁ": "fi", "é": "E", "e\u0301": "E", "\r\n": " ", "\u200b": "", "１": "1", "\t": " "}


def _compiled(replaced: dict[str, str]) -> bytes:
    """A map as SentencePiece compiles it: each node of the trie has 256 places of its own."""
    texts = bytearray()
    trie: dict[int | None, Any] = {}
    for key, value in replaced.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = len(texts)
        texts += value.encode() + b"\0"
    units = {0: 0}
    blocks = iter(range(256, 1 << 20, 256))

    def place(node: dict[int | None, Any], position: int) -> None:
        base = next(blocks)
        units[position] |= (base ^ position) << 10
        for byte, below in node.items():
            if byte is None:
                units[position] |= 1 << 8
                units[base] = below | 1 << 31
            else:
                units[base ^ byte] = byte
                place(below, base ^ byte)

    place(trie, 0)
    size = (max(units) // 256 + 1) * 256
    trie_units = array("I", (units.get(n, 0) for n in range(size)))
    return struct.pack("<I", size * 4) + trie_units.tobytes() + bytes(texts)


_MAP = _compiled(_REPLACED)


@given(
    st.one_of(
        st.lists(st.sampled_from([*_REPLACED, "e", "a", "\u0301", "\u0308", "\r", "\n"])).map(
            "".join
        ),
        st.text(st.characters(max_codepoint=0x24F), max_size=20),
    )
)
def test_characters_are_replaced_as_the_package_does(text: str) -> None:
    assert CharacterMap(_MAP).normalize(text) == normalizers.Precompiled(_MAP).normalize_str(text)


@pytest.mark.parametrize("compiled", [b"", b"\1\0", b"\4\0\0\0", b"\0\0\0\0abc"])
def test_a_map_that_is_cut_short_is_refused(compiled: bytes) -> None:
    with pytest.raises(ValueError, match="cut short"):
        CharacterMap(compiled)
