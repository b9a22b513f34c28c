"""Every word that hints at a secret is found in one pass, also where words overlap."""

import pytest

from iai_mcp.domain.redaction import private_keys, redactor
from iai_mcp.domain.redaction.keyword_scan import Watch
from iai_mcp.domain.redaction.names import HEARTS

RULES = (*private_keys.RULES, *redactor._RULES)


def watch(*words: str, hearts: tuple[str, ...] = ()) -> Watch:
    return Watch(words, hearts, lambda *_: True)


def test_a_text_without_clues_has_none() -> None:
    clues = watch("login", "cookie", hearts=("token",)).look("nothing of the sort")
    assert not clues.words
    assert not clues.hearts


def test_a_clue_that_begins_within_another_is_found() -> None:
    found = watch("a login", "login(", "in(x", hearts=("log",)).look("a login(x")
    assert found.words == {"a login", "login(", "in(x"}
    assert found.hearts == ((2, 5),)


def test_the_longest_clue_stands_for_those_it_begins_with() -> None:
    found = watch("auth", "author", "authorization").look("authorization")
    assert found.words == {"auth", "author", "authorization"}


@pytest.mark.parametrize("needed", [needed for needed, _ in RULES], ids=lambda needed: needed[0])
def test_every_clue_of_every_rule_is_found_between_all_others(needed: tuple[str, ...]) -> None:
    everything = "".join(clue for clues, _ in RULES for clue in clues)
    for clue in needed:
        assert clue in redactor._watch().look(f"{everything}{clue}").words


def test_hearts_are_where_the_names_are() -> None:
    for heart in HEARTS:
        found = redactor._watch().look(f"my{heart}: x").hearts
        assert (2, 2 + len(heart)) in found or found[0][0] >= 2
