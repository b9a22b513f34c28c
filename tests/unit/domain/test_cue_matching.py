"""Which words of a cue stand in a text."""

import pytest

from iai_mcp.domain.cue_matching import CueMatcher


def found(token: str, text: str) -> list[str]:
    return [text[one.start : one.end] for one in CueMatcher.of_terms([token]).occurrences(text)]


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("carpent", "the carpenter came"),
        ("carpent", "two carpenters came"),
        ("depend", "a dependency, dependencies"),
        ("stop", "it stopped"),
        ("polici", "our policies"),
    ],
)
def test_a_word_is_found_whatever_its_ending(token: str, text: str) -> None:
    assert found(token, text)


def test_another_word_with_the_same_beginning_is_not_found() -> None:
    assert not found("carpent", "a carpet")
    assert not found("stop", "the stopwatches")


def test_of_a_word_that_stands_everywhere_the_places_beside_a_rare_one_are_found() -> None:
    text = " ".join(f"section {n}." for n in range(300))
    matcher = CueMatcher.of_terms(["section", "217"])
    (number,) = [one for one in matcher.occurrences(text, most=50) if one.word == 1]
    assert any(
        one.word == 0 and one.end + 1 == number.start for one in matcher.occurrences(text, most=50)
    )
