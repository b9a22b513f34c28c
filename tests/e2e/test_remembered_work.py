"""What an agent did in one session is known to the next one: commands, mendings, edits and why."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

ERROR = "cart.py:12: error: undefined name total_of"


@pytest.fixture(scope="module")
def shop() -> Iterator[tuple[DaemonProcess, Path]]:
    """A project in which somebody had a failing test mended, captured as hooks do it."""
    home = ScratchHome()
    running = DaemonProcess(home).start()
    try:
        project = home.path / "shop"
        project.mkdir()
        transcript = home.path / "0c9f4e1d-1d2a-4c3b-9e8f-0a1b2c3d4e5f.jsonl"
        transcript.write_text("".join(json.dumps(line) + "\n" for line in lines(str(project))))
        made = home.command("capture-transcript", "--host", "claude-code", str(transcript))
        assert json.loads(made.stdout)["inserted"] == 5, made.stdout
        yield running, project
    finally:
        running.stop()
        home.remove()


def lines(cwd: str) -> Iterator[dict[str, object]]:
    number = 0

    def line(kind: str, content: object, **more: object) -> dict[str, object]:
        nonlocal number
        number += 1
        return {
            "type": kind,
            "uuid": f"u-{number}",
            "cwd": cwd,
            "timestamp": f"2026-03-01T09:{number:02}:00Z",
            "message": {"role": kind, "content": content},
        } | more

    def call(mark: str, name: str, **given: object) -> dict[str, object]:
        block = {"type": "tool_use", "id": mark, "name": name, "input": given}
        return line("assistant", [block])

    def result(mark: str, said: str, *, error: bool = False, **more: object) -> dict[str, object]:
        block = {"type": "tool_result", "tool_use_id": mark, "content": said, "is_error": error}
        return line("user", [block], **more)

    yield line("user", "the basket adds up wrong, please mend it")
    test = {"command": "pytest tests/test_cart.py::test_total", "description": "Run the cart test"}
    yield call("t1", "Bash", **test)
    yield result("t1", f"Exit code 1\n{ERROR}\n1 failed", error=True)
    yield call("t2", "Edit", file_path=f"{cwd}/src/cart.py", old_string="a", new_string="b")
    hunk = {"lines": [" def total(cart):", "-    a", "+    b"]}
    changed = {"filePath": f"{cwd}/src/cart.py", "structuredPatch": [hunk]}
    yield result("t2", "done", toolUseResult=changed)
    yield call("t3", "Bash", **test)
    yield result("t3", "1 passed")
    yield line("assistant", [{"type": "text", "text": "The total is right again."}])


def told(daemon: DaemonProcess, *words: str) -> dict[str, list[dict[str, object]]]:
    done = daemon.home.command(*words, "--all", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def test_an_import_tells_what_was_said_from_what_was_done(shop: tuple[DaemonProcess, Path]) -> None:
    home = shop[0].home
    (history,) = map(str, home.path.glob("*.jsonl"))
    for how in ("--dry-run", "--again"):
        said = home.command("import", history, how).stdout
        assert "2 turns and 3 commands and edits" in said


def test_how_tells_the_command_that_worked(shop: tuple[DaemonProcess, Path]) -> None:
    daemon, _ = shop
    (command,) = told(daemon, "how", "run", "one", "test")["commands"]
    assert command["command"] == "pytest tests/test_cart.py::test_total"
    assert (command["exit"], command["uses"]) == (0, 2)
    assert command["request"] == "the basket adds up wrong, please mend it"
    assert str(command["last"]).startswith("2026-03-01T09:06")


def test_fix_tells_what_mended_an_error_whatever_line_it_stands_in_now(
    shop: tuple[DaemonProcess, Path],
) -> None:
    daemon, _ = shop
    (mending,) = told(daemon, "fix", "src/cart.py:77: error: undefined name total_of")["mendings"]
    assert mending["failure"] == ERROR
    assert mending["mended_by"] == "changed src/cart.py total"
    assert told(daemon, "fix", "disk quota exceeded on device")["mendings"] == []


def test_blame_and_changed_tell_the_edit_and_the_words_that_led_to_it(
    shop: tuple[DaemonProcess, Path],
) -> None:
    daemon, project = shop
    (edit,) = told(daemon, "blame", "src/cart.py")["edits"]
    assert (edit["path"], edit["action"], edit["added"], edit["removed"]) == (
        "src/cart.py",
        "changed",
        1,
        1,
    )
    assert edit["request"] == "the basket adds up wrong, please mend it"
    assert edit["host"] == "claude-code"
    assert told(daemon, "changed", "--since", "2026-03-01")["edits"] == [edit]
    assert told(daemon, "changed", "--since", "2026-03-02")["edits"] == []
    assert daemon.call("blame", path=str(project / "src/cart.py"))["edits"] == [edit]


def test_people_read_it_in_sentences(shop: tuple[DaemonProcess, Path]) -> None:
    daemon, _ = shop
    read = daemon.home.command("fix", "undefined name total_of", "--all").stdout
    assert "mended by:" in read
    assert "changed src/cart.py total" in read
    refused = daemon.home.command("changed", "--since", "whenever")
    assert refused.returncode == 1
    assert "is no time" in refused.stderr
    silent = daemon.home.command("fix", " ")
    assert silent.returncode == 1
    assert "give the error message" in silent.stderr


COMMAND = "pytest tests/test_cart.py::test_total"


def inputs(command: str, printed: str) -> dict[tuple[str, str], dict[str, object]]:
    """A failed command as each host's hook tells it."""
    shell = {"command": command}
    return {
        ("claude-code", "PostToolUseFailure"): {
            "tool_name": "Bash",
            "tool_input": shell,
            "error": f"Exit code 1\n{printed}",
        },
        ("codex", "PostToolUse"): {
            "tool_name": "Bash",
            "tool_input": shell,
            "tool_response": f"{printed}\n",
            "tool_use_id": "call_1",
        },
        ("gemini", "AfterTool"): {
            "tool_name": "run_shell_command",
            "tool_input": shell,
            "tool_response": {
                "llmContent": f"<untrusted_context>\nOutput: {printed}\nExit Code: 1\n"
                "Process Group PGID: 4711\n</untrusted_context>",
                "returnDisplay": printed,
            },
        },
    }


def ended(call: str, status: int) -> str:
    """The line with which Codex says how a command ended; its hook's input does not."""
    item = {"type": "CommandExecution", "id": call, "exit_code": status}
    event = {"type": "item_completed", "item": item}
    return json.dumps({"type": "event_msg", "payload": event}) + "\n"


def hooked(
    shop: tuple[DaemonProcess, Path],
    host: str,
    event: str,
    given: Mapping[str, object],
    session: str = "",
    status: int = 1,
) -> str:
    daemon, project = shop
    transcript = project.parent / "rollout-2026-03-02.jsonl"
    transcript.write_text(ended("call_1", status) + ended("call_2", 1 - status))
    place = {"cwd": str(project), "transcript_path": str(transcript)}
    told = {"session_id": session or f"other-{host}", **place, **given}
    done = daemon.home.command("hook", host, event, stdin=json.dumps(told))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("host", "event"), list(inputs("", "")), ids=lambda value: str(value).lower()
)
def test_an_agent_whose_command_fails_the_same_way_is_told_what_mended_it(
    shop: tuple[DaemonProcess, Path], host: str, event: str
) -> None:
    printed = "cart.py:80: error: undefined name total_of\n1 failed"
    given = inputs(COMMAND, printed)[host, event]
    sessions = (f"{host}-{number}" for number in range(100))
    heard: dict[str, str] = {}

    def is_told() -> bool:
        """Who is late stays silent: on a machine that is busy another session is told."""
        session = next(sessions)
        heard["session"], heard["said"] = session, hooked(shop, host, event, given, session)
        return bool(heard["said"])

    until(is_told, "an agent was told")
    told = json.loads(heard["said"])["hookSpecificOutput"]
    assert told["hookEventName"] == event
    assert "changed src/cart.py total" in told["additionalContext"]
    assert told["additionalContext"].startswith("<iai-mcp-memory>")
    assert hooked(shop, host, event, given, heard["session"]) == "", "said once"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (COMMAND, "cart.py:12: error: undefined name price_of"),
        ("mypy src", "cart.py:12: error: undefined name total_of"),
        (COMMAND, "1 failed in 0.2s"),
        (COMMAND, ""),
    ],
)
def test_another_failure_stays_without_a_word(
    shop: tuple[DaemonProcess, Path], command: str, printed: str
) -> None:
    for (host, event), given in inputs(command, printed).items():
        assert hooked(shop, host, event, given, "third") == ""


def test_success_other_places_and_the_knob_keep_it_silent(
    shop: tuple[DaemonProcess, Path],
) -> None:
    daemon, project = shop
    printed = "cart.py:80: error: undefined name total_of"
    params = {"command": COMMAND, "output": printed, "session_id": "fourth"}
    assert daemon.call("after_failure", cwd=str(project.parent), **params)["text"] == ""
    daemon.call("profile_set", knob="after_failure", value="off")
    assert daemon.call("after_failure", cwd=str(project), **params)["text"] == ""
    daemon.call("profile_set", knob="after_failure", value="on")
    mender = "0c9f4e1d-1d2a-4c3b-9e8f-0a1b2c3d4e5f"
    daemon.call("session_start_payload", cwd=str(project), session_id=mender, fork="forked")
    for knows_itself in (mender, "forked"):
        ours = {**params, "session_id": knows_itself}
        assert daemon.call("after_failure", cwd=str(project), **ours)["text"] == ""
    for unknown_or_success in ({"transcript_path": str(project)}, {}):
        given = inputs(COMMAND, printed)["codex", "PostToolUse"] | unknown_or_success
        assert hooked(shop, "codex", "PostToolUse", given, status=0) == ""
    assert daemon.call("after_failure", cwd=str(project), **params)["text"] != ""


def hits(shop: tuple[DaemonProcess, Path], cue: str, **params: object) -> list[Json]:
    daemon, project = shop
    return list(daemon.call("memory_recall", cue=cue, cwd=str(project), **params)["hits"])


@pytest.mark.parametrize(
    "cue",
    [
        "pytest tests/test_cart.py::test_total",
        "src/cart.py",
        "cart.py:99: error: undefined name total_of",
    ],
)
def test_recall_begins_with_work_where_the_cue_is_a_command_a_path_or_an_error(
    shop: tuple[DaemonProcess, Path], cue: str
) -> None:
    found = hits(shop, cue)
    assert found[0]["role"] == "tool"
    assert found[0]["request"] == "the basket adds up wrong, please mend it"
    assert any(hit["role"] != "tool" for hit in found), "what was said is there, too"


def test_what_was_done_takes_no_place_from_an_answer_that_asks_for_words(
    shop: tuple[DaemonProcess, Path],
) -> None:
    asked = "why is the basket wrong"
    assert hits(shop, asked) == hits(shop, asked, kind="said")
    assert all(hit["role"] != "tool" for hit in hits(shop, asked))


def test_kind_chooses_between_words_and_work(shop: tuple[DaemonProcess, Path]) -> None:
    did = hits(shop, "cart test", kind="did")
    assert {hit["kind"] for hit in did} == {"command", "edit"}
    assert all(hit["role"] != "tool" for hit in hits(shop, COMMAND, kind="said"))
    asked = hits(shop, "which command runs the cart test?")
    assert asked[0]["role"] != "tool"
    assert COMMAND in [hit["work"].get("command") for hit in asked if "work" in hit]
    daemon, _ = shop
    with pytest.raises(AssertionError, match="kind must be one of"):
        daemon.call("memory_recall", cue="x", kind="thought")


def test_a_timeline_folds_the_work_between_the_turns(shop: tuple[DaemonProcess, Path]) -> None:
    daemon, _ = shop
    first, last = daemon.call("memory_timeline", project="*")["records"]
    assert first["work"] == {
        "commands": 2,
        "failed": 1,
        "edits": 1,
        "looked": 0,
        "did": ["changed src/cart.py +1 −1", f"$ {COMMAND}"],
    }
    assert "work" not in last
    read = daemon.home.command("timeline", "--all").stdout
    assert "2 commands, 1 failed, 1 edit" in read
    assert f"$ {COMMAND}" in read


def test_a_hit_of_work_is_shown_with_what_it_printed(shop: tuple[DaemonProcess, Path]) -> None:
    daemon, _ = shop
    (failed,) = [hit for hit in hits(shop, ERROR) if hit.get("kind") == "command"][:1]
    shown = daemon.home.command("show", str(failed["id"])).stdout
    assert COMMAND in shown
    record = daemon.call("memory_show", id=failed["id"])["record"]
    assert record["request"] == "the basket adds up wrong, please mend it"
