"""Whether what was found is about the cue."""

import pytest

from iai_mcp.domain.closeness import (
    Evidence,
    about_the_talk,
    about_the_work,
    about_what_is_outdated,
    names_the_unknown,
    nearly_said,
)
from iai_mcp.domain.exchanges import CueWord, CueWords, StandIn

HEARD = CueWords([CueWord("deploi", 3.0, 4), CueWord("script", 2.0, 9)])
UNHEARD = CueWords([CueWord("kubernet", 6.0, 0), CueWord("deploi", 3.0, 4)])


def test_words_and_meaning_together_tell() -> None:
    assert about_the_work(Evidence(0.55, 0.6), "the deploy script", HEARD)
    assert not about_the_work(Evidence(0.3, 0.2), "the deploy script", HEARD)


def test_what_nobody_ever_spoke_of_counts_against_it() -> None:
    found = Evidence(0.52, 0.5)
    assert about_the_work(found, "deploy it", HEARD)
    assert not about_the_work(found, "how do we deploy to kubernetes", UNHEARD)


def test_where_most_of_the_cue_was_never_heard_only_a_very_near_passage_is_about_it() -> None:
    strange = CueWords([CueWord("nushel", 7.0, 0), CueWord("complet", 2.0, 9)])
    assert not about_the_work(Evidence(0.63, 0.9), "how do we install completions", strange)
    assert about_the_work(Evidence(0.85, 0.0), "wie wird das installiert", strange)


def test_a_name_that_nobody_said_counts_more_than_a_word() -> None:
    found = Evidence(0.62, 0.5)
    assert about_the_work(found, "how do we deploy to kubernetes", UNHEARD)
    assert not about_the_work(found, "how do we deploy to Kubernetes", UNHEARD)


@pytest.mark.parametrize(
    ("cue", "token"),
    [
        ("Git LFS pointers", "lfs"),
        ("does it run on ARM?", "arm"),
        ("the JetBrains plugin", "jetbrain"),
    ],
)
def test_names_are_known_by_their_capitals(cue: str, token: str) -> None:
    assert names_the_unknown(cue, CueWords([CueWord(token, 5.0, 0)]))
    assert not names_the_unknown(cue, CueWords([CueWord(token, 5.0, 1)]))


@pytest.mark.parametrize(
    ("cue", "token"),
    [
        ("Deploying: how?", "deploi"),
        ("what we did in January", "januari"),
        ("Why? Because.", "becaus"),
    ],
)
def test_the_first_word_and_the_calendar_are_no_names(cue: str, token: str) -> None:
    assert not names_the_unknown(cue, CueWords([CueWord(token, 5.0, 0)]))


def test_a_stand_in_makes_a_word_heard() -> None:
    word = CueWord("obsolet", 5.0, 0, (StandIn("outdat", 0.5),))
    assert CueWords([word]).unseen == 0.0


def test_without_a_model_the_words_decide() -> None:
    assert about_the_work(Evidence(None, 0.6), "the deploy script", HEARD)
    assert not about_the_work(Evidence(None, 0.2), "the deploy script", HEARD)


def test_what_is_quoted_named_or_wished_is_close_whatever_the_cosine() -> None:
    far = Evidence(0.1, 0.0)
    assert not about_the_talk(far, {"meaning": 3.0}.items())
    assert about_the_talk(far, {"who": 2.0}.items())
    assert about_the_talk(far, {"standing": 2.0}.items())


RENT = CueWords([CueWord("landlord", 3.0, 1), CueWord("rais", 1.0, 3), CueWord("rent", 0.0, 6)])


def test_a_passage_that_holds_the_cues_words_says_it_however_far_the_model_puts_it() -> None:
    cue = "did the landlord raise the rent?"
    said = "The landlord raised the rent in spring."
    assert nearly_said(["Timeouts.", f"{'filler ' * 900}\n{said}\n{'more ' * 900}"], cue, RENT)
    apart = f"The landlord came.{' filler' * 90} The rent was raised, as rents are."
    assert not nearly_said([apart.replace("landlord", "baker")], cue, RENT)
    scattered = CueWords([CueWord("landlord", 3.0, 1), CueWord("rent", 3.0, 6)])
    assert not nearly_said([apart], cue, scattered)


def test_one_shared_word_says_it_only_where_nothing_else_was_asked() -> None:
    rare = CueWords([CueWord("landlord", 9.0, 1), CueWord("insur", 1.0, 0)])
    assert not nearly_said(["The landlord came."], "is the landlord insured?", rare)
    assert nearly_said(["The landlord came."], "landlord", CueWords([CueWord("landlord", 9.0, 1)]))


def test_the_word_that_asks_for_a_rule_need_not_stand_in_it() -> None:
    words = [CueWord("new", 1.7, 1), CueWord("depend", 1.7, 1), CueWord("allow", 3.0, 0)]
    said = "no new dependencies please"
    assert nearly_said([said], "are new dependencies allowed", CueWords(words))


def test_what_stands_in_for_a_word_is_not_the_word() -> None:
    words = [CueWord("obsolet", 5.0, 0, (StandIn("outdat", 1.0),)), CueWord("helper", 2.0, 3)]
    assert not nearly_said(["outdated helpers"], "obsolete helper", CueWords(words))


@pytest.mark.parametrize(
    ("cosine", "words", "near", "named"),
    [
        (0.45, 0.0, True, True),
        (0.45, 0.0, False, False),  # far behind what was found
        (0.2, 0.1, True, False),  # a candidate only because little was said
        (0.2, 0.5, False, True),
        (None, 0.25, False, True),
        (None, 0.1, True, False),
    ],
)
def test_what_no_longer_holds_is_named_where_it_is_about_the_cue_itself(
    cosine: float | None, words: float, near: bool, named: bool
) -> None:
    assert about_what_is_outdated(Evidence(cosine, words), {}, near=near) is named


def test_what_no_longer_holds_is_named_where_it_is_quoted_letter_by_letter() -> None:
    assert about_what_is_outdated(Evidence(0.1, 0.0), {"exact": 2.0}, near=False)
