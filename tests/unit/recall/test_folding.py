"""Near-identical texts folded into one."""

from iai_mcp.recall.folding import folded

LONG = "the deploy failed because the migration of the orders table ran into a lock timeout"


def _shown(*texts: str) -> list[tuple[int, tuple[int, ...]]]:
    return [(fold.shown, fold.others) for fold in folded(texts)]


def test_the_same_words_are_folded_into_the_first() -> None:
    assert _shown("Yes, do it.", "no", "yes do it") == [(0, (2,)), (1, ())]


def test_a_slightly_different_long_text_is_folded() -> None:
    assert _shown(LONG, LONG + " again", "lemon cake") == [(0, (1,)), (2, ())]


def test_a_different_number_is_a_different_statement() -> None:
    one, two = f"{LONG} on port 5432", f"{LONG} on port 5433"

    assert _shown(one, two) == [(0, ()), (1, ())]


def test_short_texts_are_folded_only_when_equal() -> None:
    assert _shown("use the blue one", "use the red one") == [(0, ()), (1, ())]


def test_nothing_folds_to_nothing() -> None:
    assert folded([]) == []
