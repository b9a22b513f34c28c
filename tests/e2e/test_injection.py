"""From a hook's stdin to `iai-mcp why`: a session is told what others said, and it can be looked up."""

import json

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome


def hook(home: ScratchHome, event: str, environment: str = "", **given: object) -> str:
    stdin = json.dumps({"cwd": str(home.path / "shop"), "hook_event_name": event, **given})
    done = home.command("hook", "claude-code", event, stdin=stdin, CLAUDE_ENV_FILE=environment)
    assert done.returncode == 0
    if not done.stdout:
        return ""
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])


def test_nothing_injected_is_said_so(home: ScratchHome) -> None:
    done = home.command("why")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        "nothing was injected into any session yet",
    )
    assert json.loads(home.command("why", "--json").stdout) == {"injections": []}


def test_a_session_is_told_and_people_can_ask_why(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    (home.path / "shop/.git").mkdir(parents=True)
    events = [
        {"text": "We decided to use Postgres for the shop.", "role": "user"},
        {"text": "Noted: Postgres it is.", "role": "assistant"},
    ]
    shop = str(home.path / "shop")
    fresh_daemon.call("capture_events", session_id="first", cwd=shop, events=events)

    told = hook(home, "SessionStart", session_id="second-session", source="startup")
    assert "We decided to use Postgres for the shop." in told
    assert hook(home, "UserPromptSubmit", session_id="second-session", prompt="yes") == ""

    def noted() -> list[dict[str, object]]:
        return list(json.loads(home.command("why", "second", "--json").stdout)["injections"])

    until(noted, "the injection is in the journal")
    (entry,) = noted()
    assert entry["session_id"] == "second-session"
    for people in (home.command("why"), home.command("why", "--project", shop)):
        assert people.returncode == 0
        assert "second-session" in people.stdout
        assert "what was asked: We decided to use Postgres for the shop." in people.stdout
    assert "Postgres" not in home.command("why", "third").stdout


def test_what_was_injected_is_not_captured_again(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    (home.path / "shop").mkdir()
    events = [{"text": "the heron is the mascot", "role": "user"}]
    shop = str(home.path / "shop")
    fresh_daemon.call("capture_events", session_id="first", cwd=shop, events=events)
    told = hook(home, "SessionStart", session_id="second", source="startup")
    assert "heron" in told
    transcript = home.path / "t.jsonl"
    line = {"type": "user", "uuid": "1", "message": {"role": "user", "content": f"{told}\nhello"}}
    transcript.write_text(json.dumps(line) + "\n")
    home.command("capture-transcript", "--no-spawn", "--session-id", "second", str(transcript))
    records = fresh_daemon.call("memory_timeline", session_id="second")["records"]
    assert [record["text"] for record in records] == ["hello"]


def test_a_forked_session_is_not_told_what_it_was_forked_from(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    shop = home.path / "shop"
    shop.mkdir()
    first, fork = (f"5b0c9f4e-1d2a-4c3b-9e8f-00000000000{n}" for n in (1, 2))
    said = ["We decided to use Postgres port 5433 for heron_shop.", "Noted: port 5433 it is."]

    def transcript(session: str, *more: str) -> str:
        """As the host forks: the same messages with their ids, under a new session and file."""
        lines = []
        for number, text in enumerate([*said, *more]):
            role = ("user", "assistant")[number % 2]
            lines.append(
                {
                    "type": role,
                    "message": {"role": role, "content": text},
                    "uuid": f"aaaaaaaa-0000-4000-8000-00000000000{number}",
                    "sessionId": session,
                    "cwd": str(shop),
                    "timestamp": f"2026-03-01T09:0{number}:00.500Z",
                }
            )
        path = home.path / f"{session}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
        return str(path)

    def texts(**asked: str) -> list[str]:
        told = fresh_daemon.call("memory_timeline", **asked)
        return [record["text"] for record in told["records"]]

    home.command("capture-transcript", transcript(first))
    told = hook(
        home,
        "SessionStart",
        session_id=fork,
        source="resume",
        transcript_path=transcript(fork),
    )
    assert "5433" not in told
    prompt = "which Postgres port does heron_shop use?"
    assert hook(home, "UserPromptSubmit", session_id=fork, prompt=prompt) == ""
    assert "5433" in hook(home, "SessionStart", session_id="third", source="startup")
    home.command("capture-transcript", transcript(fork, "and the ibis shop?"))
    assert texts() == [*said, "and the ibis shop?"]
    assert texts(session_id=first) == said
    assert texts(session_id=fork) == [*said, "and the ibis shop?"]


def test_the_first_prompt_of_a_fork_is_not_told_what_it_was_forked_from(
    fresh_daemon: DaemonProcess,
) -> None:
    """`claude --fork-session` starts under its parent's name, and has no transcript until it answers."""
    home = fresh_daemon.home
    (home.path / "shop").mkdir()
    parent, fork, other = (f"5b0c9f4e-1d2a-4c3b-9e8f-00000000000{n}" for n in (1, 2, 3))
    events = [
        {"text": "We decided to use Postgres port 5433 for heron_shop.", "role": "user"},
        {"text": "Noted: port 5433 it is.", "role": "assistant"},
    ]
    shop = str(home.path / "shop")
    fresh_daemon.call("capture_events", session_id=parent, cwd=shop, events=events)
    prompt = "which Postgres port does heron_shop use?"
    asked = {"cwd": shop, "prompt": prompt}

    place = f"{home.path}/.claude/session-env/{fork}/sessionstart-hook-0.sh"
    hook(home, "SessionStart", place, session_id=parent, source="resume")

    assert fresh_daemon.call("prompt_injection", session_id=fork, **asked)["text"] == ""
    assert "5433" in fresh_daemon.call("prompt_injection", session_id=other, **asked)["text"]


def test_after_compaction_a_session_is_told_its_own_work(fresh_daemon: DaemonProcess) -> None:
    """The host compacts, writes its summary, and starts the session anew under the same id."""
    home = fresh_daemon.home
    shop = home.path / "shop"
    shop.mkdir()
    session = "5b0c9f4e-1d2a-4c3b-9e8f-000000000009"
    said = [
        "why does the till jam?",
        "A coin was bent.",
        "This session is being continued. Oil it.",
    ]
    lines = [
        {
            "type": role,
            "message": {"role": role, "content": text},
            "uuid": f"bbbbbbbb-0000-4000-8000-00000000000{number}",
            "sessionId": session,
            "cwd": str(shop),
            "timestamp": f"2026-03-01T09:0{number}:00.500Z",
            "isCompactSummary": number == 2,
        }
        for number, (role, text) in enumerate(zip(("user", "assistant", "user"), said, strict=True))
    ]
    path = home.path / f"{session}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    given = {"session_id": session, "transcript_path": str(path)}

    told = hook(home, "SessionStart", source="compact", **given)

    assert '"why does the till jam?" → A coin was bent.' in told
    assert "Oil it" not in told
    roles = [
        one["role"] for one in fresh_daemon.call("memory_timeline", session_id=session)["records"]
    ]
    assert roles == ["user", "assistant", "summary"]
    assert "why does the till jam?" not in hook(home, "SessionStart", source="resume", **given)
