"""Turns cut into passages, and which of them are worth showing."""

import re
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.recall.passages import SIZE, Turn, Valued, pieces, spans, valued
from iai_mcp.recall.render import BETWEEN, choose, joined

LINES = st.sampled_from(
    ["## Heron", "the heron stands still.", "", "```py", "x = 1", "| a | b |", "**Osprey**", "长" * 900,
     "It dives! Then it eats. 好。", '"\t\\', "word " * 300, "\r", "\x0b"],
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=60).map("\n".join) | st.text(max_size=3000)


def tokens(text: str) -> Sequence[str]:
    return re.findall(r"\w+", text.lower())


@given(TEXTS)
def test_passages_come_in_order_and_leave_out_blanks_alone(text: str) -> None:
    found = spans(text)
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found), len(text)]

    assert not any(text[end:start].strip() for end, start in zip(ends, starts, strict=True))
    assert all(start < end <= start + 2 * SIZE for start, end in found)


def test_a_heading_begins_a_passage() -> None:
    text = f"{'filler words here. ' * 12}\n## Cause\nThe osprey took it."

    assert text[slice(*spans(text)[-1])] == "## Cause\nThe osprey took it."


@given(TEXTS)
def test_what_is_joined_is_verbatim(text: str) -> None:
    found = spans(text)
    place = 0
    for piece in joined(text, found[::2]).split(BETWEEN):
        place = text.find(piece, place)
        assert place >= 0
        place += len(piece)


def best(text: str, *rarity: dict[str, float], exact: Sequence[str] = ()) -> str:
    first = valued([Turn(0, text, None)], [0.0], rarity, None, exact, tokens)[0]
    return text[first.start : first.end]


REPORT = "\n\n".join(
    f"## Part {n}\n{'Many files were read and none of them was to blame. ' * 7}" for n in range(20)
)
CAUSE = "## Cause\nThe osprey cache kept stale entries."


def test_the_passage_with_the_rare_words_is_worth_most() -> None:
    text = f"{REPORT}\n\n{CAUSE}\n\n{REPORT}"

    assert "osprey cache" in best(text, {"osprey": 5.0, "stale": 4.0, "files": 0.1})


def test_any_wording_can_bring_up_a_passage() -> None:
    text = f"{REPORT}\n\n{CAUSE}\n\n{REPORT}"

    assert "osprey cache" in best(text, {"zeppelin": 5.0}, {"osprey": 5.0})


def test_a_passage_with_an_exact_part_comes_first() -> None:
    text = f"{REPORT}\n\n{CAUSE}\n\nE-2850 was closed.\n\n{REPORT}"

    assert "E-2850" in best(text, {"osprey": 5.0, "cache": 5.0}, exact=["e-2850"])


def test_of_a_very_long_text_only_what_may_answer_is_counted() -> None:
    log = "\n".join(
        f"10:{n % 60:02} worker {n} answered the request as usual." for n in range(5000)
    )
    kept = pieces(f"{log}\nthe quokka came\n{log}", tokens, ["quokka"])

    assert 1 <= len(kept) <= 4
    assert any("quokka" in one.counts for one in kept)


def test_the_vector_nearest_to_a_passage_speaks_for_it() -> None:
    text = "\n\n".join(f"## Part {n}\n{'nothing of note. ' * 20}" for n in range(4))
    vectors = np.eye(4, dtype=np.float32)
    asked = np.array([[0, 0, 0, 1]], np.float32)
    first = valued([Turn(0, text, vectors)], [0.0], [{}], asked, (), tokens)[0]

    assert "Part 3" in text[first.start : first.end]


def test_the_weight_of_a_result_counts() -> None:
    turns = [Turn(0, "the heron", None), Turn(1, "the heron", None)]

    assert [one.turn for one in valued(turns, [0.0, 2.0], [{"heron": 1}], None, (), tokens)] == [
        1,
        0,
    ]


def test_nothing_is_worth_anything_where_nothing_is() -> None:
    assert valued([], [], [{}], None, (), tokens) == []
    assert valued([Turn(0, " \n", None)], [0.0], [{}], None, (), tokens) == []


CHEAP = [Valued(0, 0, 10, 3.0), Valued(1, 0, 90, 2.0), Valued(0, 20, 30, 1.0)]


def chosen(room: int) -> dict[int, list[tuple[int, int]]]:
    return choose(CHEAP, room, lambda _, span: span[1] - span[0], lambda *_: 5, lambda turn: turn)


def test_passages_are_taken_best_first_while_they_fit() -> None:
    assert chosen(25) == {0: [(0, 10), (20, 30)]}
    assert chosen(200) == {0: [(0, 10), (20, 30)], 1: [(0, 90)]}


def test_the_best_passage_comes_in_any_case() -> None:
    assert chosen(0) == {0: [(0, 10)]}
