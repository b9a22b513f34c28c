"""A turn as hooks deliver it: read once, into a value, or refused."""

import pytest

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.memories import NewTurn
from iai_mcp.protocol.turn_events import read_turn, spooled_turn

SHARED = NewTurn(text="", session_id="s1", project="p", cwd="/work", host="codex")


def test_what_an_event_does_not_say_is_as_in_its_call() -> None:
    turn = read_turn({"text": "hello", "session_id": "s2", "role": None}, SHARED)

    assert turn == NewTurn(text="hello", session_id="s2", project="p", cwd="/work", host="codex")


def test_a_time_that_nobody_understands_does_not_cost_the_words() -> None:
    turn = read_turn({"text": "hello", "ts": "yesterday"}, SHARED)

    assert turn is not None
    assert turn.at is None


def test_an_id_is_text_whatever_the_host_writes_it_as() -> None:
    read = [read_turn({"text": "hello", "id": id_}, SHARED) for id_ in (7, "7", None, True)]

    assert [turn.id for turn in read if turn] == ["7", "7", "", ""]


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_blank_event_is_no_turn(text: str | None) -> None:
    assert read_turn({"text": text}, SHARED) is None


@pytest.mark.parametrize(
    "event",
    [
        5,
        {"text": 5},
        {"text": "x", "speaker": 5},
        {"text": "x", "occurrence": -1},
        {"text": "x", "meta": []},
    ],
)
def test_what_is_no_event_is_refused_and_a_damaged_line_of_the_spool_holds_none(
    event: object,
) -> None:
    with pytest.raises(InvalidInput):
        read_turn(event, SHARED)
    if isinstance(event, dict):
        assert spooled_turn("s1", event) is None


def test_what_a_host_tells_in_a_persons_place_is_no_turn_and_words_behind_it_are() -> None:
    done = "<task-notification><summary>x</summary></task-notification>"

    assert read_turn({"text": done}, NewTurn(text="")) is None
    said = read_turn({"text": f"{done}\ngo on"}, NewTurn(text=""))
    assert said is not None and said.text == "go on"
    quoted = read_turn({"text": done, "role": "assistant"}, NewTurn(text=""))
    assert quoted is not None and quoted.text == done


@pytest.mark.parametrize("said", ["<system-reminder>\nA\n</system-reminder>", "<tick>10:30</tick>"])
@pytest.mark.parametrize("about", ["answers", "rejected"])
def test_what_a_person_answers_is_theirs_whatever_it_looks_like(said: str, about: str) -> None:
    turn = read_turn({"text": said, "meta": {about: "Which tag?"}}, SHARED)

    assert turn is not None and turn.text == said
    assert read_turn({"text": said, "meta": {"sidechain": True}}, SHARED) is None
