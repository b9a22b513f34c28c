"""An excerpt consists of what was said, word for word, and is no longer than asked for."""

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.excerpts import BETWEEN, excerpt

TEXTS = st.text(alphabet="abcd heron\n", min_size=0, max_size=3000)


@given(TEXTS, st.text(max_size=40), st.integers(16, 400))
def test_every_piece_was_said_and_they_come_in_order(text: str, about: str, length: int) -> None:
    pieces = excerpt(text, about, length).split(BETWEEN)
    assert sum(map(len, pieces)) <= max(length, len(text) if len(text) <= length else 0)
    place = 0
    for piece in pieces:
        place = text.find(piece, place)
        assert place >= 0
        place += len(piece)


@given(TEXTS, st.integers(16, 400))
def test_a_short_text_is_its_own_excerpt(text: str, length: int) -> None:
    if len(text) <= length:
        assert excerpt(text, "anything", length) == text
    else:
        assert text.startswith(excerpt(text, "anything", length).split(BETWEEN)[0])


def test_the_place_where_the_wanted_words_stand_is_in_it() -> None:
    text = "x " * 50_000 + "the osprey dives" + " y" * 50_000
    assert "the osprey dives" in excerpt(text, "when does the osprey dive?", 1000)
