"""How answers about coding sessions are judged."""

from bench.coding.judging import first_result, has_no_match, holds, ids, near
from bench.coding.rivals import piece
from bench.coding.run import ALONE, WORDED, Outcome, Tally, rows

ANSWER = """2 results for "why?" in shop (of 10 messages)

[0a1b2c3d] 2026-03-01 · ann
The lock is held twice, see [11111111].

[4e5f6a7b] 2026-03-02 · Claude
It is released at exit.

more (memory_show opens one):
[8c9d0e1f] 2026-03-03 · Use tabs."""


def _gold(quote: str, *alts: str) -> dict[str, object]:
    return {"quote": quote, "alts": [{"quote": alt} for alt in alts]}


def test_a_quote_is_found_in_spite_of_markup_and_line_breaks() -> None:
    asked = {"gold": [_gold("the lock is held twice")]}

    assert holds(asked, "So **the lock**\nis `held` twice.")
    assert not holds(asked, "the lock is held")


def test_where_all_are_needed_one_is_not_enough_but_another_wording_is() -> None:
    asked = {"any": False, "gold": [_gold("first thing"), _gold("second thing", "other words")]}

    assert not holds(asked, "first thing")
    assert holds(asked, "first thing, in other words")


def test_nearly_the_same_words_in_their_order_are_near() -> None:
    gold = _gold("run the slow tests before you push anything")

    assert near(gold, "run the slow tests before you push something")
    assert not near(gold, "before you push the tests run slow")


def test_an_id_counts_only_at_the_start_of_a_line() -> None:
    assert ids(ANSWER) == ["0a1b2c3d", "4e5f6a7b", "8c9d0e1f"]


def test_the_first_result_ends_where_the_second_begins() -> None:
    assert "held twice" in first_result(ANSWER)
    assert "released" not in first_result(ANSWER)
    assert first_result("[0a1b2c3d] only") == "[0a1b2c3d] only"


def test_an_answer_that_says_so_has_no_match() -> None:
    assert has_no_match("No good match; the nearest are:\n[0a1b2c3d] Use tabs.")
    assert not has_no_match(ANSWER)


def test_a_rival_shows_the_stretch_with_most_of_the_cues_words() -> None:
    text = "Nothing here. " * 40 + "The lock file is left behind. " + "Nothing there. " * 40

    shown = piece(text, "why is the lock file left?", 60)
    assert "lock file is left behind" in shown
    assert len(shown.encode()) <= 60


def test_each_way_of_asking_is_reported_beside_the_rivals() -> None:
    tally = Tally(rivals={"BM25": {ALONE: [True, False], WORDED: []}})
    for shown in (True, False):
        tally.asked[ALONE].append(
            Outcome("cause", shown, listed=True, first=False, denied=False, size=100, ids=3)
        )

    table = {row.what: row for row in rows(tally)}
    assert table["question alone: shown (2)"].measured == "0.500"
    assert table["question alone: shown (2)"].met is False
    assert "BM25 0.500" in table["question alone: shown (2)"].goal
    assert table["question alone: listed (2)"].met is True
    assert not any(WORDED in what for what in table)
