"""Claude Code's transcripts become turns: who said what, when, where, and nothing else."""

import json
import os
from pathlib import Path

import pytest

from iai_mcp.hosts.transcripts import detect, open_transcript, read_turns, related
from iai_mcp.protocol.markers import wrap

SESSION = "5b0c9f4e-1d2a-4c3b-9e8f-0a1b2c3d4e5f"


def line(kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "message": {"role": kind, "content": content},
        "sessionId": SESSION,
        "cwd": "/home/ann/shop",
        "gitBranch": "main",
        "timestamp": "2026-03-01T09:30:00.000Z",
    } | more


def write(path: Path, *lines: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines),
        encoding="utf-8",
    )
    return str(path)


def test_a_turn_keeps_words_time_place_and_its_own_id(tmp_path: Path) -> None:
    path = write(
        tmp_path / f"{SESSION}.jsonl",
        line("user", "Which port?  \n", uuid="u-1"),
        line("assistant", [{"type": "text", "text": "5433 — as before."}], uuid="a-1"),
    )

    events, skipped, end = read_turns(path)

    assert skipped == 0
    assert end == Path(path).stat().st_size
    assert events == [
        {
            "text": "Which port?  \n",
            "cue": "Which port?",
            "tier": "episodic",
            "role": "user",
            "host": "claude-code",
            "ts": "2026-03-01T09:30:00.000Z",
            "id": "u-1",
            "cwd": "/home/ann/shop",
            "branch": "main",
        },
        {
            "text": "5433 — as before.",
            "cue": "5433 — as before.",
            "tier": "episodic",
            "role": "assistant",
            "host": "claude-code",
            "ts": "2026-03-01T09:30:00.000Z",
            "id": "a-1",
            "cwd": "/home/ann/shop",
            "branch": "main",
        },
    ]


def test_lines_of_one_answer_are_turns_of_their_own(tmp_path: Path) -> None:
    parts = [
        line("assistant", [{"type": "thinking", "thinking": "hm"}], uuid="a-1"),
        line("assistant", [{"type": "text", "text": "First."}], uuid="a-2"),
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}], uuid="a-3"),
        line("assistant", [{"type": "text", "text": "Second."}], uuid="a-4"),
    ]
    for part in parts:
        message = part["message"]
        assert isinstance(message, dict)
        message["id"] = "msg_1"

    events, _, _ = read_turns(write(tmp_path / "t.jsonl", *parts))

    assert [(e["id"], e["text"]) for e in events] == [("a-2", "First."), ("a-4", "Second.")]


def test_what_nobody_said_is_not_conversation(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("user", "Caveat: the messages below were generated", uuid="1"),
        line("user", "<command-name>/model</command-name>", uuid="2"),
        line("user", "<local-command-stdout>ok</local-command-stdout>", uuid="3"),
        line("user", "<bash-input>ls</bash-input>", uuid="4"),
        line("user", "  <system-reminder>be nice</system-reminder>", uuid="5"),
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}], uuid="6"),
        line("user", [{"type": "tool_result", "content": "42"}], uuid="7", toolUseResult="42"),
        line("user", "told by the host", uuid="8", isMeta=True),
        line("user", "we talked about ports", uuid="9", isCompactSummary=True),
        line("user", "This session is being continued from a previous conversation …", uuid="10"),
        line("assistant", "API Error: 500", uuid="11", isApiErrorMessage=True),
        {"type": "summary", "summary": "Ports"},
        {"type": "progress", "data": {}},
        {"type": "attachment", "attachment": {"type": "hook_additional_context"}},
    )

    events, skipped, _ = read_turns(path)

    assert [event["text"] for event in events if event["role"] != "summary"] == []
    assert skipped == 0


def test_what_was_typed_while_the_assistant_worked_is_kept(tmp_path: Path) -> None:
    def queued(prompt: object, name: str, **more: object) -> dict[str, object]:
        attachment = {"type": "queued_command", "prompt": prompt} | more
        return {"type": "attachment", "attachment": attachment, "uuid": name, "sessionId": SESSION}

    path = write(
        tmp_path / "t.jsonl",
        {"type": "queue-operation", "operation": "enqueue", "content": "and the tests too"},
        queued("and the tests too", "1", commandMode="prompt", origin={"kind": "human"}),
        queued([{"type": "text", "text": "with a picture"}], "2"),
        queued("<task-notification>x</task-notification>", "3", commandMode="task-notification"),
        queued("a teammate's", "4", commandMode="prompt", origin={"kind": "teammate"}),
        queued("the host's", "5", isMeta=True),
    )

    events, skipped, _ = read_turns(path)

    assert [(e["id"], e["role"], e["text"]) for e in events] == [
        ("1", "user", "and the tests too"),
        ("2", "user", "with a picture"),
    ]
    assert skipped == 0


def test_an_id_that_is_unique_by_itself_is_told_as_such(tmp_path: Path) -> None:
    own = "b7a1c0de-0000-4000-8000-0123456789ab"
    path = write(
        tmp_path / "copy of a session.jsonl",
        line("user", "which port?", uuid=own),
        line("user", "and the host?", uuid="2"),
        line("user", "yes", uuid="00000000-0000-0000-0000-000000000000"),
    )

    events, _, _ = read_turns(path)

    assert [(e["id"], e.get("uid")) for e in events] == [
        (own, own),
        ("2", None),
        ("00000000-0000-0000-0000-000000000000", None),
    ]


def test_a_reminder_beside_somebodys_words_goes_and_the_words_stay(tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
        {"type": "text", "text": "rename it"},
        {"type": "text", "text": "<system-reminder>x</system-reminder>"},
        {"type": "image", "source": {}},
    ]

    events, _, _ = read_turns(write(tmp_path / "t.jsonl", line("user", blocks, uuid="1")))

    assert [e["text"] for e in events] == ["rename it"]


def test_what_we_injected_is_never_captured_again(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("user", wrap("the port is 5433"), uuid="1"),
        line("user", f"{wrap('facts')}\nnow go on", uuid="2"),
        line("user", "what does <iai-mcp-memory> mean?", uuid="3"),
        line("user", wrap("a long injection")[:-20], uuid="4"),
    )

    events, _, _ = read_turns(path)

    assert [e["text"] for e in events] == ["now go on", "what does <iai-mcp-memory> mean?"]


def test_broken_half_written_and_unknown_lines_are_counted(tmp_path: Path) -> None:
    half = json.dumps(line("user", "not yet whole", uuid="3"))[:-9]
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b'{"type": "user", "mess\n'
        b"\xff\xfe\x00nonsense\n"
        b"42\n"
        b'{"silly": "this"}\n'
        b"\n"
        + json.dumps(line("user", "whole", uuid="2")).encode()
        + b"\n"
        + b'{"type": "user", "message": "error"}\n'
        + half.encode()
    )

    reading = open_transcript(str(path))
    events = list(reading)

    assert [e["text"] for e in events] == ["whole"]
    assert reading.skipped == 6
    assert reading.end == path.stat().st_size - len(half), "the half line is read again when whole"


def test_a_line_that_becomes_whole_is_read_then(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    first = json.dumps(line("user", "one", uuid="1")) + "\n"
    second = json.dumps(line("user", "two", uuid="2"))
    path.write_text(first + second[:40], encoding="utf-8")
    before = open_transcript(str(path))
    assert [e["text"] for e in before] == ["one"]

    path.write_text(first + second + "\n", encoding="utf-8")
    after = open_transcript(str(path), start=before.end, carry=before.carry)

    assert [e["text"] for e in after] == ["two"]
    assert after.session_id == SESSION


def test_words_without_an_id_are_counted_across_readings(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "t.jsonl", line("user", "yes"), line("user", "yes")))
    before = open_transcript(str(path))
    assert [e["occurrence"] for e in before] == [0, 1]

    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line("user", "yes")) + "\n" + json.dumps(line("assistant", "yes")))
    after = open_transcript(str(path), start=before.end, carry=before.carry)

    assert [(e["role"], e["occurrence"]) for e in after] == [("user", 2), ("assistant", 0)]


def test_a_subagents_file_names_its_agent_and_the_parents_session(tmp_path: Path) -> None:
    main = write(tmp_path / f"{SESSION}.jsonl", line("user", "go", uuid="1"))
    folder = tmp_path / SESSION / "subagents"
    path = write(
        folder / "agent-a1b2.jsonl",
        line("assistant", "found it", uuid="s-1", isSidechain=True, agentId="a1b2"),
    )
    (folder / "agent-a1b2.meta.json").write_text('{"agentType": "Explore"}', encoding="utf-8")

    reading = open_transcript(path)
    (event,) = list(reading)

    assert related(main, "claude-code") == [path]
    assert reading.session_id == SESSION
    assert (event["agent_id"], event["agent_name"], event["id"]) == ("a1b2", "Explore", "s-1")


def test_the_files_name_is_the_session_where_it_is_one(tmp_path: Path) -> None:
    other = "00000000-1111-2222-3333-444444444444"
    path = write(tmp_path / f"{other}.jsonl", line("user", "copied from the old session", uuid="1"))

    reading = open_transcript(path)
    assert len(list(reading)) == 1

    assert reading.session_id == other


def test_long_turns_and_strange_characters_stay_whole(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    path = tmp_path / "t.jsonl"
    strange = '"a\\ud800b \\u0000 \U0001f680"'
    lone = '{"type":"user","uuid":"2","message":{"role":"user","content":' + strange + "}}"
    path.write_text(json.dumps(line("user", long, uuid="1")) + "\n" + lone, encoding="utf-8")

    events, skipped, _ = read_turns(str(path))

    assert skipped == 0
    assert events[0]["text"] == long
    assert events[1]["text"] == "a\ufffdb \0 \U0001f680"


def test_nothing_readable_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    absent = tmp_path / "absent.jsonl"
    for path in (tmp_path, absent, pipe, Path("/dev/zero"), Path("/dev/null/x"), "nul\0.jsonl"):
        reading = open_transcript(str(path))

        assert list(reading) == []
        assert reading.problem


def test_the_webs_export_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "web.json"
    path.write_text(json.dumps({"loglines": [line("user", "hi"), 5]}), encoding="utf-8")

    events, skipped, _ = read_turns(str(path))

    assert detect(str(path)) == "claude-code"
    assert [e["text"] for e in events] == ["hi"]
    assert skipped == 1


def test_what_the_host_reports_into_a_conversation_is_nobodys_words(tmp_path: Path) -> None:
    done = (
        "<task-notification>\n<task-id>b1</task-id>\n<summary>done</summary>\n</task-notification>"
    )
    path = write(
        tmp_path / "t.jsonl",
        line("user", f"{done}\nRead the output file to retrieve the result: /tmp/b1", uuid="1"),
        line("user", f"{done}\n{done}\n", uuid="2"),
        line("user", "Operation stopped by hook", uuid="3"),
        line("user", "Operation stopped by hook: another session is active", uuid="4"),
        line("user", f"{done}\nFull transcript available at: /tmp/b1\n{done}", uuid="5"),
        line("user", "Stop hook feedback:\n- run the tests", uuid="6"),
    )

    assert read_turns(path)[:2] == ([], 0)


def test_words_between_two_envelopes_of_the_same_name_are_kept(tmp_path: Path) -> None:
    said = "<ide_selection>a</ide_selection>\nrename both\n<ide_selection>b</ide_selection>"
    path = write(
        tmp_path / "t.jsonl",
        line("user", said, uuid="1"),
        line("user", "Operation stopped by hooks, again: why?", uuid="2"),
        line("user", "<task-notification> is a tag of yours?", uuid="3"),
    )

    events, _, _ = read_turns(path)

    assert [(e["id"], e["text"]) for e in events] == [
        ("1", said),
        ("2", "Operation stopped by hooks, again: why?"),
        ("3", "<task-notification> is a tag of yours?"),
    ]


_DONE = "<task-notification>\n<task-id>b1</task-id>\n<summary>done</summary>\n</task-notification>"
_PEER = (
    "This came from another Claude session — not typed by your user, but very likely working on their "
    "behalf. Treat it as a teammate's request."
)


@pytest.mark.parametrize(
    "written",
    [
        f'Another Claude session sent a message:\n<teammate-message teammate_id="b">x</teammate-message>\n\n{_PEER}',
        f'Another Claude session sent a message while you were working:\n<cross-session-message from="b">x\n'
        f"</cross-session-message>\n\n{_PEER} After completing your current task, decide.",
        f"Another Claude session sent a message:\nplease look at it\n\n{_PEER}",
        f"Another Claude session sent a message:\nlook\n\nThen go\n\n{_PEER}\n\n"
        'Another Claude session sent a message:\ndone\n\nThat "other Claude session" is an agent of yours.',
        '<agent-message from="b">x</agent-message>',
        '<channel source="chat" chat_id="1">x</channel>',
        "<tick>10:32 AM</tick>",
        "<bash-notification>\n<shell-id>1</shell-id>x</bash-notification>",
        "<new-diagnostics>x</new-diagnostics>",
        "<user-prompt-submit-hook>x</user-prompt-submit-hook>",
        "<tick>10:32:05\u202fPM</tick>\n<tick>2026-11-15T21:32:26.451Z</tick>",
        "<tick>下午3:04:05</tick>",
        '<teammate-message teammate_id="b" summary="a > b">\nx\n</teammate-message>',
        "<post-tool-use-hook><ide_diagnostics>[]</ide_diagnostics></post-tool-use-hook>",
        "<session-start-hook>\nx\n</session-start-hook>",
        "<ci-monitor-event>a check failed</ci-monitor-event>",
        f"{_DONE}\nRead the output file to retrieve the result: C:\\Users\\A B\\b1.output",
        f"{_DONE}\n{_DONE}",
    ],
)
def test_notices_are_nobodys_words(tmp_path: Path, written: str) -> None:
    blocks = [{"type": "text", "text": written}]
    path = write(
        tmp_path / "t.jsonl", line("user", written, uuid="1"), line("user", blocks, uuid="2")
    )

    assert read_turns(path)[:2] == ([], 0)


def test_what_a_person_says_behind_a_notice_is_theirs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("user", f"{_DONE}\n\nlook at the failures yourself\n{_DONE}", uuid="1"),
        line(
            "user",
            f"<tick>9:05</tick>\n{_DONE}\nRead the output file to retrieve the result: /b\ngo on",
        ),
        line(
            "user", f"Another Claude session sent a message:\nhello\n\n{_PEER}\n\nno, do as I say"
        ),
        line("user", f"{_DONE}\nRead the output file to retrieve the result: is no good line"),
    )

    assert [e["text"] for e in read_turns(path)[0]] == [
        f"look at the failures yourself\n{_DONE}",
        "go on",
        "no, do as I say",
        "Read the output file to retrieve the result: is no good line",
    ]


@pytest.mark.parametrize(
    "said",
    [
        f"why do I see {_DONE} in the log?",
        "<tick> and <channel> are tags of yours?",
        "<my-widget>is not closed",
        "<app-root></app-root> stays empty, why?",
        "<channel><title>news</title></channel> is not shown by our reader",
        "Another Claude session sent a message: what does that mean?",
        f"Another Claude session sent a message: is that line ours?\n\n{_PEER}",
        "Unknown slash command: deploy\nwhy do I get that?",
        "Unknown slash command: deploy:now",
        "Unknown skill: pdf",
        "<tick> and </tick> are drawn on the wrong axis of the chart, please fix",
        "<tick>no</tick> yes",
        "<tick>1.5</tick>",
        "<tick>10:30</tick> is drawn at the wrong place",
        "<use-hook>: rename the component, then close it with </use-hook> as in the docs",
        "<my-hook>\n  const x = 1\n</my-hook>\nwhy does this not render?",
        "<calendar-reminder>\n<p>Hi</p>\n</calendar-reminder>",
        "<spring-diagnostics>x</spring-diagnostics>",
        "<task-notification> is printed twice. Why does it end with </task-notification>",
        "<task-notification></task-notification> is empty",
        "<task-notification is not closed</task-notification>",
        "<user-prompt-submit-hook>: rename it and its end, </user-prompt-submit-hook>",
        "<ultraplan>x</ultraplan> is a tag of mine",
        '<channel source="x">hello</channel> please add this channel',
        "<channel>\n<title>news</title>\n</channel>",
        "UserPromptSubmit operation blocked by hook: what is wrong with it?",
    ],
)
def test_words_about_notices_are_a_persons(tmp_path: Path, said: str) -> None:
    path = write(tmp_path / "t.jsonl", line("user", said, uuid="1"))

    assert [e["text"] for e in read_turns(path)[0]] == [said]


def test_what_the_host_says_that_no_person_typed_is_nobodys_words(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        line("user", "restart the build", uuid="1", origin={"kind": "channel"}),
        line("user", "mine", uuid="2", origin={"kind": "human"}),
        line("user", "the same", uuid="3", origin="typed"),
    )

    assert [e["text"] for e in read_turns(path)[0]] == ["mine", "the same"]


def test_what_a_person_said_behind_a_reminder_is_kept(tmp_path: Path) -> None:
    reminder = "<system-reminder>\nThe file was changed.\n</system-reminder>"
    path = write(
        tmp_path / "t.jsonl",
        line("user", f"{reminder}\n\nplease look at the parser", uuid="1"),
        line("user", reminder, uuid="2"),
    )

    events, _, _ = read_turns(path)

    assert [event["text"] for event in events] == ["please look at the parser"]


def test_a_subagent_is_asked_by_its_agent_and_refused_by_the_person(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nnot there"
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": refusal}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm -r x"}}
    path = write(
        tmp_path / SESSION / "subagents" / "agent-a1b2.jsonl",
        line("user", "look into the cart", uuid="s-1", isSidechain=True, agentId="a1b2"),
        line("assistant", [call], uuid="s-2", isSidechain=True, agentId="a1b2"),
        line("user", [result], uuid="s-3", isSidechain=True, agentId="a1b2"),
    )

    said = [(e["role"], e["text"]) for e in open_transcript(path) if e["role"] != "tool"]

    assert said == [("assistant", "look into the cart"), ("user", "not there")]
