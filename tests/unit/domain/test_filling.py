"""What is shown of the exchanges that were found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iai_mcp.domain.cue_matching import CueMatcher
from iai_mcp.domain.excerpts import json_bytes, quoted
from iai_mcp.domain.exchanges import RankedExchange, TurnKind
from iai_mcp.domain.filling import Picked, Spoken, fill

AROUND = 300  # bytes of a hit besides its text
CUE = CueMatcher.of_terms(["heron", "osprey"])
LONG = "\n".join(f"Line {number} of a log that somebody pasted." for number in range(400))


def said(key: int, kind: TurnKind, text: str, *, wish: bool = False) -> Spoken:
    person = kind in (TurnKind.PROMPT, TurnKind.ANSWER, TurnKind.PASTE)
    return Spoken(key, kind, text, person, AROUND, wish=wish)


def filled(
    *exchanges: list[Spoken], room: int = 6000, scores: list[float] | None = None
) -> list[Picked]:
    ranked = [
        RankedExchange(
            tuple(turn.key for turn in turns),
            tuple(turn.kind for turn in turns),
            scores[place] if scores else 20.0 - place,
            0.5,
            0.5,
        )
        for place, turns in enumerate(exchanges)
    ]
    return fill(ranked, {turn.key: turn for turns in exchanges for turn in turns}, CUE, room)


def conclusion(key: int, text: str) -> list[Spoken]:
    return [said(key, TurnKind.CONCLUSION, text)]


def test_the_first_exchanges_all_get_a_place_however_sure_the_first_is() -> None:
    found = filled(
        conclusion(1, f"The heron did it.\n{LONG}"),
        *(
            conclusion(key, f"{key} other things about the osprey were said here.")
            for key in (2, 3, 4)
        ),
        scores=[40.0, 3.0, 2.0, 1.0],
    )
    assert [pick.key for pick in found] == [1, 2, 3, 4]


def test_who_gives_more_room_is_shown_more_exchanges() -> None:
    told = [conclusion(key, f"{key} things about the heron were said there.") for key in range(40)]
    scores = [30.0 - place / 2 for place in range(40)]
    assert len(filled(*told, scores=scores)) <= 12
    assert len(filled(*told, room=40_000, scores=scores)) == 40


def test_what_is_said_of_the_cue_comes_before_code_that_holds_its_words() -> None:
    code = "```\nheron = osprey.nearest(pond, by_night=True, within=hours(9), seen=fish)\n```"
    prose = "The heron takes the fish, and the osprey watches it."
    (found,) = filled(conclusion(1, f"{code}\n\n{prose}"), room=AROUND + 110)
    ((start, end),) = found.spans
    assert f"{code}\n\n{prose}"[start:end] == prose


def test_one_pasted_log_leaves_room_for_the_others() -> None:
    found = filled(
        [said(1, TurnKind.PASTE, LONG), said(2, TurnKind.CONCLUSION, "The heron did it.")],
        conclusion(3, "The osprey was elsewhere, as the log shows."),
    )
    assert {2, 3} <= {pick.key for pick in found}


def test_a_prompt_comes_with_what_it_led_to() -> None:
    prompt = said(
        1,
        TurnKind.PROMPT,
        "Is it the heron or the osprey that took all the fish out of the pond last night?",
    )
    found = filled([prompt, said(2, TurnKind.CONCLUSION, "Neither of them: it was the otter.")])
    assert {pick.key for pick in found} == {1, 2}


def test_a_ruling_stands_by_itself() -> None:
    ruling = said(1, TurnKind.PROMPT, "Never feed the heron before the osprey.", wish=True)
    done = said(2, TurnKind.CONCLUSION, "x" * 50)
    assert [pick.key for pick in filled([ruling, done], room=AROUND + 60)] == [1]


@pytest.mark.parametrize("text", ["yes, the heron", "feed them"])
def test_a_short_prompt_is_no_hit_of_its_own(text: str) -> None:
    kind = TurnKind.ANSWER if text.startswith("yes") else TurnKind.PROMPT
    found = filled([said(1, kind, text), said(2, TurnKind.CONCLUSION, "All herons are fed.")])
    assert [pick.key for pick in found] == [2]


def test_narration_is_shown_only_where_nothing_else_was_said() -> None:
    narrated = said(1, TurnKind.NARRATION, "Let me look at the heron and the osprey first.")
    ended = said(2, TurnKind.CONCLUSION, "Both are well, and the pond is full.")
    assert [pick.key for pick in filled([narrated, ended])] == [2]
    assert [pick.key for pick in filled([narrated])] == [1]


def test_the_same_text_is_shown_once() -> None:
    plan = "The plan for the heron: fill the pond, then wait for the osprey to come."
    found = filled(conclusion(1, plan), conclusion(2, plan), conclusion(3, "Done with the heron."))
    assert [pick.key for pick in found] == [1, 3]
    assert found[0].also == (2,)


def test_of_an_exchange_two_turns_are_shown_at_most() -> None:
    turns = [
        said(key, TurnKind.FINDING, f"Finding {key}: the heron and the osprey were both there.")
        for key in range(1, 6)
    ]
    assert len(filled(turns)) == 2


LINES = st.sampled_from(
    ["## Heron", "an osprey dives.", "", "```", "x = 1", "| a |", "1. go", "*:*"]
)
TEXTS = st.lists(LINES, min_size=1, max_size=40).map("\n".join).filter(str.strip)
KINDS = st.sampled_from(list(TurnKind))


@given(st.lists(st.lists(st.tuples(KINDS, TEXTS), max_size=4), max_size=6), st.integers(0, 4000))
def test_what_is_shown_is_verbatim_and_within_its_room(
    exchanges: list[list[tuple[TurnKind, str]]], room: int
) -> None:
    key = iter(range(100))
    turns = [[said(next(key), kind, text) for kind, text in exchange] for exchange in exchanges]
    texts = {turn.key: turn.text for exchange in turns for turn in exchange}
    found = filled(*turns, room=room)
    shown = [quoted(texts[pick.key], pick.spans) for pick in found]
    assert sum(map(json_bytes, shown)) + AROUND * len(shown) <= room
    for pick, text in zip(found, shown, strict=True):
        assert text.strip()
        assert all(piece in texts[pick.key] for piece in text.split(" … "))
