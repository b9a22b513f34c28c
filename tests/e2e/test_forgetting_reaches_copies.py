"""What is forgotten is gone from every copy of the store that is kept, whatever happens meanwhile."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench.canary import frames_in_log, holding
from tests.support.answers import Json
from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome

WORD = "qzxvjwk7"
PHRASE = f"the {WORD} password is hidden under the third stone"


def remember(home: ScratchHome, *texts: str) -> None:
    for text in texts:
        done = home.command("capture", text, "--session-id", "s", "--json")
        assert json.loads(done.stdout)["status"] == "inserted", done


def a_night_passes(home: ScratchHome) -> Path:
    """Sleep once, with every backup a day older than it was; the backup that was made."""
    for number, made in enumerate(backups(home)):
        before = made.stat().st_mtime - 86_400
        older = made.with_name(f"sleep-20200101T00000{number}Z.backup")
        made.rename(older)
        os.utime(older, (before, before))
    os.utime(home.store / "memory.db")
    slept = home.command("sleep", "--now", "--json")
    assert slept.returncode == 0, slept.stdout
    return backups(home)[-1]


def backups(home: ScratchHome) -> list[Path]:
    return sorted((home.store / "backups").glob("sleep-*.backup"))


def header(made: Path) -> Json:
    told: Json = json.loads(made.read_bytes().partition(b"\n")[0])
    return told


def said(home: ScratchHome) -> list[str]:
    shown = home.command("timeline", "--all", "--limit", "1000", "--json")
    assert shown.returncode == 0, shown.stdout
    return [record["text"] for record in json.loads(shown.stdout)["records"]]


def reached(daemon: DaemonProcess) -> bool:
    return bool(daemon.ask({"type": "status"})["forgetting"] == 0)


def set_aside(home: ScratchHome) -> Path:
    """A spool file of which a line was damaged and the others were stored."""
    shelf = home.store / ".deferred-captures" / "failed"
    shelf.mkdir(parents=True, mode=0o700, exist_ok=True)
    path = shelf / "s-1.jsonl"
    lines = [{"version": 1, "session_id": "t"}, {"text": PHRASE, "role": "user"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "half a li")
    return path


@pytest.fixture
def kept(home: ScratchHome) -> ScratchHome:
    """A home whose secret stands in the store, in three backups and in what two restores kept."""
    remember(home, "the heron nests in april", f"always mention that {PHRASE}")
    remember(home, f"always mention again that {PHRASE}")
    for _ in range(3):
        made = a_night_passes(home)
    for _ in range(2):
        assert home.command("restore", str(made), "--yes").returncode == 0
    places = holding(home.store, PHRASE)
    assert len([place for place in places if "backup" in place]) == 3
    assert len([place for place in places if "before-restore" in place]) == 2
    return home


def test_a_daemon_takes_it_out_of_every_copy(kept: ScratchHome) -> None:
    aside = set_aside(kept)
    daemon = DaemonProcess(kept).start()
    try:
        stored = daemon.call(
            "capture_events", session_id="t", events=[{"text": PHRASE, "role": "user"}]
        )
        assert stored["inserted"] == 1
        daemon.call("memory_consolidate", wait=True)
        told = kept.command("forget", "--query", WORD, "--yes")
        assert "forgot 3 memories" in told.stdout
        assert "5 copies of the store" in told.stdout
        until(lambda: reached(daemon), "nothing is left to be done")
        assert holding(kept.store, WORD) == []
        assert frames_in_log(kept.store) < 30
        assert "half a li" in aside.read_text()
        checks = {check["name"]: check for check in daemon.call("doctor")["checks"]}
        assert checks["forgetting"]["status"] == "PASS"
        (event,) = daemon.call("events_query", kind="copies_rewritten")["events"]
        assert event["data"] == {"rewritten": 5, "memories": 3, "not_reached": []}
    finally:
        daemon.stop()
    assert holding(kept.store, WORD) == []


def test_without_a_daemon_the_command_does_it_itself(kept: ScratchHome) -> None:
    told = kept.command("forget", "--query", WORD, "--yes", "--json")
    assert json.loads(told.stdout)["copies"] == {"rewritten": 5, "not_reached": []}
    assert holding(kept.store, WORD) == []


def test_a_rewritten_backup_is_a_backup_and_what_was_forgotten_stays_away(
    kept: ScratchHome,
) -> None:
    export = kept.path / "all.jsonl"
    kept.command("export", str(export))
    before = [(made.stat().st_mtime_ns, header(made)) for made in backups(kept)]
    kept.command("forget", "--query", WORD, "--yes")
    for made, (modified, was) in zip(backups(kept), before, strict=True):
        now = header(made)
        assert made.stat().st_mtime_ns == modified
        assert made.stat().st_mode & 0o777 == 0o600
        assert (now["created"], now["key"]) == (was["created"], was["key"])
        assert (was["records"], now["records"]) == (3, 1)
    assert not list((kept.store / "backups").glob(".*"))
    assert kept.command("restore", str(backups(kept)[0]), "--yes").returncode == 0
    assert said(kept) == ["the heron nests in april"]
    assert json.loads(kept.command("import", str(export), "--json").stdout)["skipped"] == 2
    assert said(kept) == ["the heron nests in april"]
    for copy in kept.store.glob("memory.db.before-restore*"):
        os.replace(copy, kept.store / "memory.db")
        assert said(kept) == ["the heron nests in april"]


def test_killed_at_any_moment_it_is_done_after_the_next_start(kept: ScratchHome) -> None:
    chance = random.Random(5)
    for number in range(6):
        daemon = DaemonProcess(kept).start()
        if number == 0:
            daemon.call("memory_forget", query=WORD)
        time.sleep(chance.random() * 1.5)  # anywhere in the work
        daemon.kill()
    daemon = DaemonProcess(kept).start()
    try:
        until(lambda: reached(daemon), "nothing is left to be done")
        assert holding(kept.store, WORD) == []
    finally:
        daemon.stop()
    for made in backups(kept):
        assert kept.command("restore", str(made), "--yes").returncode == 0
        assert said(kept) == ["the heron nests in april"]


def test_what_is_forgotten_by_age_can_come_back_until_a_person_forgets_it(
    home: ScratchHome,
) -> None:
    long_ago = "2001-01-01T00:00:00Z"
    home.command("capture", PHRASE, "--ts", long_ago)
    remember(home, "the heron nests in april")
    a_night_passes(home)
    home.command("knobs", "retention_days", "30")
    a_night_passes(home)
    assert said(home) == ["the heron nests in april"]
    assert holding(home.store, WORD), "for seven days a person can bring it back"
    home.command("forget", "--query", WORD, "--yes")
    assert holding(home.store, WORD) == []


def test_copies_that_can_not_be_reached_are_named(kept: ScratchHome) -> None:
    damaged, foreign = backups(kept)[:2]
    content = bytearray(damaged.read_bytes())
    content[-200_000:-100_000] = bytes(100_000)
    damaged.write_bytes(content)
    line, _, body = foreign.read_bytes().partition(b"\n")
    other = json.loads(line)
    other["key"]["check"], other["key"]["account"] = "0" * 32, "store-00000000.key"
    foreign.write_bytes(json.dumps(other).encode() + b"\n" + body)

    told = kept.command("forget", "--query", WORD, "--yes", "--json")
    copies = json.loads(told.stdout)["copies"]
    assert copies["rewritten"] == 3
    assert [str(path) in "".join(copies["not_reached"]) for path in (damaged, foreign)] == [
        True,
        True,
    ]
    checks = json.loads(kept.command("doctor", "--json").stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "forgetting"]
    assert check["status"] == "WARN"
    assert str(damaged) in check["detail"] + check["fix"]
    damaged.unlink()
    foreign.unlink()
    checks = json.loads(kept.command("doctor", "--json").stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "forgetting"]
    assert check["status"] == "PASS"


def test_a_copy_under_the_key_of_an_earlier_rotation_is_named(kept: ScratchHome) -> None:
    assert kept.command("crypto", "rotate").returncode == 0
    told = kept.command("forget", "--query", WORD, "--yes")
    assert "not reached" in told.stdout
    for made in backups(kept):
        assert str(made) in told.stdout


def test_several_forgettings_are_one_rewriting(kept: ScratchHome) -> None:
    daemon = DaemonProcess(kept).start()
    try:
        for record in daemon.call("memory_timeline", limit=10)["records"]:
            daemon.call("memory_forget", ids=[record["id"]])
        until(lambda: reached(daemon), "nothing is left to be done")
        events = daemon.call("events_query", kind="copies_rewritten")["events"]
        assert [event["data"]["memories"] for event in events] == [3]
    finally:
        daemon.stop()


def test_captures_that_wait_are_not_passed_over_in_silence(
    home: ScratchHome, tmp_path: Path
) -> None:
    remember(home, "the heron nests in april", PHRASE)
    transcript = tmp_path / "t.jsonl"
    line = {"type": "user", "sessionId": "t", "message": {"role": "user", "content": PHRASE}}
    transcript.write_text(json.dumps(line) + "\n")
    home.command("capture-transcript", "--no-spawn", "--session-id", "t", str(transcript))
    told = home.command("forget", "--query", WORD, "--yes")
    assert "forgot 1 memory" in told.stdout
    assert "not looked at: 1 capture in the spool" in told.stdout


def test_a_backup_that_is_a_link_is_named_and_what_it_leads_to_left_alone(
    home: ScratchHome,
) -> None:
    remember(home, "the heron nests in april", PHRASE)
    made = a_night_passes(home)
    elsewhere = home.path / "elsewhere"
    made.rename(elsewhere)
    made.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    told = home.command("forget", "--query", WORD, "--yes")
    assert str(made) in told.stdout
    assert elsewhere.read_bytes() == before


def test_where_the_disk_refuses_it_waits_and_the_doctor_says_so(home: ScratchHome) -> None:
    remember(home, "the heron nests in april", PHRASE)
    home.command("capture", "-", stdin="~~~ " * 1_000_000)
    made = a_night_passes(home)
    little = f"ulimit -f {made.stat().st_size // 2048}; exec {sys.executable} -m iai_mcp.cli "
    told = subprocess.run(
        ["bash", "-c", f"{little} forget --query {WORD} --yes"],
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert told.returncode == 0, told.stderr
    assert "follow later" in told.stdout
    assert holding(home.store, PHRASE) == [str(made.relative_to(home.store))]
    assert not list((home.store / "backups").glob(".*"))
    checks = json.loads(home.command("doctor", "--json").stdout)["checks"]
    (check,) = [check for check in checks if check["name"] == "forgetting"]
    assert check["status"] == "WARN"
    home.command("sleep", "--now")
    assert holding(home.store, WORD) == []
