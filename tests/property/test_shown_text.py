"""Whatever others wrote: shown, it is seen and not obeyed; as JSON, it still means the same."""

import json
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from iai_mcp.domain.shown_text import shown, shown_line
from iai_mcp.protocol.compact_json import dumps, harmless

# Hypothesis seldom draws these by itself.
ACTING = st.sampled_from(
    "\x00\x07\x08\x0b\x1b\r\x7f\x80\x85\x9b\x9d\x9c\u200b\u2028\u202a\u202e\u2066\u2069\ufeff"
    "\U000e0041\udc9b"
)
TEXTS = st.lists(ACTING | st.text(max_size=5), max_size=12).map("".join)
KEPT = "\u200c\u200d\u200e\u200f\u00ad\u061c"  # scripts and emoji need them


def is_obeyed(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in (
        *("LRE", "RLE", "LRO", "RLO", "PDF"),
        *("LRI", "RLI", "FSI", "PDI"),
    )


@given(TEXTS)
@example("\x1b]52;c;cGF5bG9hZA==\x07")
def test_nothing_that_is_shown_is_obeyed(text: str) -> None:
    assert not any(is_obeyed(character) for character in shown(text) if character not in "\n\t")
    assert not any(is_obeyed(character) for character in shown_line(text))


@given(TEXTS)
def test_showing_what_is_shown_changes_nothing(text: str) -> None:
    assert shown(shown(text)) == shown(text)
    shown(text).encode("utf-8")


@given(
    st.text(
        st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")) | st.sampled_from(KEPT)
    )
)
def test_ordinary_words_are_shown_as_they_are(text: str) -> None:
    assert shown(text) == text


def test_line_breaks_and_tabs_stay_and_those_of_windows_become_line_breaks() -> None:
    assert shown("a\r\n\tb\rc") == "a\n\tb\\rc"
    assert shown_line("a\n\tb") == "a\\n\\tb"


@given(st.dictionaries(TEXTS, TEXTS))
def test_harmless_json_means_the_same_and_is_printable(value: dict[str, str]) -> None:
    for text in (json.dumps(value, ensure_ascii=False), dumps(value)):
        assert harmless(text).isprintable()
        assert json.loads(harmless(text)) == value
