"""Backup and restore, export and import, moving to another machine: nothing lost, nothing doubled."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.daemon import DaemonProcess, Line
from tests.support.home import SOURCE, ScratchHome


@pytest.fixture
def other() -> Iterator[ScratchHome]:
    made = ScratchHome()
    yield made
    made.remove()


def said(home: ScratchHome) -> list[str]:
    shown = home.command("timeline", "--all", "--limit", "1000", "--json")
    assert shown.returncode == 0, shown.stderr
    return [record["text"] for record in json.loads(shown.stdout)["records"]]


def remember(home: ScratchHome, *texts: str) -> None:
    for text in texts:
        done = home.command("capture", text, "--json")
        assert json.loads(done.stdout)["status"] == "inserted", done


def test_a_backup_under_a_running_daemon_brings_everything_back(home: ScratchHome) -> None:
    home.command("up")
    remember(home, "one", "two")
    made = json.loads(home.command("backup", "b.bak", "--json").stdout)
    assert made["records"] == 2
    remember(home, "three")
    restored = home.command("restore", "b.bak", "--yes", "--json")
    assert json.loads(restored.stdout)["records"] == 2, restored
    assert said(home) == ["one", "two"]
    assert json.loads(home.command("status", "--json").stdout)["records"] == 2
    home.command("down")


def test_an_export_carries_what_no_longer_holds_and_what_is_pinned(
    home: ScratchHome, other: ScratchHome
) -> None:
    remember(home, "the port is 5432")
    (old,) = json.loads(home.command("timeline", "--all", "--json").stdout)["records"]
    home.command("up")
    line = Line(str(home.socket))
    params = {"id": old["id"], "new_fact": "the port is 5433"}
    line.ask({"jsonrpc": "2.0", "id": 1, "method": "memory_contradict", "params": params})
    line.close()
    (_, new) = json.loads(home.command("timeline", "--all", "--json").stdout)["records"]
    home.command("pin", new["id"])
    home.command("export", str(other.path / "all.jsonl"))
    assert json.loads(other.command("import", "all.jsonl", "--json").stdout)["inserted"] == 2
    answer = json.loads(other.command("recall", "which port?", "--json").stdout)
    assert [(hit["text"], hit["pinned"]) for hit in answer["hits"]] == [("the port is 5433", True)]
    assert [hit["text"] for hit in answer["anti_hits"]] == ["the port is 5432"]
    again = json.loads(other.command("import", "all.jsonl", "--json").stdout)
    assert (again["inserted"], again["duplicates"]) == (0, 2)
    home.command("down")


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_without_a_terminal_a_restore_has_to_be_confirmed(
    home: ScratchHome, as_json: list[str]
) -> None:
    remember(home, "one")
    home.command("backup", "b.bak")
    remember(home, "two")
    refused = home.command("restore", "b.bak", *as_json)
    assert refused.returncode == 1
    assert "--yes" in refused.stdout + refused.stderr
    assert said(home) == ["one", "two"]


def test_every_restore_keeps_what_was_there_before_it(home: ScratchHome) -> None:
    remember(home, "one")
    home.command("backup", "b.bak")
    remember(home, "two")
    home.command("restore", "b.bak", "--yes")
    remember(home, "three")
    home.command("restore", "b.bak", "--yes")
    assert said(home) == ["one"]
    (store,) = home.path.rglob("memory.db")
    first, second = sorted(store.parent.glob("memory.db.before-restore*"))
    for kept, words in ((first, ["one", "two"]), (second, ["one", "three"])):
        os.replace(kept, store)
        assert said(home) == words


def test_a_backup_can_not_be_read_without_the_key(home: ScratchHome) -> None:
    remember(home, "the wombat sleeps at noon")
    home.command("backup", "b.bak")
    content = (home.path / "b.bak").read_bytes()
    assert b"wombat" not in content
    assert (home.path / "b.bak").stat().st_mode & 0o777 == 0o600


def test_moving_to_another_machine_takes_the_backup_and_the_key(
    home: ScratchHome, other: ScratchHome
) -> None:
    remember(home, "moves along")
    home.command("backup", str(other.path / "b.bak"))
    refused = other.command("restore", "b.bak", "--yes", "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"]["code"] == "KEY_MISSING"
    (other.path / "key.txt").write_text(home.command("crypto", "export-key").stdout)
    moved = other.command("restore", "b.bak", "--yes", "--key-file", "key.txt", "--json")
    assert json.loads(moved.stdout)["records"] == 1, moved
    assert said(other) == ["moves along"]


def test_with_a_passphrase_the_backup_alone_is_enough(
    home: ScratchHome, other: ScratchHome
) -> None:
    phrase: dict[str, Any] = {"IAI_MCP_CRYPTO_PASSPHRASE": "four words are better"}
    home.command("capture", "under a passphrase", **phrase)
    home.command("backup", str(other.path / "b.bak"), **phrase)
    wrong = other.command(
        "restore", "b.bak", "--yes", "--json", IAI_MCP_CRYPTO_PASSPHRASE="other words"
    )
    assert json.loads(wrong.stdout)["error"]["code"] == "KEY_WRONG"
    assert other.command("restore", "b.bak", "--yes", **phrase).returncode == 0
    shown = other.command("timeline", "--all", "--json", **phrase)
    assert json.loads(shown.stdout)["records"][0]["text"] == "under a passphrase"


@pytest.mark.parametrize("harm", ["cut", "flip", "foreign"])
def test_a_bad_backup_is_refused_and_the_store_stays(home: ScratchHome, harm: str) -> None:
    remember(home, "stays")
    home.command("backup", "b.bak")
    path = home.path / "b.bak"
    content = bytearray(path.read_bytes())
    if harm == "cut":
        content = content[:-100]
    elif harm == "flip":
        content[-5000] ^= 255
    else:
        content = bytearray(b"just a text\n")
    path.write_bytes(content)
    refused = home.command("restore", "b.bak", "--yes", "--json")
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert said(home) == ["stays"]


def test_an_export_comes_in_again_exactly_once(home: ScratchHome, other: ScratchHome) -> None:
    remember(home, "first", "second 東京")
    home.command("export", str(other.path / "e.jsonl"))
    lines = (other.path / "e.jsonl").read_text().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[0])["iai-mcp-export"] == 1
    for _ in range(2):
        taken = other.command("import", "e.jsonl", "--json")
        assert taken.returncode == 0, taken.stderr
    assert said(other) == ["first", "second 東京"]
    home.command("import", str(other.path / "e.jsonl"), "--json")
    assert said(home) == ["first", "second 東京"]


def test_the_doctor_finds_a_healthy_home_healthy(home: ScratchHome) -> None:
    remember(home, "something")
    seen = home.command("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(seen.stdout)["checks"]}
    assert seen.returncode == 0, seen.stdout
    assert all(check["status"] != "FAIL" for check in checks.values())
    assert checks["integrity"]["status"] == "PASS"


def test_the_doctor_names_a_damaged_store(home: ScratchHome) -> None:
    remember(home, "something")
    store = home.store / "memory.db"
    store.write_bytes(b"\\0" * 4096 + store.read_bytes()[4096:])
    seen = home.command("doctor", "--json")
    assert seen.returncode == 1
    failed = [c for c in json.loads(seen.stdout)["checks"] if c["status"] == "FAIL"]
    assert any("damaged" in check["detail"] for check in failed)


def test_the_doctor_repairs_loose_permissions(home: ScratchHome) -> None:
    remember(home, "something")
    (home.store / "memory.db").chmod(0o644)
    before = {c["name"]: c for c in json.loads(home.command("doctor", "--json").stdout)["checks"]}
    assert before["permissions"]["status"] == "WARN"
    assert home.command("doctor", "--fix").returncode == 0
    assert (home.store / "memory.db").stat().st_mode & 0o777 == 0o600


def test_a_pinned_memory_says_so(home: ScratchHome) -> None:
    done = json.loads(home.command("capture", "keep this", "--json").stdout)
    pinned = home.command("pin", done["record_id"], "--json")
    assert json.loads(pinned.stdout)["pinned"] is True
    shown = json.loads(home.command("timeline", "--all", "--json").stdout)
    assert shown["records"][0]["pinned"] is True


def test_uninstalling_keeps_the_memories_unless_told_otherwise(home: ScratchHome) -> None:
    remember(home, "still here")
    for refused in (home.command("uninstall"), home.command("uninstall", "--json")):
        assert refused.returncode == 1
        assert "--yes" in refused.stdout + refused.stderr
    assert home.command("uninstall", "--json", "--yes").returncode == 0
    assert said(home) == ["still here"]
    refused = home.command("uninstall", "--data", "--json")
    assert refused.returncode == 1
    assert home.command("uninstall", "--data", "--yes", "--json").returncode == 0
    assert not home.store.exists()


def at_a_terminal(home: ScratchHome, *arguments: str, answers: str) -> str:
    """What a person sees who runs the command and answers its questions."""
    keyboard, terminal = pty.openpty()
    os.write(keyboard, answers.encode())
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", *arguments],
        env=home.environment,
        cwd=home.path,
        stdin=terminal,
        capture_output=True,
        text=True,
        timeout=60,
    )
    os.close(terminal)
    os.close(keyboard)
    return done.stdout + done.stderr


def test_forgetting_shows_what_would_go_and_asks(
    home: ScratchHome, fresh_daemon: DaemonProcess
) -> None:
    texts = ["the lynx hunts hares", "the heron fishes", *(f"lynx {n}" for n in range(12))]
    events = [{"text": text, "role": "user"} for text in texts]
    fresh_daemon.call("capture_events", session_id="s", events=events)
    dry = home.command("forget", "--query", "lynx", "--dry-run").stdout
    assert "user: the lynx hunts hares" in dry
    assert "and 3 more" in dry
    assert "13 memories would go" in dry
    refused = at_a_terminal(home, "forget", "--query", "lynx hunts", answers="n\n")
    assert "the lynx hunts hares" in refused
    assert "1 memory will go for good" in refused
    assert "nothing was forgotten" in refused
    assert len(said(home)) == 14
    assert "forgot 1 memory" in at_a_terminal(
        home, "forget", "--query", "lynx hunts", answers="y\n"
    )
    assert "the lynx hunts hares" not in said(home)


def test_uninstalling_at_a_terminal_asks_about_the_memories(home: ScratchHome) -> None:
    remember(home, "stays for now")
    assert "kept your memories" in at_a_terminal(home, "uninstall", answers="y\nn\n")
    assert said(home) == ["stays for now"]
    gone = at_a_terminal(home, "uninstall", answers="y\ny\n")
    assert "removed" in gone
    assert not home.store.exists()
    assert str(SOURCE.parent) in gone.splitlines()[-1], "what is left is the program, in its clone"


def test_a_daemon_that_does_not_answer_is_not_said_to_be_off(home: ScratchHome) -> None:
    started = json.loads(home.command("up", "--json").stdout)
    os.kill(started["pid"], signal.SIGSTOP)
    try:
        said_so = home.command("down")
    finally:
        os.kill(started["pid"], signal.SIGCONT)
    assert said_so.returncode == 1
    assert f"pid {started['pid']}" in said_so.stderr
    assert home.command("down").returncode == 0
