"""Recall for people: results with ids, and `show N`, `pin N`, `forget N` by their order."""

import json
import re
import stat
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.window import Window

BOLD = "\x1b[1m"


@pytest.fixture
def told(home: ScratchHome, fresh_daemon: DaemonProcess) -> DaemonProcess:
    long = "\n".join(f"Line {n} is about something else entirely." for n in range(300))
    texts = [
        "the lynx hunts hares at dusk",
        f"{long}\nthe otter sleeps\n{long}",
        "the heron fishes",
    ]
    events = [{"text": text, "role": "user", "id": str(n)} for n, text in enumerate(texts)]
    fresh_daemon.call("capture_events", session_id="s", events=events)
    return fresh_daemon


def test_results_begin_with_an_id_and_a_number_opens_one_in_its_conversation(
    home: ScratchHome, told: DaemonProcess
) -> None:
    shown = Window(home, PAGER="cat").run("iai-mcp recall otter sleeps", "iai-mcp show 1")
    recalled, _, opened = shown.partition("Line 100 is")
    assert re.search(r"^\[[0-9a-f]{8}\] ", recalled, re.MULTILINE)
    assert "the otter sleeps" in recalled
    assert "Line 299" in opened


def test_what_is_shown_is_what_matched_and_ids_are_bold(
    home: ScratchHome, told: DaemonProcess
) -> None:
    coloured = Window(home, NO_COLOR="", TERM="xterm").run("iai-mcp recall otter sleeping")
    assert f"{BOLD}[" in coloured
    assert "the otter sleeps" in coloured
    assert "Line 250" not in coloured
    plain = Window(home).run("iai-mcp recall otter")
    assert "\x1b" not in plain
    assert "\x1b" not in home.command("recall", "otter", NO_COLOR="", TERM="xterm").stdout


def test_a_long_memory_opens_in_the_pager(home: ScratchHome, told: DaemonProcess) -> None:
    pager = home.path / "pager"
    pager.write_text('#!/bin/sh\necho "PAGED $(wc -l)"\n')
    pager.chmod(0o755)
    window = Window(home, PAGER=str(pager))
    assert "PAGED" in window.run("iai-mcp recall otter", "iai-mcp show 1")
    assert "PAGED" not in window.run("iai-mcp recall otter", "iai-mcp show 1 | cat")
    assert "PAGED" not in window.run("iai-mcp recall lynx", "iai-mcp show 1 --around 0")
    gone = Window(home, PAGER=str(home.path / "no-such-pager"))
    assert "Line 299" in gone.run("iai-mcp recall otter", "iai-mcp show 1")


def test_a_number_can_be_pinned_and_forgotten(home: ScratchHome, told: DaemonProcess) -> None:
    shown = Window(home).run(
        "iai-mcp recall lynx hares", "iai-mcp pin 1", "iai-mcp forget 1", typed="y\n"
    )
    assert "pinned" in shown
    assert "1 memory will go for good" in shown
    assert "forgot 1 memory" in shown
    left = json.loads(home.command("timeline", "--all", "--json").stdout)["records"]
    assert not any("lynx" in record["text"] for record in left)


def test_numbers_belong_to_the_terminal_they_were_shown_in(
    home: ScratchHome, told: DaemonProcess
) -> None:
    Window(home).run("iai-mcp recall lynx")
    other = Window(home).run("iai-mcp show 1")
    assert "no recall in this terminal" in other
    assert "lynx" not in other


def test_a_number_that_was_not_shown_is_a_clear_error(
    home: ScratchHome, told: DaemonProcess
) -> None:
    shown = Window(home).run("iai-mcp recall lynx", "iai-mcp show 99", "iai-mcp forget 0 --yes")
    assert "there is no hit 99" in shown
    assert "there is no hit 0" in shown


def test_only_ids_are_kept_where_only_their_owner_can_read(
    home: ScratchHome, told: DaemonProcess
) -> None:
    Window(home).run("iai-mcp recall lynx")
    kept = [path for path in (home.path / "run").rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert stat.S_IMODE(kept[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(kept[0].parent.stat().st_mode) == 0o700
    assert "lynx" not in kept[0].read_text()


@pytest.mark.parametrize("trouble", ["link", "pipe", "rubbish", "no runtime directory"])
def test_numbers_that_can_not_be_kept_or_read_never_break_recall(
    home: ScratchHome, told: DaemonProcess, trouble: str
) -> None:
    window = Window(home)
    run = home.path / "run"
    if trouble == "no runtime directory":
        window.environment["XDG_RUNTIME_DIR"] = str(home.path / "none")
        shown = window.run("iai-mcp recall lynx", "iai-mcp show 1")
        assert shown.count("the lynx hunts hares at dusk") == 2
        return
    break_it = {
        "link": 'rm "$f" && ln -s /etc/passwd "$f"',
        "pipe": 'rm "$f" && mkfifo "$f"',
        "rubbish": 'echo "[1, {}, \\"../x\\"]" > "$f"',
    }[trouble]
    shown = window.run(
        "iai-mcp recall lynx", f'f=$(find {run} -type f); {break_it}', "iai-mcp show 1",
        "iai-mcp recall lynx", "iai-mcp show 1",
    )  # fmt: skip
    assert "no recall in this terminal" in shown
    assert shown.count("the lynx hunts hares at dusk") == 3
    assert Path("/etc/passwd").stat().st_uid == 0
