"""What agents did is read from every host's transcript, and nothing of the files they touched."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.planted import planted
from tests.support.answers import Json

from iai_mcp.domain.instants import from_micros
from iai_mcp.domain.memories import Provenance
from iai_mcp.domain.redaction import redact
from iai_mcp.domain.telling import telling
from iai_mcp.domain.work import Command, Work, clean_work, read_done
from iai_mcp.hosts.codex import tool_calls as codex
from iai_mcp.hosts.gemini import tool_calls as gemini
from iai_mcp.hosts.transcripts import open_transcript
from iai_mcp.hosts.turns import Event
from iai_mcp.hosts.work import Call, Result, Setting, events_of

SESSION = "5b0c9f4e-1d2a-4c3b-9e8f-0a1b2c3d4e5f"
CWD = "/home/ann/shop"
FAILED = "FAIL test_cart.py::test_total - assert 3 == 4\n1 failed, 2 passed in 0.3s"


def jsonl(path: Path, *lines: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return str(path)


def claude(kind: str, uuid: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": uuid,
        "message": {"role": kind, "content": content},
        "sessionId": SESSION,
        "cwd": CWD,
        "timestamp": "2026-03-01T09:30:00.000Z",
    } | more


def use(mark: str, name: str, given: dict[str, object], **more: object) -> dict[str, object]:
    block = {"type": "tool_use", "id": mark, "name": name, "input": given}
    return claude("assistant", f"a-{mark}", [block], **more)


def result(mark: str, content: object, *, error: bool = False, **more: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": mark, "content": content, "is_error": error}
    return claude("user", f"r-{mark}", [block], **more)


def work_of(path: str, host: str | None = None) -> list[Json]:
    return [event for event in open_transcript(path, host) if event["role"] == "tool"]


def _stored(event: Event) -> Command:
    """The command as it is kept."""
    done = read_done(str(event["kind"]), event["work"])
    whole = Work(identity=b"", at=from_micros(0), done=done, provenance=Provenance())
    kept = clean_work(whole, lambda text: redact(text).text).done
    assert isinstance(kept, Command)
    return kept


def said_in(path: str) -> list[tuple[object, object]]:
    return [(e["role"], e["text"]) for e in open_transcript(path) if e["role"] != "tool"]


def test_a_command_carries_its_exit_its_telling_lines_and_the_request_it_served(
    tmp_path: Path,
) -> None:
    noise = "\n".join(f"collecting {n} ..." for n in range(200))
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        claude("user", "u-1", "run the cart tests"),
        use("t1", "Bash", {"command": "pytest test_cart.py", "description": "Run cart tests"}),
        result(
            "t1",
            f"Exit code 1\n{noise}\n{FAILED}",
            error=True,
            timestamp="2026-03-01T09:30:04.500Z",
        ),
    )

    (event,) = work_of(path)

    assert (event["kind"], event["id"], event["turn"]) == ("command", "t1", "u-1")
    assert event["text"] == "Run cart tests\npytest test_cart.py"
    told = event["work"]
    assert isinstance(told, dict)
    assert told == {
        "command": "pytest test_cart.py",
        "exit": 1,
        "cwd": CWD,
        "seconds": 4.5,
        "output": told["output"],
    }
    assert telling(told["output"], told["command"], failed=True) == FAILED


def test_an_edit_keeps_path_size_and_names_and_nothing_of_the_file(tmp_path: Path) -> None:
    old, new = "def total(cart):\n    return 3", "def total(cart):\n    return sum(cart)\n"
    hunk = {"lines": [" def total(cart):", "-    return 3", "+    return sum(cart)", "+"]}
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        claude("user", "u-1", "fix it"),
        use("t1", "Edit", {"file_path": f"{CWD}/cart.py", "old_string": old, "new_string": new}),
        result(
            "t1",
            "updated: return sum(cart)",
            toolUseResult={"filePath": f"{CWD}/cart.py", "structuredPatch": [hunk]},
        ),
        use("t2", "Write", {"file_path": f"{CWD}/docs/a.md", "content": "secret plan\nb"}),
        result(
            "t2",
            "created",
            toolUseResult={
                "type": "create",
                "filePath": f"{CWD}/docs/a.md",
                "content": "secret plan\nb",
                "structuredPatch": [],
            },
        ),
        use("t3", "Edit", {"file_path": f"{CWD}/gone.py", "old_string": "x", "new_string": "y"}),
        result("t3", "<tool_use_error>File not found</tool_use_error>", error=True),
    )

    events = work_of(path)

    assert [event["work"] for event in events] == [
        {"path": "cart.py", "action": "changed", "added": 2, "removed": 1, "names": ["total"]},
        {"path": "docs/a.md", "action": "created", "added": 2, "removed": 0, "names": []},
    ]
    assert "return" not in json.dumps(events)
    assert "secret plan" not in json.dumps(events)


def test_of_what_was_read_only_paths_and_queries_stay(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        use("t1", "Read", {"file_path": f"{CWD}/cart.py"}),
        result("t1", "1\tTOP OF THE FILE"),
        use("t2", "Grep", {"pattern": "def total", "path": f"{CWD}/src"}),
        result("t2", "src/x.py: FOUND LINE"),
        use("t3", "mcp__iai-mcp__memory_recall", {"cue": "what did we say"}),
        result("t3", "RECALLED WORDS"),
    )

    events = work_of(path)

    assert [event["work"] for event in events] == [
        {"paths": ["cart.py"], "queries": []},
        {"paths": ["src"], "queries": ["def total"]},
    ]
    told = json.dumps(events)
    assert not any(words in told for words in ("TOP OF", "FOUND LINE", "RECALLED"))


def test_what_a_person_says_when_refusing_a_call_was_said_by_them(tmp_path: Path) -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file "
        "edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
        "no slow suites, please"
    )
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        claude("user", "u-1", "check it"),
        use("t1", "Bash", {"command": "make slow"}),
        result("t1", refusal, error=True),
        use("t2", "Bash", {"command": "make fast"}),
        result("t2", "ok"),
    )

    assert said_in(path)[1:] == [("user", "no slow suites, please")]
    refused, done = work_of(path)
    assert refused["work"] == {"command": "make slow", "exit": None, "cwd": CWD, "rejected": True}
    assert (done["work"]["exit"], done["turn"]) == (0, "r-t1")
    spoken = [e for e in open_transcript(path) if e["text"] == "no slow suites, please"]
    assert (spoken[0]["id"], spoken[0]["meta"]) == ("r-t1", {"rejected": "make slow"})


def test_a_question_of_the_host_and_the_persons_answer_are_said(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        use("q1", "AskUserQuestion", {"questions": [{"question": "Which database?"}]}),
        result(
            "q1",
            "User has answered",
            toolUseResult={"answers": {"Which database?": "Postgres, as before"}},
        ),
    )

    assert said_in(path) == [("assistant", "Which database?"), ("user", "Postgres, as before")]


def test_a_call_whose_result_comes_in_a_later_reading_is_joined_and_no_word_of_it_is_kept_between(
    tmp_path: Path,
) -> None:
    asked = [claude("user", "u-1", "go"), use("t1", "Bash", {"command": "make secret-target"})]
    path = jsonl(tmp_path / f"{SESSION}.jsonl", *asked)
    first = open_transcript(path)
    assert [e["role"] for e in first] == ["user"]
    assert "secret-target" not in json.dumps(first.carry)

    jsonl(tmp_path / f"{SESSION}.jsonl", *asked, result("t1", "built"))
    second = open_transcript(path, start=first.end, carry=json.loads(json.dumps(first.carry)))

    (event,) = list(second)
    assert (event["text"], event["turn"]) == ("make secret-target", "u-1")
    assert "calls" not in second.carry


def test_what_a_command_writes_into_a_file_is_not_kept_with_it(tmp_path: Path) -> None:
    command = "cat > notes.md <<'EOF'\nall of the notes\nEOF\necho done"
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        use("t1", "Bash", {"command": command}),
        result("t1", "done"),
    )

    (event,) = work_of(path)

    assert event["text"] == "cat > notes.md <<'EOF'\n…\nEOF\necho done"


def test_however_long_command_and_output_two_kilobytes_stay(tmp_path: Path) -> None:
    lines = "\n".join(f"error: é{n} " + "x" * 400 for n in range(5000))
    path = jsonl(
        tmp_path / f"{SESSION}.jsonl",
        use("t1", "Bash", {"command": "echo " + "é" * 9000}),
        result("t1", lines, error=True),
        use("t2", "Bash", {"command": "make"}),
        result("t2", lines),
    )

    kept = [_stored(event) for event in work_of(path)]

    assert all(len((one.command + one.output).encode()) <= 2048 for one in kept)
    assert "error: é4999" in kept[1].output


def codex_rollout(tmp_path: Path) -> str:
    def item(second: int, **payload: object) -> dict[str, object]:
        moment = f"2026-03-01T09:30:{second:02}.000Z"
        return {"timestamp": moment, "type": "response_item", "payload": payload}

    patch = "*** Begin Patch\n*** Update File: cart.py\n@@ def total(cart):\n-    3\n+    4\n*** Add File: new.py\n+one\n+two\n*** End Patch"
    told = json.dumps({"output": FAILED, "metadata": {"exit_code": 1, "duration_seconds": 0.5}})
    call = {"type": "function_call", "name": "shell", "call_id": "c1"}
    ok = "Exit code: 0\nWall time: 1.5 seconds\nOutput:\n3 passed"
    return jsonl(
        tmp_path / "rollout-2026.jsonl",
        {"type": "session_meta", "payload": {"id": SESSION, "cwd": CWD}, "timestamp": "2026-03-01"},
        item(1, type="message", role="user", content=[{"type": "input_text", "text": "fix it"}]),
        item(2, **call, arguments=json.dumps({"command": ["bash", "-lc", "pytest test_cart.py"]})),
        item(3, type="function_call_output", call_id="c1", output=told),
        item(4, type="custom_tool_call", name="apply_patch", call_id="c2", input=patch),
        item(5, type="custom_tool_call_output", call_id="c2", output="Success"),
        item(6, **call | {"call_id": "c3", "name": "exec_command"}, arguments=json.dumps({"cmd": "pytest test_cart.py"})),
        item(7, type="function_call_output", call_id="c3", output=ok),
    )  # fmt: skip


def gemini_chat(tmp_path: Path) -> str:
    def called(mark: str, name: str, output: str, **args: object) -> dict[str, object]:
        answer = [{"functionResponse": {"response": {"output": output}}}]
        return {"id": mark, "name": name, "args": args, "status": "success", "result": answer}

    failed = f"Command: pytest test_cart.py\nDirectory: (root)\nOutput: {FAILED}\nError: (none)\nExit Code: 1"
    edited = called("g2", "replace", "ok", file_path=f"{CWD}/cart.py") | {
        "resultDisplay": {
            "fileDiff": "@@ -1 +1 @@\n def total(cart):\n-    3\n+    4\n",
            "filePath": f"{CWD}/cart.py",
            "originalContent": "x",
        }
    }
    return jsonl(
        tmp_path / "chats" / "session-1.jsonl",
        {"sessionId": SESSION, "projectHash": "x", "directories": [CWD]},
        {"id": "u-1", "type": "user", "content": "fix it", "timestamp": "2026-03-01T09:30:00Z"},
        {
            "id": "g",
            "type": "gemini",
            "content": "",
            "timestamp": "2026-03-01T09:30:01Z",
            "toolCalls": [
                called("g1", "run_shell_command", failed, command="pytest test_cart.py"),
                edited,
                called(
                    "g3", "run_shell_command", "Output: 3 passed", command="pytest test_cart.py"
                ),
                called("g4", "run_shell_command", "", command="rm -r /") | {"status": "cancelled"},
            ],
        },
    )


def qwen_chat(tmp_path: Path) -> str:
    def called(mark: str, name: str, **args: object) -> dict[str, object]:
        part = {"functionCall": {"id": mark, "name": name, "args": args}}
        return {"type": "assistant", "uuid": f"a{mark}", "cwd": CWD, "message": {"parts": [part]}}

    def answered(mark: str, **response: object) -> dict[str, object]:
        part = {"functionResponse": {"id": mark, "response": response}}
        return {"type": "tool_result", "cwd": CWD, "message": {"parts": [part]}}

    edit = {
        "file_path": f"{CWD}/cart.py",
        "old_string": "def total(cart):\n 3",
        "new_string": "def total(cart):\n 4",
    }
    return jsonl(
        tmp_path / "chats" / f"{SESSION}.jsonl",
        {"type": "user", "uuid": "u-1", "sessionId": SESSION, "cwd": CWD, "message": {"parts": [{"text": "fix it"}]}},
        called("q1", "run_shell_command", command="pytest test_cart.py"),
        answered("q1", output=f"Command: x\nOutput: {FAILED}\nExit Code: 1"),
        called("q2", "edit", **edit),
        answered("q2", output="done"),
        called("q3", "run_shell_command", command="pytest test_cart.py"),
        answered("q3", output="Output: 3 passed\nExit Code: 0"),
    )  # fmt: skip


def copilot_session(tmp_path: Path) -> str:
    def started(mark: str, name: str, **arguments: object) -> dict[str, object]:
        data = {"toolCallId": mark, "toolName": name, "arguments": arguments}
        return {"type": "tool.execution_start", "data": data, "timestamp": "2026-03-01T09:30:00Z"}

    def complete(mark: str, content: str) -> dict[str, object]:
        data = {"toolCallId": mark, "success": True, "result": {"content": content}}
        return {
            "type": "tool.execution_complete",
            "data": data,
            "timestamp": "2026-03-01T09:30:01Z",
        }

    return jsonl(
        tmp_path / SESSION / "events.jsonl",
        {"type": "session.start", "data": {"sessionId": SESSION, "context": {"cwd": CWD}}},
        {"type": "user.message", "id": "u-1", "data": {"content": "fix it"}},
        started("p1", "bash", command="pytest test_cart.py"),
        complete("p1", f"{FAILED}\n<exited with exit code 1>"),
        started("p2", "edit", path=f"{CWD}/cart.py", old_str="def total(cart):\n 3", new_str="def total(cart):\n 4"),
        complete("p2", "ok"),
        started("p3", "bash", command="pytest test_cart.py"),
        complete("p3", "3 passed\n<exited with exit code 0>"),
    )  # fmt: skip


def opencode_database(tmp_path: Path) -> str:
    path = tmp_path / "opencode.db"
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE session (id, directory, parent_id);"
        "CREATE TABLE message (id, session_id, time_created, data);"
        "CREATE TABLE part (id, message_id, session_id, data);"
    )
    db.execute("INSERT INTO session VALUES (?, ?, NULL)", (SESSION, CWD))

    def put(message: str, role: str, *parts: dict[str, object]) -> None:
        told = {"role": role, "time": {"created": 1_772_357_400_000, "completed": 1}}
        db.execute("INSERT INTO message VALUES (?, ?, 1, ?)", (message, SESSION, json.dumps(told)))
        for n, part in enumerate(parts):
            row = (f"{message}-{n}", message, SESSION, json.dumps(part))
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)

    def tool(mark: str, name: str, given: object, **metadata: object) -> dict[str, object]:
        state = {"status": "completed", "input": given, "output": "x", "metadata": metadata}
        return {"type": "tool", "callID": mark, "tool": name, "state": state}

    put("m1", "user", {"type": "text", "text": "fix it"})
    put(
        "m2",
        "assistant",
        tool("o1", "bash", {"command": "pytest test_cart.py"}, output=FAILED, exit=1),
        tool(
            "o2",
            "edit",
            {"filePath": f"{CWD}/cart.py"},
            diff="@@ -1 +1 @@\n def total(cart):\n-    3\n+    4\n",
            filediff={"file": f"{CWD}/cart.py"},
        ),
        tool("o3", "bash", {"command": "pytest test_cart.py"}, output="3 passed", exit=0),
    )
    db.commit()
    db.close()
    return str(path)


NOISE = "\n".join(f"step {n} of the build" for n in range(60))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("deploy --now", "{}"),
        ("deploy --now", NOISE + "\n{}\n" + NOISE + "\nerror: it failed"),
        ("deploy --now", NOISE + "\n{}"),
        ("cat notes", "{}\n" + NOISE + "\n{}"),
        ("{}", ""),
        (NOISE + "\n{}\n" + NOISE, ""),
    ],
    ids=["printed", "amid much", "at the end", "read", "in the command", "in a long command"],
)
def test_no_secret_of_hundreds_of_kinds_stays_of_a_command(command: str, output: str) -> None:
    """Of the lines that are left out, those must not be that made a password known as one."""
    texts = planted()
    missed = []
    for one in texts:
        call = Call("t1", "bash", {"command": command.replace("{}", one.text)})
        for status in (0, 1):
            result = Result(output.replace("{}", one.text), exit=status)
            for event in events_of(call, result, Setting("codex")):
                kept = _stored(event)
                if one.survivors("\0".join((kept.command, kept.output))):
                    missed.append(one.kind)
    assert len(texts) > 350
    assert len(set(missed)) <= 0.01 * len(texts), missed


@pytest.mark.parametrize(
    ("written", "host"),
    [
        (codex_rollout, "codex"),
        (gemini_chat, "gemini"),
        (qwen_chat, "qwen"),
        (copilot_session, "copilot"),
        (opencode_database, "opencode"),
    ],
)
def test_every_hosts_failing_command_edit_and_success_are_read_alike(
    written: Callable[[Path], str], host: str, tmp_path: Path
) -> None:
    path = written(tmp_path)

    events = work_of(path, host)

    commands = [event["work"] for event in events if event["kind"] == "command"]
    assert [(w["command"], w["exit"], w["output"]) for w in commands] == [
        ("pytest test_cart.py", 1, FAILED),
        ("pytest test_cart.py", 0, "3 passed"),
    ]
    edit = next(event["work"] for event in events if event["kind"] == "edit")
    assert edit == {"path": "cart.py", "action": "changed", "added": 1, "removed": 1, "names": ["total"]}  # fmt: skip
    assert all(event["host"] == host and event["id"] for event in events)
    turns = {event.get("turn") for event in events}
    assert turns == ({"m1/m1-0"} if host == "opencode" else {None} if host == "codex" else {"u-1"})


def test_codex_names_every_file_of_a_patch(tmp_path: Path) -> None:
    edits = [e for e in work_of(codex_rollout(tmp_path), "codex") if e["kind"] == "edit"]

    assert [(e["id"], e["work"]["path"], e["work"]["action"], e["work"]["added"]) for e in edits] == [
        ("c2", "cart.py", "changed", 1),
        ("c2/1", "new.py", "created", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [
        "apply_patch verification failed: Failed to read file to update cart.py",
        "Wall time: 0.0000 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nno",
    ],
)
def test_a_patch_that_codex_did_not_apply_is_no_edit(told: str) -> None:
    patch = "*** Begin Patch\n*** Update File: cart.py\n@@\n-a\n+b\n*** End Patch"
    in_a_command = Call("c1", "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"})
    for call in (in_a_command, Call("c2", "apply_patch", {"input": patch})):
        assert events_of(call, codex.result_of(told), Setting("codex")) == []


def test_a_command_that_gemini_saw_killed_has_failed_and_its_marks_are_not_printed_by_it() -> None:
    for told, failed, printed in (
        ("Output: (empty)\nSignal: 9\nProcess Group PGID: 7", True, ""),
        ("Output: half\nError: (none)\nExit Code: 0\nSignal: (none)", False, "half"),
        ("Output: all", False, "all"),
        ("Output: no\nExit Code: 3", True, "no"),
    ):
        marked = f"<untrusted_context>\n{told}\n</untrusted_context>"
        result = gemini.result_of(marked, failed=False)
        assert (result.failed, result.exit == 0, result.output) == (failed, not failed, printed)


def test_cursors_commands_have_no_ids_and_are_told_apart_by_their_order(tmp_path: Path) -> None:
    block = {"type": "tool_use", "name": "Shell", "input": {"command": "ls src/"}}
    line = {"role": "assistant", "message": {"content": [block]}}
    path = jsonl(tmp_path / "chat.jsonl", line, line)

    events = work_of(path, "cursor")

    assert [(e["text"], e["occurrence"], "id" in e) for e in events] == [
        ("ls src/", 0, False),
        ("ls src/", 1, False),
    ]


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("make", "/w/shop"),
        ("cd /w/till && make", "/w/till"),
        ("cd ../till; make", "/w/till"),
        ("cd 'a b' && make", "/w/shop/a b"),
        ('cd "/w/till"\nmake', "/w/till"),
        ("cd src", "/w/shop"),
        ("cd $HOME && make", "/w/shop"),
        ("cd - && make", "/w/shop"),
        ("cd 'open && make", "/w/shop"),
        ("cd", "/w/shop"),
        ("cdk deploy && cd /x && y", "/w/shop"),
    ],
)
def test_a_command_that_begins_with_cd_runs_there(command: str, directory: str) -> None:
    (event,) = events_of(
        Call("c", "bash", {"command": command}), Result(), Setting("codex", cwd="/w/shop")
    )

    assert event["work"]["cwd"] == directory  # type: ignore[index]
