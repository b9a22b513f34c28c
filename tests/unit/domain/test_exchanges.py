"""What a turn is to its exchange, told from the order of a session."""

import pytest

from iai_mcp.domain.exchanges import CueWord, CueWords, StandIn, TurnKind, kinds, turning

PROMPT, NARRATION, FINDING, CONCLUSION, PROPOSAL, ANSWER, PASTE = (
    TurnKind.PROMPT,
    TurnKind.NARRATION,
    TurnKind.FINDING,
    TurnKind.CONCLUSION,
    TurnKind.PROPOSAL,
    TurnKind.ANSWER,
    TurnKind.PASTE,
)


def _kinds(*said: str) -> list[TurnKind]:
    """Of a session whose turns are "u: text" and "a: text"."""
    turns = [(one[0] == "u", one[3:]) for one in said]
    return kinds(
        [person for person, _ in turns],
        [len(text.split()) for _, text in turns],
        [turning(text, "user" if person else "assistant") for person, text in turns],
    )


def test_the_last_text_before_the_next_prompt_is_the_conclusion() -> None:
    told = _kinds(
        "u: why does it fail?",
        "a: Let me look.",
        "a: Now the tests.",
        "a: The lock is held twice.",
        "u: fix it please, and add a test for that",
        "a: Done: the lock is released in a finally block.",
    )

    assert told == [PROMPT, NARRATION, NARRATION, CONCLUSION, PROMPT, CONCLUSION]


def test_a_long_text_on_the_way_is_more_than_narration() -> None:
    told = _kinds("u: why?", "a: " + "because " * 80, "a: Fixed.")

    assert told == [PROMPT, FINDING, CONCLUSION]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("I could store it per user. Shall I do that?", "yes"),
        ("There are two ways.\n\nOption A: a file.\nOption B: a table.", "Option B"),
        ("Which one do you prefer:\n1. a file\n2. a table", "2"),
        ("Should I push it?", "go ahead"),
        ("Soll ich es so machen?", "ja, mach das"),
    ],
)
def test_a_short_answer_belongs_to_the_proposal_before_it(asked: str, answered: str) -> None:
    assert _kinds("u: how?", f"a: {asked}", f"u: {answered}") == [PROMPT, PROPOSAL, ANSWER]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("The cache was stale; it is cleared at each start.", "yes"),
        ("Shall I do that?", "why is the socket opened twice in the first place?"),
    ],
)
def test_what_proposes_nothing_or_is_not_answered_is_a_conclusion(
    asked: str, answered: str
) -> None:
    assert _kinds("u: how?", f"a: {asked}", f"u: {answered}") == [PROMPT, CONCLUSION, PROMPT]


def test_a_prompt_too_long_to_be_typed_is_a_paste() -> None:
    assert _kinds("u: " + "line of a log " * 200, "a: I see.") == [PASTE, CONCLUSION]


def test_nobody_said_anything() -> None:
    assert kinds([], [], []) == []


def test_a_word_that_something_stands_in_for_is_not_unseen() -> None:
    words = CueWords(
        (
            CueWord("socket", 3.0, held_by=2),
            CueWord("obsolet", 4.0, held_by=0, stand_ins=(StandIn("outdat", 0.4),)),
            CueWord("nushel", 1.0, held_by=0),
        )
    )

    assert words.unseen == pytest.approx(1 / 8)
    assert CueWords().unseen == 0.0


def test_what_is_said_while_the_work_goes_on_ends_nothing() -> None:
    told = kinds(
        [True, False, True, False, False, True, False],
        [6, 3, 9, 6, 7, 1, 12],
        [False, False, False, False, True, False, False],
        [False, False, True, False, False, True, False],
    )

    assert told == [PROMPT, NARRATION, PROMPT, NARRATION, NARRATION, ANSWER, CONCLUSION]
