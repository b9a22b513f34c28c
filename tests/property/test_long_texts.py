"""What is made of a long text in pieces is the same as what is made of it at once."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iai_mcp.domain import pieces, redaction
from iai_mcp.domain.passages import passages
from iai_mcp.domain.redaction import redact
from iai_mcp.domain.traits import traits_of
from iai_mcp.domain.words import indexed, words

_WORDS = st.sampled_from(
    ["getUserName", "HTTPServer", "naïve", "東京都", "サーバー", "ｶﾞ", "когда", "базами", "الكتاب", "İstanbul",
     "ΟΔΟΣ", "don't", "x1", "_", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "password", "=", ": ",
     "hunter2", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "AKIAIOSFODNN7ABCDEFG",
     "machine", "login", "<private>", "</private>", "a" * 40]
)  # fmt: skip
_BETWEEN = st.sampled_from(
    [
        " ",
        "  ",
        "\n",
        "\n\n",
        ". ",
        '." ',
        "! ",
        "? ",
        ".)]  ",
        "。",
        "！",
        "، ",
        "",
        "\u00a0",
        "\u0301",
        "\t",
        ",",
    ]
)
texts = st.one_of(
    st.lists(st.one_of(_WORDS, _BETWEEN), max_size=40).map("".join),
    st.lists(st.one_of(_WORDS, _BETWEEN, st.text(max_size=5)), max_size=40).map("".join),
)
MADE: dict[str, Callable[[str], object]] = {
    "index": indexed,
    "traits": lambda text: traits_of(text, "user"),
    "passages": lambda text: passages(text, 3),
    "sentences": lambda text: passages(text, 10_000),
    "lower case": redaction._lowered,
    "redacted": redact,
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE.keys())
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts, size=st.integers(1, 30))
def test_it_does_not_matter_where_a_text_is_cut(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[str], object], text: str, size: int
) -> None:
    monkeypatch.setattr(pieces, "SIZE", 1 << 30)
    at_once = make(text)
    monkeypatch.setattr(pieces, "SIZE", size)
    assert make(text) == at_once


@given(texts, st.integers(1, 30))
def test_pieces_hold_all_of_a_text_and_cut_no_word(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "SIZE", size)
        found = list(pieces.pieces(text))
    assert "".join(found) == text
    assert [word for piece in found for word in words(piece)] == words(text)
    assert all(piece for piece in found) or not text


@pytest.mark.parametrize("run", ["x", "漢", "é", "aB"])
def test_a_text_without_any_place_to_cut_is_cut_all_the_same(run: str) -> None:
    found = list(pieces.pieces(run * 3_000_000))
    assert len(found) > 2
    assert "".join(found) == run * 3_000_000
