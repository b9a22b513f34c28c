"""What somebody meets who has just installed this: nothing to stumble over, nothing that has to be known first."""

import json
import sys

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome
from tests.support.window import Window

LOOKS = (
    ["recall", "postgres"],
    ["timeline", "--all"],
    ["how", "test"],
    ["fix", "boom"],
    ["blame", "src"],
    ["changed"],
    ["why"],
    ["events"],
    ["knobs"],
    ["sleep"],
    ["show", "00000000-0000-0000-0000-000000000000"],
    ["share", "list"],
    ["privacy"],
    ["export"],
    ["doctor"],
    ["status"],
)


def test_looking_into_an_empty_home_makes_nothing(home: ScratchHome) -> None:
    for words in LOOKS:
        home.command(*words)
        assert not home.store.exists(), words


def test_recall_in_an_empty_home_says_how_to_begin(home: ScratchHome) -> None:
    said = home.command("recall", "postgres")
    assert said.returncode == 0
    assert "iai-mcp up" in said.stdout
    assert json.loads(home.command("recall", "postgres", "--json").stdout)["hits"] == []


@pytest.mark.parametrize("when", ["yesterday", "last week", "3 days ago", "2h", "01.03.2026"])
def test_a_time_is_understood_wherever_one_is_taken(daemon: DaemonProcess, when: str) -> None:
    home = daemon.home
    for words in (
        ["recall", "lynx", "--since", when, "--until", "now", "--as-of", "now"],
        ["timeline", "--all", "--since", when, "--until", "now"],
        ["events", "--since", when],
        ["blame", "src", "--since", when],
        ["changed", "--since", when],
        ["forget", "--after", when, "--before", "now", "--dry-run"],
        ["import", "--since", when, "--dry-run"],
        ["capture", "the lynx hunts", "--ts", when],
    ):
        done = home.command(*words)
        assert done.returncode == 0, f"{words}: {done.stderr}"


def test_a_time_decides_what_is_found(daemon: DaemonProcess) -> None:
    home = daemon.home
    home.command("capture", "the otter slept", "--ts", "2 weeks ago")
    home.command("capture", "the otter woke", "--ts", "2h")
    said = home.command("timeline", "--all", "--since", "3 days ago").stdout
    assert "woke" in said
    assert "slept" not in said


def test_what_is_no_time_is_refused_with_examples(daemon: DaemonProcess) -> None:
    refused = daemon.home.command("timeline", "--all", "--since", "whenever")
    assert refused.returncode == 1
    assert "yesterday" in refused.stderr


def test_every_help_that_takes_a_time_lists_how_to_say_it(home: ScratchHome) -> None:
    for name in ("recall", "timeline", "events", "blame", "forget", "import", "capture"):
        assert "3 days ago" in " ".join(home.command(name, "--help").stdout.split()), name


def test_events_are_told_in_words(daemon: DaemonProcess) -> None:
    daemon.home.command("sleep", "--now")
    lines = daemon.home.command("events", "--limit", "100").stdout.splitlines()
    assert lines
    assert [line for line in lines if "{" in line or "=" in line] == []


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize(
    "words", ["knobs", "model status", "events", "hosts list", "hosts status", "doctor", "status"]
)
def test_what_is_shown_fits_the_terminal(daemon: DaemonProcess, words: str, columns: int) -> None:
    shown = Window(daemon.home, columns).run(f"iai-mcp {words}")
    assert [line for line in shown.splitlines() if len(line) > columns] == []


def test_a_daemon_of_another_home_is_not_counted(home: ScratchHome, daemon: DaemonProcess) -> None:
    checks = json.loads(home.command("doctor", "--json").stdout)["checks"]
    (told,) = [check for check in checks if check["name"] == "processes"]
    assert "no daemon" in told["detail"]


def test_the_key_is_rotated_while_memory_is_on(home: ScratchHome) -> None:
    home.command("up")
    home.command("capture", "the lynx hunts hares")
    before = json.loads(home.command("status", "--json").stdout)["pid"]
    rotated = home.command("crypto", "rotate")
    assert rotated.returncode == 0, rotated.stderr
    after = json.loads(home.command("status", "--json").stdout)["pid"]
    assert after != before
    assert "lynx" in home.command("recall", "lynx").stdout
    home.command("down")


def test_memory_is_on_again_after_a_rotation_that_was_refused(home: ScratchHome) -> None:
    home.command("up")
    home.command("capture", "the lynx hunts hares")
    refused = home.command("crypto", "rotate", "--source", "passphrase")
    assert refused.returncode == 1
    assert "PASSPHRASE" in refused.stderr
    assert home.command("status").returncode == 0
    home.command("down")


def test_what_restores_kept_is_named_by_its_day_and_bounded(home: ScratchHome) -> None:
    home.command("capture", "the lynx hunts")
    home.command("backup", "b")
    for _ in range(6):
        said = home.command("restore", "b", "--yes")
        assert said.returncode == 0, said.stderr
    kept = sorted(path.name for path in home.store.glob("memory.db.before-restore*"))
    assert len(kept) == 3
    assert kept[-1] in said.stdout  # where what was there can be found


def test_leaving_at_a_question_about_trust_is_no_answer(home: ScratchHome) -> None:
    home.command("agent", "create", "Ann", "--profile", "claude-code")
    programs = _programs(home, "claude")
    window = Window(home, PATH=programs)
    assert "trust" in window.run("iai-mcp agent launch Ann --detach", typed="\x04")
    asked_again = window.run("iai-mcp agent launch Ann --detach", typed="\x04")
    assert "[y/N]" in asked_again


def test_hosts_are_found_connected_or_not_here(home: ScratchHome) -> None:
    programs = _programs(home, "gemini")
    listed = home.command("hosts", "list", PATH=programs).stdout
    lines = {line.split()[0]: line for line in listed.splitlines()[1:] if line}
    assert "found, not connected" in lines["gemini"]
    assert "not here" in lines["zed"]
    home.command("hosts", "install", "gemini", "--yes", PATH=programs)
    again = home.command("hosts", "list", PATH=programs).stdout
    assert "not connected" not in again
    assert "connected" in again


def test_connecting_shows_a_summary_and_the_diff_when_asked(home: ScratchHome) -> None:
    window = Window(home, 80, PATH=_programs(home, "gemini"))
    short = window.run("iai-mcp hosts install", typed="n\n")
    assert "settings.json" in short
    assert "+++" not in short
    assert "+++" in window.run("iai-mcp hosts install --diff", typed="n\n")
    assert "+++" in window.run("iai-mcp hosts install", typed="d\nn\n")


def test_whoever_has_no_such_command_is_told_which_one_works(home: ScratchHome) -> None:
    for words in (["up"], ["demo"]):
        said = home.command(*words, PATH="/usr/bin:/bin").stdout
        assert f"{sys.prefix}/bin/iai-mcp" in said or "-m iai_mcp.cli" in said, words
    home.command("down")


def test_a_command_of_many_actions_names_them(home: ScratchHome) -> None:
    said = home.command("hosts").stderr
    assert "say which: list, install, remove, status" in said


def test_who_has_no_agent_program_is_told_how_to_connect_one_anyway(home: ScratchHome) -> None:
    said = home.command("hosts", "install", PATH="/usr/bin:/bin").stdout
    assert "iai-mcp hosts install claude-code" in said
    assert "opencode" in said


def test_an_agent_whose_program_is_missing_is_made_with_a_word_about_it(home: ScratchHome) -> None:
    made = home.command("agent", "create", "Ann", "--profile", "codex", PATH="/usr/bin:/bin")
    assert made.returncode == 0
    assert "Codex is not installed" in made.stderr


def test_what_starts_an_agent_of_another_project_names_that_project(home: ScratchHome) -> None:
    (home.path / "shop").mkdir()
    made = home.command("agent", "create", "Ann", "--profile", "shell", "--project", "shop").stdout
    (hint,) = (line for line in made.splitlines() if line.startswith("start it with: iai-mcp "))
    words = hint.removeprefix("start it with: iai-mcp ").split()
    assert home.command(*words, "--print-only").returncode == 0


def _programs(home: ScratchHome, *names: str) -> str:
    """A PATH with agent programs that do nothing."""
    place = home.path / "bin"
    place.mkdir(exist_ok=True)
    for name in names:
        (place / name).write_text("#!/bin/sh\n")
        (place / name).chmod(0o755)
    return f"{place}:/usr/bin:/bin"
