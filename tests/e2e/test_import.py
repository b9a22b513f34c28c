"""`iai-mcp import`: existing history of any host, once, whatever is repeated or interrupted."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models import real_model
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.window import Window

from iai_mcp.adapters.embedding import catalogue

TOKEN = "ghp_" + "q7Xk2PzL9vRt4MwY8sBn3HdJ6fGc5TaE1uWo"


@pytest.fixture
def served(fresh_daemon: DaemonProcess) -> ScratchHome:
    """A home whose daemon runs."""
    return fresh_daemon.home


def claude(home: ScratchHome, session: str, *texts: str, day: int = 1, cwd: str = "") -> Path:
    """A history of Claude Code: user and assistant in turn, a minute apart."""
    path = home.path / ".claude/projects/-shop" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, text in enumerate(texts):
        role = ("user", "assistant")[number % 2]
        line = {
            "type": role,
            "uuid": f"{session}-{number}",
            "sessionId": session,
            "cwd": cwd or str(home.path / "shop"),
            "timestamp": f"2025-03-{day:02d}T10:{number % 60:02d}:00Z",
            "message": {"role": role, "content": text},
        }
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines) + "\n")
    return path


def codex(home: ScratchHome, session: str, text: str) -> Path:
    path = home.path / f".codex/sessions/2025/03/02/rollout-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = {"id": session, "cwd": str(home.path / "shop"), "timestamp": "2025-03-02T09:00:00Z"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    lines = [
        {"timestamp": "2025-03-02T09:00:00Z", "type": "session_meta", "payload": meta},
        {"timestamp": "2025-03-02T09:00:01Z", "type": "response_item", "payload": said},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_folder_of_copies_and_forks_is_stored_once(served: ScratchHome) -> None:
    first, fork = (f"5b0c9f4e-1d2a-4c3b-9e8f-00000000000{n}" for n in (1, 2))
    path = claude(served, first, "which port?", "5433.")
    lines = path.read_text().replace(f"{first}-", "aaaaaaaa-0000-4000-8000-00000000000")
    path.write_text(lines)
    own = json.dumps(
        {
            "type": "user",
            "uuid": "bbbbbbbb-0000-4000-8000-000000000001",
            "sessionId": fork,
            "timestamp": "2025-03-01T11:00:00Z",
            "message": {"role": "user", "content": "and the host?"},
        }
    )
    path.with_name(f"{fork}.jsonl").write_text(f"{lines.replace(first, fork)}{own}\n")
    for name in ("copy of it", "cccccccc-1d2a-4c3b-9e8f-000000000003"):
        path.with_name(f"{name}.jsonl").write_text(lines)

    assert imported(served)["inserted"] == 3
    for session, texts in (
        (first, ["which port?", "5433."]),
        (fork, ["which port?", "5433.", "and the host?"]),
    ):
        told = served.command("timeline", "--session-id", session, "--json").stdout
        assert [one["text"] for one in json.loads(told)["records"]] == texts
    assert imported(served, "--again")["inserted"] == 0


def test_a_history_in_another_language_suggests_a_model_once(served: ScratchHome) -> None:
    said = [f"kannst du bitte die Datei {n} für mich noch einmal lesen?" for n in range(15)]
    for number, prompt in enumerate(said):
        claude(served, f"deutsch-{number}", prompt)
    first = imported(served)
    assert "model install --model use-multilingual-v3" in str(first["suggestion"])
    checks = json.loads(served.command("doctor", "--json").stdout)["checks"]
    (language,) = [check for check in checks if check["name"] == "language"]
    assert (language["status"], language["fix"]) == (
        "WARN",
        "iai-mcp model install --model use-multilingual-v3",
    )
    assert "suggestion" not in imported(served, "--again")


def test_a_history_in_english_suggests_nothing(served: ScratchHome) -> None:
    said = [f"can you please read file {n} for me once again?" for n in range(60)]
    claude(served, "english", *said)
    assert "suggestion" not in imported(served)
    checks = json.loads(served.command("doctor", "--json").stdout)["checks"]
    assert [check["status"] for check in checks if check["name"] == "language"] == ["PASS"]


def at_a_terminal(home: ScratchHome, *words: str, answers: str) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(home.path / "shop")
        command = [sys.executable, "-m", "iai_mcp.cli", *words]
        os.execve(sys.executable, command, {**home.environment, "TERM": "dumb"})
    os.write(terminal, answers.encode())
    shown = b""
    try:
        while part := os.read(terminal, 65_536):
            shown += part
    except OSError:  # how a terminal ends
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return shown.decode()


def test_a_directory_that_is_gone_is_asked_about_once(served: ScratchHome) -> None:
    shop = served.path.resolve() / "shop"
    (shop / ".git").mkdir(parents=True)
    claude(served, "elsewhere", "the heron is the mascot", "noted.", cwd="/Users/somebody/shop")
    claude(served, "here", "hello", "hello.")
    assert imported(served)["lost_projects"] == [
        {"lost": "/Users/somebody/shop", "likely": str(shop)}
    ]
    first = at_a_terminal(served, "import", "--again", "--no-wait", answers="y\n")
    assert f"does it belong to {shop}?" in first
    told = served.command("timeline", "--project", str(shop), "--json").stdout
    assert "heron" in told
    assert "belong" not in at_a_terminal(served, "import", "--again", "--no-wait", answers="")


def imported(home: ScratchHome, *words: str) -> Json:
    done = home.command("import", "--json", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def counts(result: dict[str, object]) -> tuple[object, object, object]:
    return result["inserted"], result["duplicates"], result["unchanged"]


def texts(home: ScratchHome) -> list[str]:
    records = json.loads(home.command("timeline", "--json", "--project", "*").stdout)["records"]
    return [record["text"] for record in records]


def test_a_machine_without_history_says_so(home: ScratchHome) -> None:
    done = home.command("import")
    assert (done.returncode, done.stdout.strip()) == (
        0,
        "no history of any agent program was found here",
    )
    assert imported(home)["turns"] == 0


def test_the_history_of_every_host_is_found_and_imported_once(served: ScratchHome) -> None:
    home = served
    claude(home, "c1", "where is the db?", "On port 5433.")
    codex(home, "x1", "rename the table")
    first = imported(home)
    assert counts(first) == (3, 0, 0)
    assert sorted(first["hosts"]) == ["claude-code", "codex"]
    assert texts(home) == ["where is the db?", "On port 5433.", "rename the table"]
    assert counts(imported(home)) == (0, 0, 2)
    assert counts(imported(home, "--again")) == (0, 3, 0)


def test_histories_in_projects_and_of_other_programs_are_found_and_imported_once(
    served: ScratchHome,
) -> None:
    shop = served.path / "code" / "shop"
    written = {
        shop / ".aider.chat.history.md": "# aider chat started at 2026-03-01 09:30:00\n\n#### by aider\n",
        shop / ".specstory/history/a.md": "<!-- Generated by SpecStory -->\n\n_**User**_\n\nby specstory\n",
        served.path / ".kimi/sessions/x/s-1/context.jsonl": json.dumps({"role": "user", "content": "by kimi"}),
        served.path / ".local/share/amp/threads/T-1.json": json.dumps(
            {"id": "T-1", "messages": [{"role": "user", "messageId": 0, "content": "by amp"}]}
        ),
        served.path / ".local/share/goose/sessions/old.jsonl": json.dumps(
            {"role": "user", "created": 1767225600, "content": [{"type": "text", "text": "by goose"}]}
        ),
        served.path / ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/ui_messages.json": json.dumps(
            [{"ts": 1767225600000, "type": "say", "say": "text", "text": "by roo"}]
        ),
        served.path / ".cline/data/tasks/1/ui_messages.json": json.dumps(
            [{"ts": 1767225600000, "type": "say", "say": "text", "text": "by cline"}]
        ),
    }  # fmt: skip
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    shown = served.command("import", "--dry-run").stdout
    first = imported(served)
    again = imported(served, "--again")

    programs = ("aider", "amp", "cline", "goose", "kimi", "roo", "specstory")
    assert set(first["hosts"]) == set(programs)
    assert all(f"  {name:<12} 1 turns in 1 files" in shown for name in programs)
    assert (first["inserted"], again["inserted"], again["duplicates"]) == (7, 0, 7)
    assert first["problems"] == again["problems"] == []


def test_a_named_file_without_turns_is_named_as_such(served: ScratchHome) -> None:
    path = served.path / "notes.json"
    path.write_text(json.dumps({"projectHash": "x", "messages": []}))

    done = served.command("import", str(path), "--json")

    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith("no turns found, read as gemini")


def test_only_what_is_new_in_a_history_is_added(served: ScratchHome) -> None:
    home = served
    claude(home, "c1", "one", "two")
    claude(home, "c2", "other", "words")
    imported(home)
    claude(home, "c1", "one", "two", "three")
    assert counts(imported(home)) == (1, 2, 1)


def test_counting_changes_nothing(home: ScratchHome) -> None:
    claude(home, "c1", "one", "two")
    counted = imported(home, "--dry-run")
    assert (counted["turns"], counted["inserted"]) == (2, 0)
    assert not home.store.exists()
    assert "2 turns in 1 files" in home.command("import", "--dry-run").stdout


def test_hosts_and_dates_can_be_chosen(served: ScratchHome) -> None:
    home = served
    claude(home, "c1", "early", "answer", day=1)
    claude(home, "c2", "late", "answer too", day=20)
    codex(home, "x1", "rename the table")
    assert counts(imported(home, "--host", "codex")) == (1, 0, 0)
    assert counts(imported(home, "--host", "claude-code", "--since", "2025-03-10")) == (2, 0, 0)
    assert "late" in texts(home) and "early" not in texts(home)
    assert counts(imported(home))[0] == 2


def test_an_export_of_a_chat_service_is_filed_under_its_name(served: ScratchHome) -> None:
    home = served
    export = home.path / "conversations.json"
    message = {
        "id": "m1",
        "author": {"role": "user"},
        "create_time": 1740000000.0,
        "content": {"content_type": "text", "parts": ["plan my trip to Oslo"]},
    }
    tree = {
        "root": {"id": "root", "children": ["m1"]},
        "m1": {"id": "m1", "parent": "root", "message": message},
    }
    export.write_text(json.dumps([{"conversation_id": "t1", "title": "Oslo", "mapping": tree}]))
    assert counts(imported(home, str(export))) == (1, 0, 0)
    record = json.loads(home.command("timeline", "--json", "--project", "chatgpt").stdout)[
        "records"
    ][0]
    assert (record["text"], record["project"]) == ("plan my trip to Oslo", "chatgpt")


def test_secrets_and_unwanted_places_stay_out(served: ScratchHome) -> None:
    home = served
    (home.path / "diary").mkdir()
    (home.path / "diary/.iai-ignore").touch()
    claude(home, "c1", f"use {TOKEN}", "ok")
    claude(home, "c2", "dear diary", "yes?", cwd=str(home.path / "diary"))
    result = imported(home)
    assert (result["inserted"], result["skipped"]) == (2, 2)
    assert texts(home) == ["use [secret:github-token]", "ok"]
    # Once the place is welcome, its file is read although it did not change.
    (home.path / "diary/.iai-ignore").unlink()
    assert counts(imported(home)) == (2, 0, 1)


def test_what_was_forgotten_is_not_brought_back(served: ScratchHome) -> None:
    home = served
    claude(home, "c1", "embarrassing words", "forget it")
    imported(home)
    found = json.loads(home.command("recall", "--json", "embarrassing").stdout)["hits"][0]
    home.command("forget", "--json", "--yes", found["id"])
    assert "embarrassing words" not in texts(home)
    imported(home, "--again")
    assert "embarrassing words" not in texts(home)


def test_what_was_captured_live_is_not_imported_again(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    transcript = claude(home, "c1", "one", "two")
    home.command("capture-transcript", "--no-spawn", "--session-id", "c1", str(transcript))
    assert counts(imported(home)) == (0, 2, 0)
    assert texts(home) == ["one", "two"]


def test_a_store_that_was_lost_is_filled_again(home: ScratchHome) -> None:
    claude(home, "c1", "one", "two")
    imported(home)
    kept = (home.store / "imported.json").read_text()
    for file in home.store.iterdir():
        if file.is_file():
            file.unlink()
    (home.store / "imported.json").write_text(kept)
    assert counts(imported(home)) == (2, 0, 0)


def test_files_that_can_not_be_read_are_named_and_the_rest_is_imported(home: ScratchHome) -> None:
    claude(home, "c1", "one", "two")
    broken = home.path / "broken.json"
    broken.write_text('{"mapping": ')
    result = imported(home, str(broken), str(home.path / ".claude"))
    assert (result["inserted"], result["errors"]) == (2, 1)
    assert str(broken) in str(result["problems"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--host", "nobody"], "claude-code"),
        (["/not/there.jsonl"], "/not/there.jsonl"),
        (["--since", "soon"], "--since"),
        (["export.zip"], "unpack"),
    ],
)
def test_what_can_not_be_done_is_said(home: ScratchHome, words: list[str], complaint: str) -> None:
    done = home.command("import", "--json", *words)
    assert done.returncode == 1
    assert complaint in json.loads(done.stdout)["error"]["message"]


def test_an_import_that_was_killed_goes_on(fresh_daemon: DaemonProcess) -> None:
    home = fresh_daemon.home
    for number in range(30):
        claude(home, f"c{number}", *(f"turn {n} of session {number}" for n in range(100)))
    victim = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.cli", "import", "--json"],
        env=home.environment,
        cwd=home.path,
        stdout=subprocess.DEVNULL,
    )
    until(lambda: fresh_daemon.call("topology")["records"] > 300, "some turns are stored")
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    result = imported(home)
    assert 0 < int(str(result["inserted"])) < 3000
    assert fresh_daemon.call("topology")["records"] == 3000


def test_who_stops_an_import_is_told_that_it_goes_on_from_there(
    fresh_daemon: DaemonProcess,
) -> None:
    home = fresh_daemon.home
    for number in range(30):
        claude(home, f"c{number}", *(f"turn {n} of session {number}" for n in range(100)))
    stopped = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.cli", "import"],
        env=home.environment,
        cwd=home.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: fresh_daemon.call("topology")["records"] > 300, "some turns are stored")
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate(timeout=30)[1]
    assert stopped.returncode == 130
    assert "what was imported stays" in said
    assert "iai-mcp import" in said


def test_people_see_a_bar_and_programs_do_not(home: ScratchHome) -> None:
    for number in range(40):
        claude(home, f"c{number}", *(f"turn {n} of session {number}" for n in range(40)))
    reader, writer = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.cli", "import"],
        env=home.environment,
        cwd=home.path,
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
    )
    os.close(writer)
    seen = b""
    try:
        while part := os.read(reader, 4096):
            seen += part
    except OSError:
        pass  # Linux: the other side of the terminal is closed
    os.close(reader)
    out = done.communicate(timeout=60)[0]
    assert done.returncode == 0
    assert b"%" in seen and b"claude-code" in seen
    assert "1,600 new" in out
    assert home.command("import").stderr == ""


def test_whoever_stops_watching_the_vectors_is_told_that_they_go_on(home: ScratchHome) -> None:
    shutil.copytree(real_model(), home.store / "models" / catalogue.DEFAULT.model_id)
    # No two passages alike: what is embedded once is not embedded again.
    hunts = ["".join(f"Lynx {n} hunts hare {m} at dusk. " for m in range(100)) for n in range(600)]
    claude(home, "long", *hunts)
    home.command("up")
    master, slave = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.cli", "import"],
        env=home.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=slave,
        cwd=home.path,
    )
    os.close(slave)
    shown = b""
    while b"words alone" not in shown:
        shown += os.read(master, 65_536)
    watching.send_signal(signal.SIGINT)
    said, _ = watching.communicate(timeout=30)
    os.close(master)
    assert watching.returncode == 0
    assert b"go on in the daemon" in said
    home.command("down")


def test_without_a_model_nobody_waits_for_vectors(served: ScratchHome) -> None:
    claude(served, "short", "the lynx hunts", "hares")
    assert "iai-mcp model install" in Window(served, TERM="xterm").run("iai-mcp import")
