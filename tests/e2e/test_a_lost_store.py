"""A store that was lost is never replaced by an empty one in silence, and its backups stay."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome

DAY = 86_400


def remember(home: ScratchHome, *texts: str) -> None:
    for text in texts:
        done = home.command("capture", text, "--json")
        assert json.loads(done.stdout)["status"] == "inserted", done


def said(home: ScratchHome) -> list[str]:
    shown = home.command("timeline", "--all", "--limit", "1000", "--json")
    assert shown.returncode == 0, shown.stdout
    return [record["text"] for record in json.loads(shown.stdout)["records"]]


def backups(home: ScratchHome) -> list[Path]:
    return sorted((home.store / "backups").glob("sleep-*.backup"))


def a_night_passes(home: ScratchHome) -> Path:
    """Sleep once, with every backup a day older than it was; the backup that was made."""
    for number, made in enumerate(backups(home)):
        before = made.stat().st_mtime - DAY
        older = made.with_name(f"sleep-20200101T00000{number}Z.backup")
        made.rename(older)
        os.utime(older, (before, before))
    slept = home.command("sleep", "--now", "--json")
    assert slept.returncode == 0, slept.stdout
    return backups(home)[-1]


def content(home: ScratchHome) -> dict[str, bytes]:
    """Every file that holds something to be lost."""
    kept = ("memory.db", "memory.db-wal", "key.json")
    found = [path for path in home.store.rglob("*") if path.is_file()]
    return {
        str(path): path.read_bytes()
        for path in found
        if path.name in kept or path.suffix in (".key", ".backup")
    }


def lose(home: ScratchHome, how: str) -> None:
    store = home.store / "memory.db"
    if how == "emptied":
        os.truncate(store, 0)
        return
    store.unlink()
    if how == "a link into nowhere":
        store.symlink_to(home.path / "unmounted" / "memory.db")
    elif how == "its log is left":
        (home.store / "memory.db-wal").write_bytes(b"what was said last")


LOSSES = ["deleted", "emptied", "a link into nowhere", "its log is left"]


@pytest.mark.parametrize("how", LOSSES)
def test_a_lost_store_is_refused_with_the_way_back_and_nothing_is_touched(
    home: ScratchHome, how: str
) -> None:
    remember(home, "the heron nests in april")
    made = a_night_passes(home)
    lose(home, how)
    before = content(home)

    for command in (["up"], ["recall", "heron"], ["capture", "more"], ["forget", "--query", "x"]):
        refused = home.command(*command, "--json")
        error = json.loads(refused.stdout)["error"]
        assert refused.returncode == 1
        assert f"iai-mcp restore {made}" in error["message"]
        assert "iai-mcp up --anew" in error["message"]
        assert "1 memory" in error["message"]
        assert "Traceback" not in refused.stderr
    assert content(home) == before
    assert not home.socket.exists()

    restored = home.command("restore", str(made), "--yes")
    assert restored.returncode == 0, restored.stderr
    assert said(home) == ["the heron nests in april"]


def test_without_a_backup_it_says_that_there_is_none(home: ScratchHome) -> None:
    remember(home, "the heron nests in april")
    lose(home, "deleted")
    message = home.command("up").stderr
    assert "no automatic backup" in message
    assert "iai-mcp up --anew" in message


@pytest.mark.parametrize("how", LOSSES)
def test_the_doctor_names_a_lost_store_and_how_to_get_it_back(home: ScratchHome, how: str) -> None:
    remember(home, "the heron nests in april")
    made = a_night_passes(home)
    lose(home, how)
    seen = home.command("doctor", "--json")
    assert seen.returncode == 1
    failed = [c for c in json.loads(seen.stdout)["checks"] if c["status"] == "FAIL"]
    assert [check["name"] for check in failed] == ["store"]
    assert str(made) in failed[0]["fix"]


def test_a_store_deleted_under_a_daemon_is_lost_when_that_ends(
    home: ScratchHome, fresh_daemon: DaemonProcess
) -> None:
    fresh_daemon.call("memory_capture", text="the heron nests in april", session_id="s")
    (home.store / "memory.db").unlink()
    # Who has it open reads on; whoever would have to open it is told.
    answer = fresh_daemon.rpc("memory_recall", cue="heron")
    assert "result" in answer or "can not be opened" in str(answer["error"])
    fresh_daemon.stop()
    refused = home.command("up")
    assert refused.returncode == 1
    assert "is gone" in refused.stderr
    assert not (home.store / "memory.db").exists()


def test_hooks_go_on_spooling_and_it_is_taken_in_after_the_restore(
    home: ScratchHome, tmp_path: Path
) -> None:
    remember(home, "the heron nests in april")
    made = a_night_passes(home)
    lose(home, "deleted")
    assert home.command("up").returncode == 1
    transcript = tmp_path / "t.jsonl"
    line = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "it is may"}}
    transcript.write_text(json.dumps(line) + "\n")
    hooked = home.command("capture-transcript", "--no-spawn", "--session-id", "s", str(transcript))
    assert json.loads(hooked.stdout)["status"] == "deferred"
    assert home.command("restore", str(made), "--yes").returncode == 0
    daemon = DaemonProcess(home).start()
    try:
        while daemon.ask({"type": "status"})["spool"]["waiting"]:
            continue
        assert sorted(said(home)) == ["it is may", "the heron nests in april"]
    finally:
        daemon.stop()


@pytest.mark.parametrize("how", LOSSES)
def test_beginning_anew_is_possible_on_purpose_and_gives_nothing_away(
    home: ScratchHome, how: str
) -> None:
    remember(home, "the heron nests in april")
    made = a_night_passes(home)
    lose(home, how)
    begun = home.command("up", "--anew", "--json")
    try:
        assert begun.returncode == 0, begun.stdout
        assert json.loads(begun.stdout)["records"] == 0
        remember(home, "a new beginning")
    finally:
        home.command("down")
    if how == "its log is left":
        kept = home.store.glob("memory.db.before-restore*-wal")
        assert [path.read_bytes() for path in kept] == [b"what was said last"]
    assert home.command("restore", str(made), "--yes").returncode == 0
    assert said(home) == ["the heron nests in april"]


def test_there_is_nothing_to_begin_anew_where_a_store_is(home: ScratchHome) -> None:
    remember(home, "the heron nests in april")
    refused = home.command("up", "--anew", "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["error"]["code"] == "ALREADY_EXISTS"
    assert said(home) == ["the heron nests in april"]


@pytest.mark.parametrize("left", ["nothing", "an empty file", "a killed start"])
def test_a_key_that_was_made_before_any_store_opens_one(home: ScratchHome, left: str) -> None:
    assert home.command("crypto", "init").returncode == 0
    if left == "an empty file":
        (home.store / "memory.db").touch(0o600)
    elif left == "a killed start":
        daemon = DaemonProcess(home)
        daemon.process = daemon.spawn()
        daemon.kill()
    remember(home, "the first thing said")
    assert said(home) == ["the first thing said"]


def test_a_home_without_a_key_is_a_fresh_one(home: ScratchHome) -> None:
    remember(home, "the heron nests in april")
    shutil.rmtree(home.store)
    assert said(home) == []


def test_the_last_backup_that_has_more_than_the_store_outlives_every_rotation(
    home: ScratchHome,
) -> None:
    remember(home, "one", "two", "three")
    good = a_night_passes(home).read_bytes()
    lose(home, "deleted")
    home.command("up", "--anew")
    home.command("down")
    remember(home, "one thing after the loss")
    for _ in range(4):
        (home.store / "memory.db").touch()
        a_night_passes(home)
        assert good in [made.read_bytes() for made in backups(home)]
    assert len(backups(home)) == 4


def test_a_backup_is_rotated_out_once_the_store_has_as_much_again(home: ScratchHome) -> None:
    remember(home, "one", "two")
    good = a_night_passes(home).read_bytes()
    lose(home, "deleted")
    home.command("up", "--anew")
    home.command("down")
    for night in range(4):
        remember(home, f"night {night}")
        a_night_passes(home)
    assert good not in [made.read_bytes() for made in backups(home)]
    assert len(backups(home)) == 3
