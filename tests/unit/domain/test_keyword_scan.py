"""Every word that hints at a secret is found in one pass, also where words overlap."""

import pytest

from iai_mcp.domain.redaction import formats, redactor
from iai_mcp.domain.redaction.keyword_scan import KeywordScanner
from iai_mcp.domain.redaction.names import NAME_KEYWORDS

RULES = (*formats.PRIVATE_KEYS, *redactor.RULES)


def scanner(*words: str, names: tuple[str, ...] = ()) -> KeywordScanner:
    return KeywordScanner(words, names, lambda *_: True)


def test_a_text_without_keywords_has_none() -> None:
    keywords = scanner("login", "cookie", names=("token",)).scan("nothing of the sort")
    assert not keywords.words
    assert not keywords.names


def test_a_clue_that_begins_within_another_is_found() -> None:
    found = scanner("a login", "login(", "in(x", names=("log",)).scan("a login(x")
    assert found.words == {"a login", "login(", "in(x"}
    assert found.names == ((2, 5),)


def test_the_longest_clue_stands_for_those_it_begins_with() -> None:
    found = scanner("auth", "author", "authorization").scan("authorization")
    assert found.words == {"auth", "author", "authorization"}


@pytest.mark.parametrize("needed", [needed for needed, _ in RULES], ids=lambda needed: needed[0])
def test_every_clue_of_every_rule_is_found_between_all_others(needed: tuple[str, ...]) -> None:
    everything = "".join(keyword for keywords, _ in RULES for keyword in keywords)
    for keyword in needed:
        assert keyword in redactor.scanner().scan(f"{everything}{keyword}").words


def test_keywords_are_where_the_names_are() -> None:
    for keyword in NAME_KEYWORDS:
        found = redactor.scanner().scan(f"my{keyword}: x").names
        assert (2, 2 + len(keyword)) in found or found[0][0] >= 2
