"""A newer iai-mcp meets the daemon of an older one: it says so, and `up` swaps it under way."""

import json
import subprocess
import sys
import threading
from collections import Counter

from tests.support.daemon import DaemonProcess, until
from tests.support.home import ScratchHome
from tests.support.older import OLD, Caller, Say

from iai_mcp import __version__


def by_command(home: ScratchHome) -> Say:
    def say(words: str) -> None:
        done = home.command("capture", words)
        assert done.returncode == 0, done.stderr

    return say


def by_socket(daemon: DaemonProcess) -> Say:
    """A program of somebody's: it asks again when nobody answers, with the same words."""

    def attempt(words: str) -> bool:
        try:
            answer = daemon.rpc("memory_capture", text=words, session_id="theirs")
        except (OSError, AssertionError):
            return False
        assert "result" in answer, answer
        return True

    def say(words: str) -> None:
        until(lambda: attempt(words), "a daemon takes it")

    return say


def test_a_newer_client_says_that_the_daemon_is_older(
    home: ScratchHome, old_daemon: DaemonProcess
) -> None:
    told = home.command("status").stdout
    assert f"version {OLD}" in told
    assert f"this is version {__version__}: 'iai-mcp up' swaps the daemon" in told
    assert "iai-mcp up (it swaps the daemon)" in home.command("doctor").stdout
    assert f"swapped for version {__version__}" in home.command("up").stdout
    assert "swaps the daemon" not in home.command("status").stdout


def test_the_swap_loses_nothing_and_doubles_nothing_of_what_is_said_meanwhile(
    home: ScratchHome, old_daemon: DaemonProcess
) -> None:
    outside = DaemonProcess(home)  # only its questions: the process behind them changes
    speakers = [
        Caller("the command", by_command(home)),
        Caller("the other command", by_command(home)),
        Caller("the program", by_socket(outside)),
    ]
    try:
        for speaker in speakers:
            speaker.says_more(3)
        swapped = home.command("up", "--json")
        assert swapped.returncode == 0, swapped.stdout
        for speaker in speakers:
            speaker.says_more(3)
    finally:
        for speaker in speakers:
            speaker.finish()
    result = json.loads(swapped.stdout)
    assert (result["swapped"], result["version"]) == (True, __version__)
    assert result["pid"] != old_daemon.process.pid
    assert [speaker.failed for speaker in speakers] == ["", "", ""]
    shown = home.command("timeline", "--all", "--limit", "100000", "--json").stdout
    stored = Counter(record["text"] for record in json.loads(shown)["records"])
    assert stored == Counter(words for speaker in speakers for words in speaker.said)


def test_a_start_waits_for_a_command_that_has_the_store_to_itself(home: ScratchHome) -> None:
    hold = (
        "import sys; from iai_mcp.concurrency import ProcessLock; "
        "lock = ProcessLock(); print(lock.try_acquire_exclusive(), flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    threading.Timer(1.0, holder.stdin.close).start()
    started = home.command("up", "--json")
    holder.wait(20)
    holder.stdout.close()
    assert started.returncode == 0, started.stdout
    home.command("down")
