"""Following a template without losing what was edited by hand."""

from iai_mcp.domain.agents.templates import SyncState, compare, merge

BASE = "one\ntwo\nthree\nfour\nfive\n"


def test_an_unedited_persona_follows_the_template() -> None:
    found = compare(BASE, BASE, BASE.replace("two", "TWO"))

    assert (found.state, found.result) == (SyncState.FOLLOWS, BASE.replace("two", "TWO"))
    assert "-two\n+TWO\n" in found.template_diff
    assert found.hand_diff == ""


def test_an_unchanged_template_has_nothing_to_give() -> None:
    mine = BASE.replace("five", "FIVE")
    found = compare(BASE, mine, BASE)

    assert (found.state, found.result) == (SyncState.UP_TO_DATE, mine)
    assert "+FIVE" in found.hand_diff


def test_edits_in_different_places_are_joined() -> None:
    mine, theirs = BASE.replace("five", "FIVE"), BASE.replace("one", "ONE")
    found = compare(BASE, mine, theirs)

    assert (found.state, found.result) == (SyncState.MERGES, "ONE\ntwo\nthree\nfour\nFIVE\n")


def test_edits_of_the_same_lines_are_a_conflict_and_nothing_is_proposed() -> None:
    found = compare(BASE, BASE.replace("two", "mine"), BASE.replace("two", "theirs"))

    assert (found.state, found.result) == (SyncState.CONFLICTS, None)
    assert "+theirs" in found.template_diff
    assert "+mine" in found.hand_diff


def test_two_insertions_at_one_place_are_a_conflict() -> None:
    assert merge(BASE, "mine\n" + BASE, "theirs\n" + BASE) is None


def test_the_same_edit_on_both_sides_is_made_once() -> None:
    both = BASE.replace("two", "TWO")

    assert merge(BASE, both, both.replace("five", "FIVE")) == both.replace("five", "FIVE")


def test_without_the_base_hand_edits_can_not_be_told_apart() -> None:
    found = compare(None, "mine\n", "theirs\n")

    assert (found.state, found.result) == (SyncState.BASE_LOST, None)
    assert "-mine\n+theirs\n" in found.template_diff
