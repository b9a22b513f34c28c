"""`iai-mcp session …` as people and scripts use it."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.terminal_kit import Desk, eventually

from iai_mcp.domain.agents.terminal import SessionLabel
from iai_mcp.terminal import layout, text_input

in_memory = pytest.mark.skipif(
    not layout.tail_path("any"), reason="there is no file system in memory to keep last words in"
)

# A stand-in for an agent's interface: raw keys, bracketed paste, and an Enter that comes in
# the same burst as text is part of the text.
AGENT = r"""
import os, sys, termios, time, tty
tty.setraw(0)
os.write(1, b"\x1b[?2004h" if "paste" in sys.argv else b"")
os.write(1, b"> ")
text = b""
while True:
    burst = os.read(0, 65536)
    if burst == b"\r":
        os.write(1, b"\r\nsubmitted " + ascii(text.decode()).encode() + b"\r\n> ")
        text = b""
    else:
        text += burst.replace(b"\x1b[200~", b"[").replace(b"\x1b[201~", b"]").replace(b"\r", b"\\r")
"""


def agent(desk: Desk, name: str, project: str, *options: str) -> str:
    label = SessionLabel(
        agent_id=f"id-of-{name}", agent_name=name, profile_id="stand-in", project=project
    )
    code = desk.home / "agent.py"
    code.write_text(AGENT)
    session = desk.start("python3", str(code), *options, label=label)
    with desk.watching(session) as watcher:
        watcher.until(b"> ")
    return session


def answer(desk: Desk, *arguments: str, stdin: str = "") -> dict[str, Any]:
    done = desk.cli("session", *arguments, "--json", stdin=stdin)
    assert done.stderr == ""
    parsed = json.loads(done.stdout)
    assert isinstance(parsed, dict)
    return parsed


def test_list_tells_whose_session_it_is_and_its_last_line(desk: Desk) -> None:
    session = agent(desk, "Backend Dev", str(desk.home))
    shell = desk.start("sh", "-c", "echo first; echo last words; read x")
    with desk.watching(shell) as watcher:
        watcher.until(b"last words")

    listed = {entry["id"]: entry for entry in answer(desk, "list")["sessions"]}

    assert listed[session]["kind"] == {"agent": "id-of-Backend Dev"}
    assert listed[session]["agent_id"] == "id-of-Backend Dev"
    assert listed[session]["profile"] == "stand-in"
    assert listed[session]["project"] == str(desk.home)
    assert listed[session]["exit_code"] is None
    assert listed[shell]["kind"] == "shell"
    assert listed[shell]["last_line"] == "last words"
    assert listed[shell]["started"].endswith("Z")
    table = desk.cli("session", "list").stdout
    assert "Backend Dev" in table
    assert "last words" in table


@in_memory
def test_ended_sessions_stay_listed_with_their_code_until_pruned(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo it broke; exit 7")
    desk.ended(session)

    entry = answer(desk, "list")["sessions"][0]
    assert (entry["status"], entry["exit_code"]) == ("exited", 7)
    assert entry["last_line"] == "it broke"

    assert answer(desk, "prune") == {"pruned": [session]}
    assert answer(desk, "list") == {"sessions": []}
    assert list((desk.home / ".iai-mcp" / "s").iterdir()) == []


def test_prune_leaves_running_and_recent_sessions_alone(desk: Desk) -> None:
    running = desk.start("cat")
    ended = desk.start("true")
    desk.ended(ended)

    assert answer(desk, "prune", "--older", "1") == {"pruned": []}
    assert answer(desk, "prune") == {"pruned": [ended]}
    assert desk.record(running).alive


def test_send_submits_a_message_to_an_interface_with_bracketed_paste(desk: Desk) -> None:
    session = agent(desk, "ann", "/p", "paste")

    sent = answer(desk, "send", session, "two\nlines")

    assert sent == {
        "session": session,
        "delivered": True,
        "bytes": len("two\nlines") + 12 + 1,
        "bracketed_paste": True,
        "read": True,
    }
    with desk.watching(session) as watcher:
        watcher.until(rb"submitted '[two\nlines]'")


def test_send_marks_no_paste_where_none_was_asked_for(desk: Desk) -> None:
    session = agent(desk, "ann", "/p")

    sent = answer(desk, "send", session, "grüße")

    assert sent["bracketed_paste"] is False
    with desk.watching(session) as watcher:
        watcher.until(rb"submitted 'gr\xfc\xdfe'")


def test_a_message_waits_until_a_known_agent_program_has_its_prompt(desk: Desk) -> None:
    prompt = desk.home / "prompt"
    code = desk.home / "slow.py"
    wait = f"import os, time\nprint('loading')\nwhile not os.path.exists({str(prompt)!r}): time.sleep(0.01)\n"
    code.write_text(wait + AGENT)
    session = desk.start("python3", str(code), "paste", label=SessionLabel(host="claude-code"))
    # Young for as long as the test takes, however busy the machine is.
    young = desk.record(session)._replace(started_ms=2**53)
    sender = threading.Thread(target=text_input.deliver, args=(young, "hello"))

    sender.start()
    with desk.watching(session) as watcher:
        watcher.until(b"loading")
        assert sender.is_alive()
        prompt.touch()
        watcher.until(b"submitted '[hello]'")
    sender.join()


def test_a_message_can_not_break_out_of_its_paste(desk: Desk) -> None:
    session = agent(desk, "ann", "/p", "paste")

    answer(desk, "send", session, "a\x1b[201~b")

    with desk.watching(session) as watcher:
        watcher.until(rb"submitted '[ab]'")


def test_a_line_longer_than_a_terminal_keeps_is_refused(desk: Desk) -> None:
    session = desk.start("cat")

    refused = answer(desk, "send", session, "-", stdin="x" * 5000)

    assert refused["error"]["code"] == "INVALID"
    assert "4095" in refused["error"]["message"]


def test_text_without_enter_is_only_typed(desk: Desk) -> None:
    session = agent(desk, "ann", "/p")
    answer(desk, "send", session, "--no-enter", "first ")

    answer(desk, "send", session, "second")

    with desk.watching(session) as watcher:
        watcher.until(b"submitted 'first second'")


def test_sending_to_an_ended_session_says_so(desk: Desk) -> None:
    session = desk.start("true")
    desk.ended(session)

    assert answer(desk, "send", session, "hello")["error"]["code"] == "NOT_FOUND"


def test_broadcast_reaches_every_agent_of_the_project_and_nobody_else(desk: Desk) -> None:
    here, there = str(desk.home / "here"), str(desk.home / "there")
    os.mkdir(here)
    os.mkdir(there)
    ours = [agent(desk, name, here) for name in ("ann", "bob")]
    other = agent(desk, "eve", there)
    shell = desk.start("cat")

    sent = answer(desk, "broadcast", "pull main", "--project", here)["sent"]

    assert {result["session"] for result in sent} == set(ours)
    assert all(result["delivered"] for result in sent)
    for session in ours:
        with desk.watching(session) as watcher:
            watcher.until(b"submitted 'pull main'")
    assert desk.state(other).head == 2
    assert desk.state(shell).head == 0


def test_a_broadcast_names_the_agents_that_it_reached(desk: Desk) -> None:
    for name in ("ann", "bob"):
        agent(desk, name, str(desk.home))
    said = desk.cli("session", "broadcast", "pull main", "--project", str(desk.home)).stdout
    assert {line.split()[0] for line in said.splitlines()} == {"ann", "bob"}


def test_no_agent_waits_for_what_another_does_with_a_broadcast(desk: Desk) -> None:
    waits = "import os, time\nwhile not os.path.exists('second'): time.sleep(0.01)\ninput()"
    tells = "input(); open('second', 'w').close(); input()"
    for name, code in (("first", waits), ("second", tells)):
        label = SessionLabel(agent_id=name, agent_name=name, project=str(desk.home))
        desk.start("python3", "-I", "-S", "-c", code, label=label)

    sent = answer(desk, "broadcast", "go", "--project", str(desk.home), "--timeout", "20")["sent"]

    assert [result["read"] for result in sent] == [True, True]


def named_agent(desk: Desk, host: str, code: str) -> str:
    """An agent of a program that we know, and that has just drawn its screen."""
    project = str(desk.home)
    label = SessionLabel(agent_id="a", agent_name="ann", host=host, project=project)
    (desk.home / "agent.py").write_text(code)
    session = desk.start("python3", str(desk.home / "agent.py"), "paste", label=label)
    with desk.watching(session) as watcher:
        watcher.until(b"> ")
    return session


def told(desk: Desk, session: str, status: str) -> None:
    path = desk.home / ".iai-mcp" / "s" / session / "status"
    with open(path, "a", encoding="utf-8") as out:
        out.write(json.dumps({"status": status}) + "\n")


def test_a_broadcast_is_not_typed_into_a_question_that_a_program_asks_at_its_start(
    desk: Desk,
) -> None:
    session = named_agent(desk, "claude-code", AGENT)
    send = ("broadcast", "1", "--project", str(desk.home), "--timeout", "0.5")

    (sent,) = answer(desk, *send)["sent"]
    assert (sent["delivered"], sent["error"]["code"]) == (False, "BUSY")
    assert "iai-mcp session attach" in sent["error"]["message"]
    assert "not delivered" in desk.cli("session", *send).stdout
    with desk.watching(session) as watcher:
        told(desk, session, "started")
        assert answer(desk, *send)["sent"][0]["delivered"]
        assert watcher.until(b"submitted '[1]'").count(b"submitted") == 1


def test_a_broadcast_waits_until_codex_shows_its_cursor(desk: Desk) -> None:
    """Codex tells nothing before its first message, and hides the cursor while it asks."""
    answered = desk.home / "answered"
    question = (
        "import os, time\nos.write(1, b'\\x1b[?25lTrust this folder? > ')\n"
        f"while not os.path.exists({str(answered)!r}): time.sleep(0.01)\n"
        "os.write(1, b'\\x1b[?25h')\n"
    )
    named_agent(desk, "codex", question + AGENT)
    send = ("broadcast", "go", "--project", str(desk.home), "--timeout")

    assert not answer(desk, *send, "0.5")["sent"][0]["delivered"]
    answered.touch()
    assert answer(desk, *send, "5")["sent"][0]["delivered"]


def test_a_broadcast_is_not_typed_into_a_request_for_permission(desk: Desk) -> None:
    session = named_agent(desk, "claude-code", AGENT)
    told(desk, session, "waiting")

    (sent,) = answer(desk, "broadcast", "1", "--project", str(desk.home), "--timeout", "0.5")[
        "sent"
    ]

    assert not sent["delivered"]


def stopped(desk: Desk, session: str, answer: str) -> None:
    """The hook that an agent's program runs when it has answered."""
    run = desk.home / ".ideai" / "run" / "a"
    run.mkdir(parents=True, exist_ok=True)
    said = {"hook_event_name": "Stop", "cwd": str(run), "last_assistant_message": answer}
    environment = {
        "IAI_MCP_SESSION_DIR": str(desk.home / ".iai-mcp" / "s" / session),
        "IAI_MCP_AGENT_ID": "a",
        "IAI_MCP_PROJECT": str(desk.home),
    }
    done = desk.cli("hook", "claude-code", "Stop", stdin=json.dumps(said), **environment)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_list_shows_what_an_agent_said_last_and_not_its_programs_hints(desk: Desk) -> None:
    hint = "import os, time\nos.write(1, b'> \\r\\n? for shortcuts')\ntime.sleep(100)\n"
    session = named_agent(desk, "claude-code", hint)

    def line() -> str:
        return str(answer(desk, "list")["sessions"][0]["last_line"])

    told(desk, session, "started")
    assert line() == ""
    stopped(desk, session, 'I looked.\n\nAll 42 tests pass \u2013 "green".\n')
    assert line() == 'All 42 tests pass \u2013 "green".'
    stopped(desk, session, "x" * 100_000)
    assert line() == "x" * 200
    kept = [p for p in (desk.home / ".iai-mcp").rglob("*") if p.is_file()]
    assert not any(b"tests pass" in path.read_bytes() for path in kept)


def test_broadcast_to_nobody_is_an_error(desk: Desk) -> None:
    assert answer(desk, "broadcast", "hello")["error"]["code"] == "NOT_FOUND"


def test_logs_are_plain_text_and_raw_on_request(desk: Desk) -> None:
    session = desk.start("sh", "-c", r"printf '\033[31mred\033[m\r\n10%%\r99%%\n'; read x")
    with desk.watching(session) as watcher:
        watcher.until(b"99%")

    assert desk.cli("session", "logs", session).stdout == "red\n99%\n"
    assert answer(desk, "logs", session) == {"session": session, "text": "red\n99%\n"}
    assert answer(desk, "logs", session, "--lines", "1")["text"] == "99%\n"
    assert "\x1b[31mred" in answer(desk, "logs", session, "--raw")["text"]


@in_memory
def test_logs_of_an_ended_session_are_its_last_words(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo why it failed; exit 1")
    desk.ended(session)

    assert desk.cli("session", "logs", session).stdout == "why it failed\n"


def test_nothing_that_was_shown_is_on_disk(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo a-canary; read x; echo a-canary")
    with desk.watching(session) as watcher:
        watcher.until(b"a-canary")
    answer(desk, "list")
    answer(desk, "send", session, "a-canary")
    desk.ended(session)

    kept = {p: p.read_bytes() for p in desk.home.rglob("*") if p.is_file()}

    assert kept
    assert not [path for path, data in kept.items() if b"a-canary" in data]


def test_kill_returns_when_it_has_ended_and_says_how(desk: Desk) -> None:
    session = desk.start("sleep", "1000")

    killed = answer(desk, "kill", session)

    assert killed == {"session": session, "status": "exited", "exit_code": 129}
    assert answer(desk, "kill", session)["exit_code"] == 129


def test_a_session_is_found_by_its_agent_or_the_beginning_of_its_id(desk: Desk) -> None:
    session = agent(desk, "Backend Dev", "/p")

    for name in ("Backend Dev", "id-of-Backend Dev", session[:6]):
        assert answer(desk, "wait", name, "--until", "idle")["session"] == session


def test_an_agents_name_means_its_newest_running_session(desk: Desk) -> None:
    oldest, newest, gone = (agent(desk, "twin", "/p") for _ in range(3))
    desk.pty.kill(gone)

    assert answer(desk, "send", "twin", "hello")["session"] == newest
    desk.pty.kill(newest)
    assert answer(desk, "send", "twin", "hello")["session"] == oldest


def test_a_name_that_fits_several_agents_is_not_guessed(desk: Desk) -> None:
    for project in ("/p", "/a-clone-of-p"):
        agent(desk, "twin", project)

    assert answer(desk, "kill", "twin")["error"]["code"] == "INVALID"
    assert answer(desk, "kill", "nobody")["error"]["code"] == "NOT_FOUND"


def test_start_runs_any_program_in_a_session(desk: Desk) -> None:
    started = answer_start(desk, "sh", "-c", "echo from $0; read x", "here")

    assert started["kind"] == "shell"
    with desk.watching(started["id"]) as watcher:
        watcher.until(b"from here")


def answer_start(desk: Desk, *command: str) -> dict[str, Any]:
    done = desk.cli("session", "start", "--json", "--", *command)
    parsed = json.loads(done.stdout)["session"]
    assert isinstance(parsed, dict)
    return parsed


@pytest.mark.parametrize("arguments", [("send", "x", ""), ("send", "x", "--timeout")])
def test_wrong_usage_is_an_error_and_no_traceback(desk: Desk, arguments: tuple[str, ...]) -> None:
    done = desk.cli("session", *arguments)

    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stdout + done.stderr


def test_two_messages_sent_at_once_do_not_mix(desk: Desk) -> None:
    session = agent(desk, "ann", "/p", "paste")
    words = ["a" * 2000, "b" * 2000]
    senders = [
        threading.Thread(target=answer, args=(desk, "send", session, word)) for word in words
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    with desk.watching(session) as watcher:
        for word in words:
            watcher.until(f"submitted '[{word}]'".encode())
    eventually(lambda: desk.state(session).line_mode is False)


@in_memory
def test_last_words_are_not_left_in_a_place_of_somebody_else(desk: Desk) -> None:
    place = Path(layout.tail_path("any")).parent
    place.mkdir()
    place.chmod(0o777)
    session = desk.start("sh", "-c", "echo secret; exit 1")
    desk.ended(session)

    kept = list(place.iterdir())
    place.rmdir()

    assert kept == []
    assert desk.cli("session", "logs", session).stdout.strip() == ""


@in_memory
def test_forgetting_a_session_leaves_nothing_in_memory(desk: Desk) -> None:
    session = desk.start("sh", "-c", "echo words")
    desk.ended(session)
    place = Path(layout.tail_path("any")).parent
    assert [path.name for path in place.iterdir()] == [f"{session}.tail"]

    answer(desk, "prune")

    assert not place.exists()
