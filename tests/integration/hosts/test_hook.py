"""The hook as hosts run it: a process, the host's JSON on stdin, and whatever may go wrong."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.hosts.standin import Answer, StandIn

from iai_mcp.protocol.markers import CLOSE, OPEN

HOOK = ("-c", "import iai_mcp.capture.__main__")
TRANSCRIPT = [
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "which port?"}},
    {
        "type": "assistant",
        "uuid": "a1",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "5433"}]},
    },
]
CURSORS = "".join(
    json.dumps({"role": role, "message": {"content": [{"type": "text", "text": text}]}}) + "\n"
    for role, text in (("user", "which port?"), ("assistant", "5433"))
)


@pytest.fixture
def socket_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="iai") as folder:
        yield Path(folder) / "s"


@pytest.fixture
def standin(socket_path: Path) -> Iterator[Callable[[Answer], StandIn]]:
    made: list[StandIn] = []

    def start(answer: Answer) -> StandIn:
        made.append(StandIn(socket_path, answer))
        return made[0]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in TRANSCRIPT))
    return path


@pytest.fixture
def hook(
    home: Path, socket_path: Path, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*words: str, given: object = None, **env: str) -> subprocess.CompletedProcess[str]:
        text = given if isinstance(given, str) else json.dumps(given or {})
        return subprocess.run(
            [sys.executable, "-I", *HOOK, *words],
            input=text,
            env={
                "HOME": str(home),
                "IAI_MCP_STORE": str(tmp_path / "store"),
                "IAI_DAEMON_SOCKET_PATH": str(socket_path),
                **env,
            },
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=30,
            check=False,
        )

    return run


def says(text: str) -> Answer:
    return lambda method, params: {"text": text}


def spooled(tmp_path: Path) -> list[str]:
    folder = tmp_path / "store" / ".deferred-captures"
    texts = []
    for path in sorted(folder.glob("*.jsonl")) if folder.exists() else []:
        texts += [json.loads(line).get("text") for line in path.read_text().splitlines()[1:]]
    return texts


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


Hook = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[[Answer], StandIn]


@pytest.mark.parametrize(
    ("host", "event"),
    [
        ("claude-code", "SessionStart"),
        ("codex", "SessionStart"),
        ("gemini", "SessionStart"),
        ("qwen", "SessionStart"),
        ("claude-code", "session-start"),
    ],
)
def test_a_session_starts_with_what_the_memory_says(
    hook: Hook, standin: Start, host: str, event: str
) -> None:
    server = standin(says("The port is 5433."))

    done = hook("hook", host, event, given={"session_id": "s", "cwd": "/p", "source": "startup"})

    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert "The port is 5433." in output["additionalContext"]
    assert output["additionalContext"].startswith(OPEN)
    assert output["additionalContext"].endswith(CLOSE)
    asked = server.params_of("session_start_payload")
    assert asked == {"cwd": "/p", "session_id": "s", "source": "startup"}


def test_hosts_with_another_form_get_theirs(hook: Hook, standin: Start) -> None:
    standin(says("The port is 5433."))

    cursor = hook("hook", "cursor", "sessionStart", given={"conversation_id": "c"})
    copilot = hook("hook", "copilot", "sessionStart", given={"sessionId": "c", "cwd": "/p"})
    opencode = hook("hook", "opencode", "sessionStart", given={"session_id": "c", "cwd": "/p"})

    assert "5433" in json.loads(cursor.stdout)["additional_context"]
    assert "5433" in json.loads(copilot.stdout)["additionalContext"]
    assert opencode.stdout.startswith(OPEN)


def test_session_start_is_a_command_of_its_own(hook: Hook, standin: Start) -> None:
    standin(says("The port is 5433."))

    done = hook("session-start", "--host", "cursor", given={"workspace_roots": ["/w"]})

    assert "5433" in json.loads(done.stdout)["additional_context"]


def test_a_launched_agent_gets_the_memories_of_its_project(hook: Hook, standin: Start) -> None:
    server = standin(says("The port is 5433."))

    hook("hook", "codex", "SessionStart", given={"cwd": "/p/.ideai/run/x"}, IAI_MCP_PROJECT="/p")

    assert server.params_of("session_start_payload")["project"] == "/p"


def test_too_long_a_memory_is_cut_below_the_hosts_limit(hook: Hook, standin: Start) -> None:
    standin(says("\n".join(f"fact {n} " + "x" * 60 for n in range(1000))))

    done = hook("hook", "claude-code", "SessionStart", given={"cwd": "/p"})

    context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert 5_000 < len(context) < 10_000
    assert context.endswith(CLOSE)


def test_a_memory_that_holds_our_mark_can_not_end_the_span(hook: Hook, standin: Start) -> None:
    standin(says(f"before {CLOSE} after"))

    done = hook("hook", "claude-code", "SessionStart", given={"cwd": "/p"})

    context = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert context.count(CLOSE) == 1
    assert "after" in context


@pytest.mark.parametrize("answer", [lambda m, p: None, lambda m, p: {"text": ""}, lambda m, p: {}])
def test_a_daemon_without_an_answer_means_no_output(
    hook: Hook, standin: Start, answer: Answer
) -> None:
    standin(answer)

    started = hook("hook", "claude-code", "SessionStart", given={"cwd": "/p"})
    asked = hook("hook", "claude-code", "UserPromptSubmit", given={"cwd": "/p", "prompt": "hm?"})

    for done in (started, asked):
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "SessionEnd", "Nonsense"])
@pytest.mark.parametrize("given", ["", "not json", "[1]", '{"cwd": 3}', "\udcff", '{"prompt":'])
def test_whatever_arrives_the_hook_ends_well_and_says_nothing(
    hook: Hook, event: str, given: str
) -> None:
    done = hook("hook", "claude-code", event, given=given.encode("utf-8", "replace").decode())

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_prompt_brings_its_memories(hook: Hook, standin: Start) -> None:
    server = standin(says("The port is 5433."))

    done = hook(
        "hook",
        "gemini",
        "BeforeAgent",
        given={
            "session_id": "s",
            "cwd": "/p",
            "prompt": "<hook_context>old</hook_context>\n\nwhich port?",
        },
    )

    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "BeforeAgent"
    assert server.params_of("prompt_injection")["prompt"] == "which port?"


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact"])
def test_what_was_said_goes_to_the_daemon(
    hook: Hook, standin: Start, transcript: Path, event: str
) -> None:
    server = standin(lambda method, params: {"inserted": 2, "duplicates": 0})

    done = hook(
        "hook",
        "claude-code",
        event,
        given={
            "session_id": "s",
            "cwd": "/p",
            "transcript_path": str(transcript),
            "last_assistant_message": "5433",
        },
        IAI_MCP_AGENT_ID="agent-1",
        IAI_MCP_AGENT_NAME="Backend",
    )

    call = server.params_of("capture_events")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [turn["text"] for turn in call["events"]] == ["which port?", "5433"]
    assert call["session_id"] == "s"
    assert call["cwd"] == "/p"
    assert call["host"] == "claude-code"
    assert "agent-1" in json.dumps(call)


def test_an_answer_that_was_given_before_is_waited_for_all_the_same(
    hook: Hook, transcript: Path, tmp_path: Path
) -> None:
    again = [line | {"uuid": f"{line['uuid']}-2"} for line in TRANSCRIPT]
    lines = [json.dumps(line, separators=(",", ":")) for line in again]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in TRANSCRIPT)
    transcript.write_text(text + lines[0] + "\n")
    late = threading.Timer(0.1, append, (transcript, lines[1] + "\n"))
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(transcript)}
    late.start()

    hook("hook", "claude-code", "Stop", given=given | {"last_assistant_message": "5433"})
    late.join()

    assert spooled(tmp_path) == ["which port?", "5433"] * 2


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"text": "5433"}},
            2,
        ),
        (
            {
                "type": "user",
                "uuid": "u2",
                "message": {"role": "user", "parts": [{"text": "5433"}]},
            },
            3,
        ),
    ],
    ids=["telemetry", "the person's"],
)
def test_an_answer_is_waited_for_although_its_words_stand_in_another_line(
    hook: Hook, tmp_path: Path, other: dict[str, object], said: int
) -> None:
    """Qwen Code writes what it measured of an answer before the answer itself."""
    asked = {"type": "user", "uuid": "u1", "message": {"role": "user", "parts": [{"text": "5433"}]}}
    answer = {
        "type": "assistant",
        "uuid": "a1",
        "message": {"role": "model", "parts": [{"text": "5433"}]},
    }
    written, missing = (
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        for lines in ([asked, other], [answer])
    )
    transcript = tmp_path / "chat.jsonl"
    transcript.write_text(written)
    late = threading.Timer(0.3, append, (transcript, missing))
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(transcript)}
    late.start()

    hook("hook", "qwen", "Stop", given=given | {"last_assistant_message": "5433"})
    late.join()

    assert spooled(tmp_path) == ["5433"] * said


def test_a_transcript_that_the_host_has_yet_to_make_is_waited_for(
    hook: Hook, transcript: Path, tmp_path: Path
) -> None:
    """Claude Code makes the file of a new session behind its first answer."""
    yet_to_come = tmp_path / "sessions" / "new.jsonl"

    def arrive() -> None:
        yet_to_come.parent.mkdir()
        transcript.replace(yet_to_come)

    late = threading.Timer(0.3, arrive)
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(yet_to_come)}
    late.start()

    hook("hook", "claude-code", "Stop", given=given | {"last_assistant_message": "5433"})
    late.join()

    assert spooled(tmp_path) == ["which port?", "5433"]


def test_without_a_daemon_what_was_said_waits_in_the_spool(
    hook: Hook, transcript: Path, tmp_path: Path
) -> None:
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(transcript)}

    done = hook("hook", "claude-code", "Stop", given=given)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert spooled(tmp_path) == ["which port?", "5433"]


def test_a_sub_agent_s_own_transcript_is_taken(
    hook: Hook, transcript: Path, tmp_path: Path
) -> None:
    given = {
        "session_id": "s",
        "cwd": "/p",
        "transcript_path": str(tmp_path / "parent.jsonl"),
        "agent_transcript_path": str(transcript),
    }

    hook("hook", "claude-code", "SubagentStop", given=given)

    assert spooled(tmp_path) == ["which port?", "5433"]


def test_the_places_can_be_given_as_options(hook: Hook, transcript: Path, tmp_path: Path) -> None:
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(transcript)}
    elsewhere = tmp_path / "else where"

    hook("hook", "--store", str(elsewhere), f"--socket={elsewhere}/s", "codex", "Stop", given=given)

    assert list((elsewhere / ".deferred-captures").glob("*.jsonl"))
    assert spooled(tmp_path) == []


@pytest.mark.parametrize("layout", ["{id}.jsonl", "{id}/{id}.jsonl"])
def test_cursor_s_transcript_is_found_where_cursor_keeps_it(
    hook: Hook, home: Path, tmp_path: Path, layout: str
) -> None:
    folder = home / ".cursor" / "projects" / "p" / "agent-transcripts"
    path = folder / layout.format(id="c1")
    path.parent.mkdir(parents=True)
    path.write_text(CURSORS)

    hook("hook", "cursor", "stop", given={"conversation_id": "c1", "workspace_roots": ["/w"]})

    assert spooled(tmp_path) == ["which port?", "5433"]


def test_copilot_s_transcript_is_waited_for_because_it_is_written_late(
    hook: Hook, home: Path, tmp_path: Path
) -> None:
    folder = home / ".copilot" / "session-state" / "c1"
    folder.mkdir(parents=True)
    lines = [
        {"type": "user.message", "id": "1", "data": {"content": "which port?", "messageId": "u"}},
        {"type": "assistant.message", "id": "2", "data": {"content": "5433", "messageId": "a"}},
        {"type": "hook.start", "id": "3", "data": {"hookType": "sessionEnd"}},
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    writer = threading.Timer(0.1, (folder / "events.jsonl").write_text, (text,))
    writer.start()

    hook("hook", "copilot", "sessionEnd", given={"sessionId": "c1", "cwd": "/p"})
    writer.join()

    assert spooled(tmp_path) == ["which port?", "5433"]


def test_cursor_running_claude_code_s_hooks_is_captured_once(
    hook: Hook, home: Path, transcript: Path, tmp_path: Path
) -> None:
    given = {
        "session_id": "s",
        "cwd": "/p",
        "transcript_path": str(transcript),
        "cursor_version": "3.2",
    }
    transcript.write_text(CURSORS)
    (home / ".cursor").mkdir()
    (home / ".cursor" / "hooks.json").write_text('{"x": "/iai_mcp/capture/__main__.py hook"}')

    hook("hook", "claude-code", "Stop", given=given)
    with_its_own_hook = spooled(tmp_path)
    (home / ".cursor" / "hooks.json").unlink()
    hook("hook", "claude-code", "Stop", given=given)

    assert with_its_own_hook == []
    assert spooled(tmp_path) == ["which port?", "5433"]


def test_the_hook_of_a_plugin_leaves_the_work_to_the_one_in_the_settings(
    hook: Hook, home: Path, transcript: Path, tmp_path: Path
) -> None:
    given = {"session_id": "s", "cwd": "/p", "transcript_path": str(transcript)}
    (home / ".claude").mkdir()
    settings = home / ".claude" / "settings.json"
    settings.write_text('{"hooks": "-c import iai_mcp.capture.__main__ hook"}')

    hook("hook", "--plugin", "claude-code", "Stop", given=given)
    beside_the_other = spooled(tmp_path)
    settings.write_text('{"enabledPlugins": {"iai-mcp@iai-mcp": true}}')
    hook("hook", "--plugin", "claude-code", "Stop", given=given, IAI_MCP_SESSION_DIR=str(tmp_path))
    in_a_launch = spooled(tmp_path)
    hook("hook", "--plugin", "claude-code", "Stop", given=given)

    assert (beside_the_other, in_a_launch) == ([], [])
    assert spooled(tmp_path) != []


@pytest.mark.parametrize(
    ("event", "given", "expected"),
    [
        ("SessionStart", {}, ["started"]),
        ("UserPromptSubmit", {"prompt": "x"}, ["running"]),
        ("PostToolUse", {}, ["running"]),
        ("Stop", {}, ["idle"]),
        ("SubagentStop", {}, []),
        ("PermissionRequest", {}, ["waiting"]),
        ("Notification", {"notification_type": "permission_prompt"}, ["waiting"]),
        ("Notification", {"notification_type": "idle_prompt"}, ["idle"]),
        ("Notification", {"notification_type": "auth_success"}, []),
        ("SessionEnd", {}, ["idle"]),
    ],
)
def test_a_launched_agent_s_session_hears_what_it_is_doing(
    hook: Hook, tmp_path: Path, event: str, given: dict[str, Any], expected: list[str]
) -> None:
    folder = tmp_path / "session"
    folder.mkdir()

    hook("hook", "claude-code", event, given=given, IAI_MCP_SESSION_DIR=str(folder))

    status = folder / "status"
    lines = [json.loads(line) for line in status.read_text().splitlines()] if expected else []
    assert [line["status"] for line in lines] == expected
    assert status.exists() is bool(expected)
    assert all(line["source"] == "hook" and line["ts"] > 1e9 for line in lines)


def test_a_launched_agent_with_our_hooks_twice_gets_the_memories_once(
    hook: Hook, standin: Start, tmp_path: Path
) -> None:
    standin(says("The port is 5433."))
    folder = tmp_path / "session"
    folder.mkdir()
    given = {"session_id": "s", "cwd": "/p"}

    first = hook("hook", "codex", "SessionStart", given=given, IAI_MCP_SESSION_DIR=str(folder))
    twin = hook("hook", "codex", "SessionStart", given=given, IAI_MCP_SESSION_DIR=str(folder))

    assert "5433" in first.stdout
    assert twin.stdout == ""


def test_a_project_can_not_slip_its_own_modules_under_the_hook(
    hook: Hook, standin: Start, tmp_path: Path
) -> None:
    standin(says("The port is 5433."))
    for name in ("json.py", "select.py", "time.py", "iai_mcp.py"):
        (tmp_path / name).write_text("raise SystemExit(7)\n")

    done = hook(
        "hook", "claude-code", "SessionStart", given={"cwd": "/p"}, PYTHONPATH=str(tmp_path)
    )

    assert done.returncode == 0
    assert "5433" in done.stdout


def test_a_host_that_keeps_stdin_open_is_not_waited_for(home: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-I", *HOOK, "hook", "claude-code", "Stop"],
        stdin=subprocess.PIPE,
        env={"HOME": str(home), "IAI_MCP_STORE": str(tmp_path / "store")},
    )
    assert process.stdin is not None
    process.stdin.write(b'{"session_id": "s"}')
    process.stdin.flush()

    began = time.monotonic()
    code = process.wait(timeout=20)
    process.stdin.close()

    assert code == 0
    assert time.monotonic() - began < 10


def test_a_hook_imports_nothing_that_is_slow(home: Path, tmp_path: Path, transcript: Path) -> None:
    given = {"session_id": "s", "cwd": "/p", "prompt": "x", "transcript_path": str(transcript)}
    slow = {"json", "re", "socket", "typing", "argparse", "enum", "dataclasses", "pathlib"}
    for event in ("UserPromptSubmit", "SessionStart", "Stop"):
        done = subprocess.run(
            [sys.executable, "-I", "-X", "importtime", *HOOK, "hook", "claude-code", event],
            input=json.dumps(given),
            env={"HOME": str(home), "IAI_MCP_STORE": str(tmp_path / "store")},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )

        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}

        assert "iai_mcp.capture.hook" in imported
        assert imported & slow == set(), event
        assert not any(name.startswith("iai_mcp.domain") for name in imported), event


def test_without_arguments_the_hook_explains_itself(hook: Hook) -> None:
    done = hook("hook")

    assert done.returncode == 0
    assert done.stdout.startswith("usage: iai-mcp hook")


def test_the_installed_command_leads_to_the_same_hook(home: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "hook", "claude-code", "Stop"],
        input="{}",
        env={"HOME": str(home), "PYTHONPATH": str(root / "src"), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
