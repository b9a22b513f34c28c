"""People answer questions that a tool asks and say why they refuse a call: these words are theirs."""

import json
from pathlib import Path

import pytest

from iai_mcp.domain.memories import NewTurn
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.hosts.turns import Event
from iai_mcp.protocol.turn_events import read_turn

SESSION = "5b0c9f4e-1d2a-4c3b-9e8f-0a1b2c3d4e5f"
ASKED, LASTS = "Which token format should the login use?", "How long should a session last?"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
    "edit, the new_string was NOT written to the file). "
)


def line(second: int, kind: str, block: object, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": f"{kind}-{second}",
        "message": {"role": kind, "content": [block]},
        "sessionId": SESSION,
        "timestamp": f"2026-03-01T09:30:{second:02}.000Z",
    } | more


def called(tmp_path: Path, name: str, given: object, said: object, **more: object) -> list[Event]:
    """What is read of a session in which a tool was called, and this came back."""
    use = {"type": "tool_use", "id": "t1", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": said}
    if more.pop("refused", False):
        result["is_error"] = True
    path = tmp_path / f"{SESSION}.jsonl"
    lines = (line(1, "assistant", use), line(9, "user", result, **more))
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return [event for event in open_transcript(str(path)) if event["role"] != "tool"]


def asked(tmp_path: Path, said: object, *questions: str, **more: object) -> list[Event]:
    given = {"questions": [{"question": question, "options": []} for question in questions]}
    return called(tmp_path, "AskUserQuestion", given, said, **more)


def told(events: list[Event]) -> list[object]:
    return [event["text"] for event in events]


def test_each_answer_follows_its_question_and_names_it(tmp_path: Path) -> None:
    answers = {ASKED: "Opaque", LASTS: "8h"}

    events = asked(tmp_path, "answered", ASKED, LASTS, toolUseResult={"answers": answers})

    assert told(sorted(events, key=lambda one: str(one["ts"]))) == [ASKED, "Opaque", LASTS, "8h"]
    assert [one["id"] for one in events] == [
        "t1/assistant",
        "t1/user",
        "t1/1/assistant",
        "t1/1/user",
    ]
    assert [one.get("meta") for one in events] == [
        None,
        {"answers": ASKED},
        None,
        {"answers": LASTS},
    ]


@pytest.mark.parametrize(
    "said",
    [
        "User has answered your questions: {}. You can now continue with the user's answers in mind.",
        "Your questions have been answered: {}. You can now continue with these answers in mind.",
        "The user answered: {}. Read the answers carefully — they may request clarification.",
    ],
)
def test_answers_are_read_from_the_words_where_nothing_else_tells_them(
    tmp_path: Path, said: str
) -> None:
    pairs = (
        f'"{ASKED}"="the "opaque" one, "short"", "{LASTS}"="8h. No more" user notes: for auditors'
    )

    events = asked(tmp_path, said.format(pairs), ASKED, LASTS)

    assert told(events) == [
        ASKED,
        'the "opaque" one, "short"',
        LASTS,
        "8h. No more\nfor auditors",
    ]


def test_what_an_option_looks_like_was_not_said_by_whoever_chose_it(tmp_path: Path) -> None:
    said = (
        f'Your questions have been answered: "{ASKED}"="Opaque" selected preview:\n[a "box"], b, '
        f'"{LASTS}"=(no option selected) notes: you decide. You can now continue with these answers in mind.'
    )

    assert told(asked(tmp_path, said, ASKED, LASTS)) == [ASKED, "Opaque", LASTS, "you decide"]


def test_notes_to_an_answer_are_kept_with_it(tmp_path: Path) -> None:
    more = {
        "answers": {ASKED: "JWT, Opaque"},
        "annotations": {ASKED: {"notes": "both until May", "preview": "x"}},
    }

    assert told(asked(tmp_path, "ok", ASKED, toolUseResult=more)) == [
        ASKED,
        "JWT, Opaque\nboth until May",
    ]


@pytest.mark.parametrize(
    "refusal",
    [
        REFUSED + "To tell you how to proceed, the user said:\nnever force-push",
        REFUSED + "The user provided the following reason for the rejection:  never force-push",
        REFUSED
        + "To tell you how to proceed, the user said:\nnever force-push\n\nNote: The user's next"
        " message may contain a correction or preference.",
        "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit, "
        "the new_string was NOT written to the file). The user said:\nnever force-push",
    ],
)
def test_the_reason_for_refusing_a_call_was_said(tmp_path: Path, refusal: str) -> None:
    events = called(tmp_path, "Bash", {"command": "git push -f"}, refusal, refused=True)

    assert told(events) == ["never force-push"]
    assert events[0]["meta"] == {"rejected": "git push -f"}


def test_a_refusal_is_known_as_one_whatever_was_refused(tmp_path: Path) -> None:
    refusal = REFUSED + "To tell you how to proceed, the user said:\nit lacks a rollback"

    events = called(tmp_path, "ExitPlanMode", {"plan": "# Login"}, refusal, refused=True)

    assert [(one["text"], one["meta"]) for one in events] == [
        ("it lacks a rollback", {"rejected": ""})
    ]


def test_who_wants_to_talk_about_questions_said_only_what_they_answered(tmp_path: Path) -> None:
    refusal = (
        f"{REFUSED}To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n"
        "    This means they may have additional information, context or questions for you.\n\n"
        f'    Questions asked:\n- "{ASKED}"\n  Answer: Opaque\n  User notes: for now\n- "{LASTS}"\n'
        "  (No answer provided)"
    )

    assert told(asked(tmp_path, refusal, ASKED, LASTS, refused=True)) == [ASKED, "Opaque\nfor now"]


def test_what_a_command_printed_is_no_answer(tmp_path: Path) -> None:
    said = f'User has answered your questions: "{ASKED}"="Opaque".'

    assert called(tmp_path, "Bash", {"command": "cat log"}, said) == []


@pytest.mark.parametrize(
    "said",
    [
        "<my-hook>A</my-hook>",
        "Unknown skill: x",
        "<tick>no</tick> yes",
        "<tick>10:30</tick>",
        "<new-diagnostics>\nA\n</new-diagnostics>\nbut shorter",
    ],
)
def test_what_is_said_to_a_tool_arrives_even_if_it_looks_like_a_notice(
    tmp_path: Path, said: str
) -> None:
    answered = asked(tmp_path, "answered", ASKED, toolUseResult={"answers": {ASKED: said}})
    refused = called(tmp_path, "Bash", {}, f"{REFUSED}the user said:\n{said}", refused=True)

    arrived = [read_turn(event, NewTurn(text="")) for event in answered + refused]

    assert [turn and turn.text for turn in arrived] == [ASKED, said, said]
