"""What is made of a long text in pieces is the same as what is made of it at once."""

import re
import string
import sys
from collections.abc import Callable, Iterator
from re import _parser  # type: ignore[attr-defined] # nothing else tells how long a match may be

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iai_mcp.domain import pieces
from iai_mcp.domain.passages import passages
from iai_mcp.domain.redaction import formats, redact, redactor
from iai_mcp.domain.redaction.names import NAME_KEYWORDS
from iai_mcp.domain.redaction.vendor_tokens import PREFIXED
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
    "lower case": redactor._lowered,
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


@settings(max_examples=400)
@given(
    text=st.text("ab-01 \n", max_size=120),
    expression=st.sampled_from(
        [
            "a{1,5}",
            "a{2,4}b",
            "(?<=b)a{1,3}",
            "ab(?!a)",
            r"\b[ab]{2,6}\b",
            "(?:a-|-a)b{0,3}",
            r"^b|b$",
        ]
    ),
    size=st.integers(1, 6),
)
def test_what_is_looked_for_in_pieces_is_found_where_it_is(
    text: str, expression: str, size: int
) -> None:
    pattern = re.compile(expression, re.MULTILINE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "SIZE", size)
        patch.setattr(pieces, "REACH", 8)
        found = [match.span() for match in pieces.matches(pattern, text)]
    assert found == [match.span() for match in pattern.finditer(text)]


def test_no_secret_that_is_looked_for_in_pieces_is_longer_than_they_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sought: set[re.Pattern[str]] = set()

    def noted(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
        sought.add(pattern)
        return pattern.finditer(text)

    for name in [name for name in sys.modules if name.startswith("iai_mcp.domain.")]:
        if hasattr(sys.modules[name], "matches"):
            monkeypatch.setattr(sys.modules[name], "matches", noted)
    rules = (*formats.PRIVATE_KEYS, *redactor.RULES)
    keywords = [*NAME_KEYWORDS, *(keyword for needed, _ in rules for keyword in needed)]
    tokens = [f"{prefix}{'a1' * 20}" for _, some, _ in PREFIXED for prefix in some]
    options = [f" -{letter} x" for letter in string.ascii_letters]
    redact(" ".join([*keywords, *tokens, *options, "<private>", "[secret:a]", "пароль 密码 / `/`"]))
    assert len(sought) > 100
    widths = {one.pattern: _parser.parse(one.pattern, one.flags).getwidth()[1] for one in sought}
    assert {pattern: width for pattern, width in widths.items() if width >= pieces.REACH} == {}
