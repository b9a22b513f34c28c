"""The commands as people and scripts use them: clear words, one JSON object, honest exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome

from iai_mcp.cli.commands import COMMANDS


@pytest.fixture
def running(home: ScratchHome) -> Iterator[ScratchHome]:
    started = home.command("up", "--json")
    assert started.returncode == 0, started.stderr
    yield home
    home.command("down")


def test_up_starts_once_and_down_stops(home: ScratchHome) -> None:
    first = json.loads(home.command("up", "--json").stdout)
    again = json.loads(home.command("up", "--json").stdout)
    assert (first["started"], again["started"]) == (True, False)
    assert first["pid"] == again["pid"]
    assert json.loads(home.command("down", "--json").stdout)["stopped"] is True
    assert json.loads(home.command("down", "--json").stdout)["stopped"] is False


def test_up_says_how_to_connect_and_how_to_get_meaning(running: ScratchHome) -> None:
    said = running.command("up").stdout
    assert "iai_mcp.bridge" in said or "hosts install" in said
    assert "iai-mcp model install" in said


def test_status_tells_by_its_exit_code_whether_memory_is_on(home: ScratchHome) -> None:
    off = home.command("status")
    assert off.returncode == 3
    assert "iai-mcp up" in off.stdout
    home.command("up")
    on = home.command("status")
    assert on.returncode == 0
    assert "memories" in on.stdout
    home.command("down")


def test_a_start_that_fails_says_why_in_the_daemon_s_own_words(home: ScratchHome) -> None:
    (home.store).mkdir()
    (home.store / "memory.db").write_bytes(b"x" * 5000)
    failed = home.command("up", "--json")
    assert failed.returncode == 1
    assert "key.json" in json.loads(failed.stdout)["error"]["message"]


@pytest.mark.parametrize("daemon_runs", [True, False])
def test_capture_recall_timeline_and_forget_work_with_and_without_a_daemon(
    home: ScratchHome, daemon_runs: bool
) -> None:
    if daemon_runs:
        home.command("up")
    assert home.command("capture", "the", "lynx", "hunts", "hares").returncode == 0
    assert "lynx" in home.command("recall", "what does the lynx hunt").stdout
    assert "lynx" in home.command("timeline", "--all").stdout
    refused = home.command("forget", "--query", "lynx")
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert home.command("forget", "--query", "lynx", "--yes").returncode == 0
    assert "lynx" not in home.command("timeline", "--all").stdout
    home.command("down")


def test_text_comes_from_standard_input_too(home: ScratchHome) -> None:
    home.command("capture", "-", stdin="piped in\nsecond line")
    shown = json.loads(home.command("timeline", "--all", "--json").stdout)
    assert shown["records"][0]["text"] == "piped in\nsecond line"


def test_a_store_held_by_somebody_else_is_a_clear_error(home: ScratchHome) -> None:
    hold = (
        "import sys, time; from iai_mcp.concurrency import ProcessLock; "
        "lock = ProcessLock(); print(lock.try_acquire_exclusive(), flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold], env=home.environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "True"
        refused = home.command("timeline", "--all", "--json")
        assert refused.returncode == 1
        error = json.loads(refused.stdout)["error"]
        assert error["code"] == "BUSY"
        assert str(holder.pid) in error["message"]
    finally:
        holder.kill()
        holder.communicate()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(home: ScratchHome, name: str) -> None:
    shown = home.command(name, "--help")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout) > 100
    assert "usage: iai-mcp" in shown.stdout


def test_the_overview_lists_every_command(home: ScratchHome) -> None:
    shown = home.command("--help").stdout
    assert [name for name in COMMANDS if f"  {name} " not in shown] == []


def test_an_unknown_command_suggests_the_nearest(home: ScratchHome) -> None:
    wrong = home.command("recal")
    assert wrong.returncode == 2
    assert "recall" in wrong.stderr


def test_a_wrong_option_is_one_sentence(home: ScratchHome) -> None:
    wrong = home.command("recall", "x", "--nope")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
    as_json = home.command("recall", "x", "--nope", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["error"]["code"] == "INVALID"


def test_an_optional_argument_is_not_asked_for(home: ScratchHome) -> None:
    assert "say which: list, install, remove, status;" in home.command("hosts").stderr


def test_a_question_that_is_too_narrow_is_not_told_that_memory_is_empty(home: ScratchHome) -> None:
    home.command("capture", "the lynx hunts hares")
    assert (
        "Nothing is stored yet that could match"
        in home.command("recall", "lynx", "--role", "wizard").stdout
    )
    assert "nothing of that" in home.command("events", "--kind", "wizardry").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands_and_their_options(home: ScratchHome, shell: str) -> None:
    script = home.command("completion", shell).stdout
    assert "recall" in script
    assert "budget-tokens" in script


def test_completion_for_bash_really_completes(home: ScratchHome) -> None:
    script = home.command("completion", "bash").stdout
    ask = "COMP_WORDS=(iai-mcp rec); COMP_CWORD=1; _iai_mcp; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["recall"]


def test_a_reader_that_stops_reading_is_no_error(home: ScratchHome) -> None:
    home.command("capture", "-", stdin="word " * 50_000)
    pipe = subprocess.run(
        f"{sys.executable} -m iai_mcp.cli timeline --all | head -c 10",
        shell=True,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in pipe.stderr
    assert "Broken" not in pipe.stderr


def test_the_key_s_fate_is_told_before_it_matters(home: ScratchHome) -> None:
    made = home.command("crypto", "init", IAI_MCP_CRYPTO_PASSPHRASE="x y z")
    assert "lost for good" in made.stdout
    again = home.command("crypto", "init")
    assert again.returncode == 1
    status = home.command("crypto", "status", "--json")
    assert json.loads(status.stdout)["source"] == "passphrase"


def test_no_command_shows_what_was_said_in_the_process_list(running: ScratchHome) -> None:
    # The text goes over the socket; the daemon's command line stays as it was.
    running.command("capture", "a very private sentence")
    shown = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True)
    assert "a very private sentence" not in shown.stdout


def test_the_demo_tells_its_story_and_leaves_nothing(home: ScratchHome) -> None:
    before = set(os.listdir(home.path))
    told = home.command("demo", timeout=110)
    assert told.returncode == 0, told.stderr
    assert "12 of 12 memories are there" in told.stdout
    assert ("words alone" in told.stdout) is ("no model in memory" in told.stdout)
    assert "iai" in told.stdout.splitlines()[-2]
    assert set(os.listdir(home.path)) == before


def test_words_that_are_not_utf8_are_kept_as_far_as_they_can_be(home: ScratchHome) -> None:
    bad = os.fsdecode(b"the walrus said \xff to me")
    daemon = DaemonProcess(home).start()
    kept = json.loads(home.command("capture", bad, "--json").stdout)
    assert kept["status"] == "inserted"
    assert daemon.stop() == 0
    again = json.loads(home.command("capture", bad, "--json").stdout)
    assert (again["status"], again["record_id"]) == ("duplicate", kept["record_id"])


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["timeline", "capture -", "--help", "status --json"])
def test_a_closed_stream_is_no_crash(home: ScratchHome, command: str, closed: str) -> None:
    line = f"{sys.executable} -m iai_mcp.cli {command} {closed}"
    run = subprocess.run(
        ["sh", "-c", line], env=home.environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in run.stderr + run.stdout
    assert not (home.store / "logs" / "cli.log").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("how", ["", "--json"])
def test_output_that_can_not_be_written_is_said_in_a_sentence(home: ScratchHome, how: str) -> None:
    line = f"{sys.executable} -m iai_mcp.cli timeline {how} > /dev/full"
    run = subprocess.run(
        ["sh", "-c", line], env=home.environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.startswith("error: ")
    assert len(run.stderr.splitlines()) == 1
    assert not (home.store / "logs" / "cli.log").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_said_in_a_sentence(home: ScratchHome) -> None:
    home.store.mkdir(mode=0o500)
    told = home.command("capture", "anything", "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["code"] == "READ_ONLY"


def test_a_store_s_place_that_is_a_file_is_named(home: ScratchHome) -> None:
    home.store.write_text("not a directory")
    told = home.command("capture", "anything", "--json")
    assert str(home.store) in json.loads(told.stdout)["error"]["message"]


def test_an_unknown_command_is_json_for_programs(home: ScratchHome) -> None:
    told = home.command("recal", "--json")
    assert told.returncode == 1
    assert "Did you mean 'recall'" in json.loads(told.stdout)["error"]["message"]
