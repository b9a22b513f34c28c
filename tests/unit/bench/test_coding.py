"""How answers from coding sessions are judged."""

from bench.coding.judging import found, is_narration, lines_told, near
from bench.coding.rivals import piece
from bench.coding.run import Tally


def _gold(quote: str, *alts: str) -> dict[str, object]:
    return {"quote": quote, "alts": [{"quote": alt} for alt in alts]}


def test_a_quote_is_found_in_spite_of_markup_and_line_breaks() -> None:
    asked = {"gold": [_gold("the lock is held twice")]}

    assert found(asked, ["no", "So **the lock**\nis `held` twice."]) == (False, True, True, True)


def test_where_all_are_needed_one_is_not_enough_but_another_wording_is() -> None:
    asked = {"any": False, "gold": [_gold("first thing"), _gold("second thing", "other words")]}

    assert not any(found(asked, ["first thing"]))
    assert found(asked, ["first thing", "in other words"]) == (False, True, True, True)


def test_nearly_the_same_words_in_their_order_are_near() -> None:
    gold = _gold("run the slow tests before you push anything")

    assert near(gold, "run the slow tests before you push something")
    assert not near(gold, "before you push the tests run slow")


def test_narration_is_known_by_how_it_begins() -> None:
    assert is_narration("… Let me look at it")
    assert not is_narration("The lock is held twice.")


def test_the_lines_of_a_briefing_are_read_without_their_dates() -> None:
    assert lines_told("- 2026-01-05: use tabs\n\n-\n[2026-01-05] no") == ["use tabs"]


def test_a_rival_shows_the_stretch_with_most_of_the_cues_words() -> None:
    text = "Nothing here. " * 40 + "The lock file is left behind. " + "Nothing there. " * 40

    shown = piece(text, "why is the lock file left?", 60)
    assert "lock file is left behind" in shown
    assert len(shown.encode()) <= 60


def test_shares_are_of_a_kind_or_of_all() -> None:
    tally = Tally()
    tally.add("cause", (True, True, True, True))
    tally.add("rule", (False, False, False, True))

    assert tally.shares("rule") == [0, 0, 0, 1]
    assert tally.shares() == [0.5, 0.5, 0.5, 1]
