"""`iai-mcp agent launch` with real terminals and real files."""

import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.agents.conftest import Machine

from iai_mcp.terminal.pty import HolderPty, find

WaitFor = Callable[[Callable[[], bool]], None]

# Writes down how it was started, then stays until it is told to go.
TELLER = f"""#!{sys.executable}
import json, os, sys
told = {{"args": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ),
        "size": list(os.get_terminal_size())}}
with open(os.environ["TOLD"] + ".tmp", "w") as file:
    json.dump(told, file)
os.rename(os.environ["TOLD"] + ".tmp", os.environ["TOLD"])
sys.stdin.readline()
"""


@pytest.fixture
def told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = machine.root / "told.json"
    monkeypatch.setenv("TOLD", str(path))
    return path


def agent(machine: Machine, name: str, profile: str, context: str = "I am here.\n") -> str:
    path = machine.root / "persona.md"
    path.write_bytes(context.encode())
    created = machine.json(
        "agent", "create", name, "--profile", profile, "--context-file", str(path)
    )["agent"]
    assert isinstance(created, dict)
    return str(created["id"])


def profile(machine: Machine, command: str, injection: str, *more: str) -> str:
    added = machine.json(
        *("profile", "add", "--name", f"p {injection}", "--command", command),
        *("--injection", injection, *more),
    )["profile"]
    assert isinstance(added, dict)
    return str(added["id"])


def session_of(result: dict[str, object]) -> dict[str, object]:
    session = result["session"]
    assert isinstance(session, dict)
    return session


def launched_once(machine: Machine, name: str, *more: str) -> dict[str, object]:
    """Launched, and ended again."""
    result = machine.json("agent", "launch", name, "--detach", *more)
    machine.json("session", "kill", str(session_of(result)["id"]))
    return result


def listed(machine: Machine) -> list[dict[str, object]]:
    sessions = machine.json("session", "list")["sessions"]
    assert isinstance(sessions, list)
    return sessions


def test_a_claude_agent_starts_in_its_run_directory_with_its_memory_wired(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    ada = agent(machine, "Ada", "claude-code", "I like proofs.\r\n")
    result = machine.json("agent", "launch", "ada", "--detach", "--rows", "40", "--cols", "132")
    wait_for(told.exists)
    seen = json.loads(told.read_text())

    run_dir = machine.project / ".ideai" / "run" / ada
    session = session_of(result)
    assert session["kind"] == {"agent": ada}
    assert session["status"] == "running"
    assert result["run_dir"] == str(run_dir) == seen["cwd"]
    assert result["command"] == "claude"
    assert seen["args"] == result["args"]
    assert seen["size"] == [132, 40]
    args = seen["args"]
    settings = json.loads(Path(args[args.index("--settings") + 1]).read_text())
    servers = json.loads(Path(args[args.index("--mcp-config") + 1]).read_text())
    assert args[args.index("--add-dir") + 1] == str(machine.project)
    assert {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} <= set(settings["hooks"])
    assert servers["mcpServers"]["iai-mcp"]["env"]["IAI_MCP_AGENT_ID"] == ada
    document = (run_dir / "CLAUDE.md").read_bytes()
    assert document.endswith(b"I like proofs.\r\n")
    assert str(machine.project).encode() in document
    added = result["env"]
    assert isinstance(added, dict)
    assert added.items() <= seen["env"].items()
    assert {
        "IAI_MCP_AGENT_ID": ada,
        "IAI_MCP_AGENT_NAME": "Ada",
        "IAI_MCP_PROJECT": str(machine.project),
        "IAI_MCP_SESSION_ID": session["id"],
        "DISABLE_AUTOUPDATER": "1",
    }.items() <= added.items()
    assert "HOME" not in added


def test_everything_in_the_run_directory_is_private_and_nothing_is_at_the_root(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("gemini", TELLER)
    gem = agent(machine, "Gem", "gemini")
    result = machine.json("agent", "launch", "gem")
    wait_for(told.exists)

    run_dir = machine.project / ".ideai" / "run" / gem
    for path in [run_dir, *run_dir.rglob("*")]:
        allowed = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == allowed, path
    written = {str(p) for p in run_dir.rglob("*") if p.is_file()}
    assert written == set(result["files"])
    assert sorted(p.name for p in machine.project.iterdir()) == [".git", ".ideai"]


def test_the_program_gets_the_environment_of_the_person_who_launches(
    machine: Machine, told: Path, wait_for: WaitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.program("codex", TELLER)
    agent(machine, "Cody", "codex")
    monkeypatch.setenv("MY_OWN", "value")
    machine.json("agent", "launch", "cody", "--detach")
    wait_for(told.exists)
    seen = json.loads(told.read_text())

    assert seen["env"]["MY_OWN"] == "value"
    assert seen["env"]["PATH"] == os.environ["PATH"]


def test_nothing_private_is_on_a_command_line(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    program = machine.program("teller", TELLER)
    secret = "xyzzy-private-persona"
    for number, injection in enumerate(("flag:--context", "env:CONTEXT")):
        by = profile(machine, str(program), injection)
        made = agent(machine, f"A{number}", by, f"{secret}\n")
        told.unlink(missing_ok=True)
        result = machine.json("agent", "launch", f"a{number}", "--detach")
        wait_for(told.exists)
        seen = json.loads(told.read_text())
        context = machine.project / ".ideai" / "run" / made / "context.md"
        assert str(context) in (*seen["args"], *seen["env"].values())
        assert context.read_text().endswith(f"{secret}\n")
        assert secret not in json.dumps([seen["args"], result["args"], result["env"]])


def test_stdin_gets_exactly_the_persona_and_no_file(machine: Machine, wait_for: WaitFor) -> None:
    heard = machine.root / "heard"
    program = machine.program(
        "listener",
        f"#!{sys.executable}\n"
        "import os\n"
        "while True:\n"
        f"    open({str(heard)!r}, 'ab').write(os.read(0, 65536))\n",
    )
    text = "first line\nsecond é\n" + "x" * 4095 + "\nthe end\n"
    made = agent(machine, "Ann", profile(machine, str(program), "stdin"), text)
    result = machine.json("agent", "launch", "ann", "--detach")

    wait_for(lambda: heard.exists() and len(heard.read_bytes()) >= len(text.encode()))
    assert heard.read_bytes() == text.encode()
    assert result["files"] == []
    assert list((machine.project / ".ideai" / "run" / made).iterdir()) == []


def test_a_line_that_a_terminal_would_cut_is_refused(machine: Machine) -> None:
    agent(machine, "Ann", profile(machine, "cat", "stdin"), "ok\n" + "x" * 4096 + "\n")
    error = machine.error("agent", "launch", "ann", "--detach")

    assert error["code"] == "INVALID"
    assert "line 2" in error["message"]
    assert listed(machine) == []


def test_print_only_shows_everything_and_touches_nothing(machine: Machine) -> None:
    made = agent(machine, "Cody", "codex")
    before = machine.tree()
    result = machine.json("agent", "launch", "cody", "--print-only", "--prompt", "- go", "--trust")
    run_dir = machine.project / ".ideai" / "run" / made
    args = result["args"]
    assert isinstance(args, list)
    assert result["session"] is None
    assert result["command"] == "codex"
    assert args[-2:] == ["--", "- go"]
    assert result["files"] == [str(run_dir / "AGENTS.md")]
    contents = result["contents"]
    assert isinstance(contents, dict)
    assert contents[str(run_dir / "AGENTS.md")].endswith("I am here.\n")
    assert machine.run("agent", "launch", "cody", "--print-only")[0] == 0

    assert machine.tree() == before
    assert listed(machine) == []


def test_what_is_missing_is_said_and_leaves_nothing(machine: Machine) -> None:
    agent(machine, "Kim", "kimi")
    before = machine.tree()
    missing = machine.error("agent", "launch", "kim")
    assert missing["code"] == "NOT_INSTALLED"
    assert "kimi" in missing["message"]
    assert "install it with" in missing["message"]
    assert machine.error("agent", "launch", "ghost")["code"] == "NOT_FOUND"

    manifest = machine.project / ".ideai" / "agents.json"
    manifest.write_text(manifest.read_text().replace('"kimi"', '"gone"'))
    assert machine.error("agent", "launch", "kim")["code"] == "NOT_FOUND"
    manifest.write_text(manifest.read_text().replace('"gone"', '"kimi"'))
    assert machine.tree() == before
    assert listed(machine) == []


def test_a_program_that_can_not_be_executed_leaves_nothing(machine: Machine) -> None:
    made = agent(machine, "Claude", "claude-code")
    machine.program("claude", "#!/no/such/interpreter\n")
    error = machine.error("agent", "launch", "claude", "--detach")

    assert error["code"] in ("NOT_INSTALLED", "PTY")
    assert not (machine.project / ".ideai" / "run" / made).exists()
    assert [s for s in listed(machine) if s["status"] != "exited"] == []


def test_a_run_directory_that_can_not_be_made_stops_the_launch(machine: Machine) -> None:
    machine.program("claude", TELLER)
    made = agent(machine, "Ada", "claude-code")
    in_the_way = machine.project / ".ideai" / "run" / made
    in_the_way.write_text("a file where the directory should be")
    error = machine.error("agent", "launch", "ada", "--detach")

    assert error["code"] == "IO"
    assert made in error["message"]
    assert listed(machine) == []
    assert in_the_way.read_text() == "a file where the directory should be"


def test_a_running_agent_is_listed_and_deleted_only_by_force(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    ada = agent(machine, "Ada", "claude-code")
    session = session_of(machine.json("agent", "launch", "ada", "--detach"))
    wait_for(told.exists)
    entry = next(s for s in listed(machine) if s["id"] == session["id"])
    assert (entry["agent_id"], entry["profile"]) == (ada, "claude-code")
    assert entry["project"] == str(machine.project)

    refused = machine.error("agent", "delete", "ada")
    assert refused["code"] == "BUSY"
    assert str(session["id"]) in refused["message"]
    machine.json("agent", "delete", "ada", "--force")
    assert not any(s.status.alive for s in HolderPty().all())
    assert [p.name for p in (machine.project / ".ideai/run").iterdir()] == [".lock"]
    assert list((machine.store / "launches").iterdir()) == []


def test_pruning_clears_what_a_merge_left_behind(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    ada = agent(machine, "Ada", "claude-code")
    session = session_of(machine.json("agent", "launch", "ada", "--detach"))
    wait_for(told.exists)
    machine.json("session", "kill", str(session["id"]))
    (machine.project / ".ideai" / "agents.json").unlink()
    run_dir = machine.project / ".ideai" / "run" / ada

    assert machine.json("agent", "prune", "--dry-run")["run_dirs"] == [str(run_dir)]
    found = machine.json("agent", "prune")
    assert (found["removed"], found["contexts_without_agent"]) == (1, ["agents/ada.md"])
    assert not run_dir.exists()
    assert (machine.project / ".ideai" / "agents" / "ada.md").exists()


def test_trust_is_given_once_and_remembered_for_the_project(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("codex", TELLER)
    agent(machine, "Cody", "codex")
    untrusted = launched_once(machine, "cody")
    assert "trust_level" not in json.dumps(untrusted["args"])
    assert "--trust" in json.dumps(untrusted["notes"])

    launched_once(machine, "cody", "--trust")
    later = machine.json("agent", "launch", "cody", "--detach")
    trusted = json.dumps(later["args"])
    assert "trust_level" in trusted
    assert "trusted_hash" in trusted


def test_claude_s_own_file_learns_of_trust_only_then_and_keeps_the_rest(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    theirs = machine.root / "home" / ".claude.json"
    before = '{\n    "theme": "dark",\n    "projects": {"/other": {"x": 1}}\n}\n'
    theirs.write_text(before)
    launched_once(machine, "ada")
    assert theirs.read_text() == before

    machine.json("agent", "launch", "ada", "--detach", "--trust")
    after = json.loads(theirs.read_text())
    assert after["projects"][str(machine.project)] == {"hasTrustDialogAccepted": True}
    assert (after["theme"], after["projects"]["/other"]) == ("dark", {"x": 1})


def test_resuming_takes_up_the_conversation_that_the_hooks_reported(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    assert machine.error("agent", "resume", "ada")["code"] == "NOT_FOUND"
    session = session_of(machine.json("agent", "launch", "ada", "--detach"))
    wait_for(told.exists)
    seen = json.loads(told.read_text())
    assert "--continue" in json.dumps(machine.json("agent", "resume", "ada", "--print-only"))

    _fire_session_start(machine, seen, cwd=seen["cwd"], conversation="c0ffee")
    _fire_session_start(machine, seen, cwd=str(machine.project), conversation="elsewhere")
    machine.json("session", "kill", str(session["id"]))
    args = machine.json("agent", "resume", "ada", "--detach")["args"]
    assert isinstance(args, list)
    assert args[args.index("--resume") + 1] == "c0ffee"
    assert "--session-id" not in args
    kept = list((machine.store / "launches").iterdir())
    assert sorted(path.suffix for path in kept) == [".conversation", ".json"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def _lost(machine: Machine, session: str, wait_for: WaitFor) -> None:
    """The session's holder is killed."""
    holder = find(session).holder
    assert holder is not None
    os.kill(holder, signal.SIGKILL)
    wait_for(lambda: find(session).status == "lost")


def _fire(
    machine: Machine,
    told: Path,
    conversation: str,
    event: str = "SessionStart",
    **more: str,
) -> None:
    """What the program that was launched last does, in its run directory."""
    seen = json.loads(told.read_text())
    _fire_session_start(
        machine, seen, cwd=seen["cwd"], conversation=conversation, event=event, **more
    )


def test_a_lost_session_is_resumed_with_its_very_conversation(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    lost = str(session_of(machine.json("agent", "launch", "ada", "--detach"))["id"])
    wait_for(told.exists)
    _fire(machine, told, "c0ffee", source="startup")
    _fire(machine, told, "c0ffee", "UserPromptSubmit")
    _lost(machine, lost, wait_for)
    later = str(session_of(launched_once(machine, "ada"))["id"])

    # The later session told nothing of its conversation, so nothing is known of it.
    for which in ([], ["--session", later]):
        plain = machine.json("agent", "resume", "ada", *which, "--print-only")
        assert "c0ffee" not in json.dumps(plain["args"])
        assert "--continue" in json.dumps(plain["args"])
        assert "did not tell which conversation" in json.dumps(plain["notes"])
    _, table, _ = machine.run("session", "list")
    assert f"--session {lost[:12]}  # Ada" in table
    args = machine.json("agent", "resume", "ada", "--session", lost[:12], "--detach")["args"]
    assert isinstance(args, list)
    assert args[args.index("--resume") + 1] == "c0ffee"

    # Killed again before a hook has spoken: it is known which conversation was resumed.
    again = next(s for s in listed(machine) if s["status"] == "running")
    _lost(machine, str(again["id"]), wait_for)
    assert "c0ffee" in json.dumps(machine.json("agent", "resume", "ada", "--print-only")["args"])
    assert machine.error("agent", "resume", "ada", "--session", "none")["code"] == "NOT_FOUND"


def test_a_session_in_which_nothing_was_said_starts_anew(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    """A program has no conversation to resume until somebody has said something."""
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    for name in ("first", "second"):
        told.unlink(missing_ok=True)
        session = str(session_of(machine.json("agent", "launch", "ada", "--detach"))["id"])
        wait_for(told.exists)
        _fire(machine, told, name, source="startup")
        if name == "first":
            _fire(machine, told, name, "UserPromptSubmit")
        _lost(machine, session, wait_for)

    plan = machine.json("agent", "resume", "ada", "--print-only")
    args = json.dumps(plan["args"])
    assert "--session-id" in args
    assert "--resume" not in args
    assert "nothing was said" in json.dumps(plan["notes"])


def _fire_session_start(
    machine: Machine,
    seen: dict[str, object],
    *,
    cwd: str,
    conversation: str,
    event: str = "SessionStart",
    **more: str,
) -> None:
    """Run the configured hook the way the host would."""
    import subprocess

    args, environment = seen["args"], seen["env"]
    assert isinstance(args, list)
    assert isinstance(environment, dict)
    settings = json.loads(Path(args[args.index("--settings") + 1]).read_text())
    hook = settings["hooks"][event][0]["hooks"][0]
    given = {"session_id": conversation, "cwd": cwd, "hook_event_name": event, **more}
    subprocess.run(
        [hook["command"], *hook["args"]],
        input=json.dumps(given),
        env=environment,
        text=True,
        check=True,
        timeout=30,
    )


def test_a_launch_says_that_the_daemon_is_down_and_works(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    result = machine.json("agent", "launch", "ada")
    wait_for(told.exists)

    assert "iai-mcp up" in json.dumps(result["notes"])


def test_attaching_needs_a_terminal(machine: Machine) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")

    assert "terminal" in machine.error("agent", "launch", "ada", "--attach")["message"]
    assert listed(machine) == []


def test_an_agent_that_runs_is_not_started_twice(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    session = session_of(machine.json("agent", "launch", "ada", "--detach"))

    for action in ("launch", "resume"):
        refused = machine.error("agent", action, "ada", "--detach")
        assert refused["code"] == "BUSY"
        assert f"iai-mcp session attach {session['id']}" in refused["message"]
    assert "--again" in machine.error("agent", "launch", "ada", "--detach")["message"]
    assert [s["id"] for s in listed(machine)] == [session["id"]]
    assert "runs already" in json.dumps(machine.json("agent", "launch", "ada", "--print-only"))


def test_of_launches_at_the_same_time_one_wins(machine: Machine, told: Path) -> None:
    machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    racing = [machine.start("agent", "launch", "ada", "--detach", "--json") for _ in range(4)]
    said = [json.loads(each.communicate(timeout=60)[0]) for each in racing]

    assert sorted("error" in one for one in said) == [False, True, True, True]
    assert {one["error"]["code"] for one in said if "error" in one} == {"BUSY"}
    assert len(listed(machine)) == 1


def test_a_second_one_has_a_name_a_persona_and_a_run_directory_of_its_own(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    machine.program("claude", TELLER)
    ada = agent(machine, "Ada", "claude-code", "I like proofs.\n")
    machine.json("agent", "launch", "ada", "--detach", "--again")
    assert len(machine.json("agent", "list")["agents"]) == 1

    names = []
    for _ in range(2):
        second = machine.json("agent", "launch", "ada", "--detach", "--again")
        shown = second["agent"]
        assert isinstance(shown, dict)
        names.append((shown["name"], shown["slug"]))
        assert shown["id"] != ada
        assert second["run_dir"] != str(machine.project / ".ideai" / "run" / ada)
        assert (Path(str(second["run_dir"])) / "CLAUDE.md").read_text().endswith("I like proofs.\n")
    assert names == [("Ada 2", "ada-2"), ("Ada 3", "ada-3")]


def test_a_second_one_that_can_not_start_leaves_nothing(
    machine: Machine, told: Path, wait_for: WaitFor
) -> None:
    program = machine.program("claude", TELLER)
    agent(machine, "Ada", "claude-code")
    machine.json("agent", "launch", "ada", "--detach")
    wait_for(told.exists)
    before = machine.tree()
    program.write_text("no program")
    program.chmod(0o755)

    assert machine.error("agent", "launch", "ada", "--detach", "--again")["code"] == "PTY"
    left = {path for path in machine.tree() if "/s/" not in path}
    assert left == {path for path in before if "/s/" not in path}


@pytest.mark.parametrize("command", ["agent", "session"])
def test_no_secret_of_ours_reaches_what_is_launched(
    machine: Machine,
    told: Path,
    wait_for: WaitFor,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    for name in ("IAI_MCP_CRYPTO_PASSPHRASE", "IAI_MCP_HTTP_TOKEN", "IAI_MCP_SOME_SECRET"):
        monkeypatch.setenv(name, "correct horse")
    monkeypatch.setenv("IAI_MCP_DETACH_KEY", "C-a")
    program = machine.program("claude", TELLER)
    if command == "agent":
        agent(machine, "Ada", "claude-code")
        machine.json("agent", "launch", "ada", "--detach")
    else:
        machine.run("session", "start", "--detach", "--json", "--", str(program))
    wait_for(told.exists)

    seen = json.loads(told.read_text())["env"]
    assert "correct horse" not in json.dumps(seen)
    assert seen["IAI_MCP_DETACH_KEY"] == "C-a"
    assert seen["IAI_MCP_SESSION_ID"]


@pytest.mark.parametrize("program", ["git", "editor", "version"])
def test_no_secret_of_ours_reaches_other_programs(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setenv("IAI_MCP_CRYPTO_PASSPHRASE", "correct horse")
    seen = machine.root / "seen"
    script = f"#!/bin/sh\nenv > {seen}\necho 1.2.3\n"
    agent(machine, "Ada", "claude-code")
    if program == "git":
        machine.program("git", script)
        machine.run("agent", "create", "Ben", "--profile", "shell", "--worktree", "--json")
    elif program == "editor":
        monkeypatch.setenv("EDITOR", str(machine.program("edit", script)))
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setattr("iai_mcp.cli.output.is_terminal", lambda: True)
        machine.run("agent", "edit", "ada")
    else:
        machine.program("claude", script)
        machine.json("profile", "detect")

    assert "PATH=" in seen.read_text()
    assert "correct horse" not in seen.read_text()
