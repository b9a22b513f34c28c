"""An excerpt consists of what was said, word for word, and is no longer than asked for."""

import json

from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.excerpts import BETWEEN, excerpt, json_bytes
from iai_mcp.domain.units import units

LINES = st.sampled_from(
    ["## Heron", "the heron stands still.", "", "```py", "x = 1", "```", "| a | b |", "|--|--|",
     "1. go", "2. stop", "   - a point", "**Osprey**", "It dives! Then it eats. 好。", '"\t\\'],
)  # fmt: skip
MARKDOWN = st.lists(LINES, max_size=120).map("\n".join)
TEXTS = MARKDOWN | st.text(alphabet="abcd heron.\n|`#", max_size=3000) | st.text(max_size=300)
CUE = CueMatcher.of_terms(["heron", "osprey"])


@given(TEXTS, st.integers(16, 400))
def test_every_piece_was_said_and_they_come_in_order(text: str, room: int) -> None:
    place = 0
    for piece in excerpt(text, CUE, room).split(BETWEEN):
        place = text.find(piece, place)
        assert place >= 0
        place += len(piece)


@given(TEXTS, st.integers(16, 400))
def test_it_takes_no_more_than_its_room_and_says_something(text: str, room: int) -> None:
    shown = excerpt(text, CUE, room)
    assert json_bytes(shown) <= room
    assert bool(shown.strip()) == bool(text.strip())


@given(st.text())
def test_the_bytes_are_those_of_json(text: str) -> None:
    written = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert json_bytes(text) == len(written) - 2


@given(TEXTS)
def test_only_blanks_stand_between_units(text: str) -> None:
    found = units(text)
    ends = [0, *(unit.end for unit in found)]
    starts = [*(unit.start for unit in found), len(text)]
    assert not any(text[end:start].strip() for end, start in zip(ends, starts, strict=True))
    assert all(0 <= unit.heading < place for place, unit in enumerate(found) if unit.heading >= 0)


def test_the_place_where_the_wanted_words_stand_is_in_it() -> None:
    text = "x " * 50_000 + "the osprey dives" + " y" * 50_000
    shown = excerpt(text, CueMatcher.of_terms(["osprey", "dive"]), 1000)
    assert "the osprey dives" in shown


def test_a_heading_comes_with_what_stands_below_it() -> None:
    text = "\n".join(
        ["## Birds", "filler " * 40, "## Cause", "The osprey took it.", "filler " * 99]
    )
    assert excerpt(text, CUE, 120) == "## Cause\nThe osprey took it."


def test_a_block_of_code_is_shown_whole_or_not_at_all() -> None:
    block = "```sh\nmake osprey\nmake install\n```"
    text = f"{'filler ' * 90}\n\n{block}\n\n{'other ' * 90}"
    assert excerpt(text, CUE, 100) == block
    assert "install" not in excerpt(text, CUE, 30)


def test_of_many_sections_the_one_that_the_cue_numbers_is_shown() -> None:
    text = "\n\n".join(
        f"## Section {n}\n\nThe basin was made larger by {n} litres, and the counter reads on."
        for n in range(300)
    )
    shown = excerpt(text, CueMatcher.of_terms(["section", "217"]), 900)
    assert "## Section 217\n\nThe basin was made larger by 217 litres" in shown


def test_the_one_line_with_the_rarest_word_is_shown_however_often_others_stand_before_it() -> None:
    text = "\n".join(f"10:{n % 60:02} worker {n} answered the request." for n in range(900))
    text += "\n10:59 worker 3 saw the quokka request.\n" + text
    assert "quokka" in excerpt(text, CueMatcher.of_terms(["worker", "request", "quokka"]), 600)
