"""A newer iai-mcp meets the daemon of an older one: it says so, and `up` swaps it under way."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.daemon import DaemonProcess, until
from tests.support.home import SOURCE, ScratchHome

from iai_mcp import __version__

OLD = "0.0.9"


def older_source(place: Path) -> Path:
    """The same program, but for its version."""
    package = place / "iai_mcp"
    package.mkdir()
    for each in (SOURCE / "iai_mcp").iterdir():
        if each.name not in ("__init__.py", "__pycache__"):
            (package / each.name).symlink_to(each)
    (package / "__init__.py").write_text(f'__version__ = "{OLD}"\n')
    return place


@pytest.fixture
def old_daemon(home, tmp_path):
    daemon = DaemonProcess(home, PYTHONPATH=str(older_source(tmp_path))).start()
    yield daemon
    home.command("down")
    daemon.stop()


class Speaker:
    """Says one thing after the other on a thread of its own; knows what was acknowledged."""

    def __init__(self, name: str, say: Callable[[str], str]) -> None:
        self.said: list[str] = []
        self.refused: list[str] = []
        self._name = name
        self._say = say
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._enough.is_set():
            number += 1
            words = f"{self._name} says sentence number {number}"
            problem = self._say(words)
            (self.refused if problem else self.said).append(problem or words)

    def says_more(self, count: int = 3) -> None:
        goal = len(self.said) + count
        until(lambda: len(self.said) >= goal or self.refused, "more was said")

    def finish(self) -> None:
        self._enough.set()
        self._thread.join(60)


def by_command(home: ScratchHome) -> Callable[[str], str]:
    def say(words: str) -> str:
        done = home.command("capture", words)
        return done.stderr if done.returncode else ""

    return say


def by_socket(daemon: DaemonProcess) -> Callable[[str], str]:
    """A program of somebody's: it asks again when nobody answers, with the same words."""

    def attempt(words: str) -> bool:
        try:
            answer = daemon.rpc("memory_capture", text=words, session_id="theirs")
        except (OSError, AssertionError):
            return False
        assert "result" in answer, answer
        return True

    def say(words: str) -> str:
        until(lambda: attempt(words), "a daemon takes it")
        return ""

    return say


def test_a_newer_client_says_that_the_daemon_is_older(home, old_daemon):
    told = home.command("status").stdout
    assert f"version {OLD}" in told
    assert f"this is version {__version__}: 'iai-mcp up' swaps the daemon" in told
    assert "iai-mcp up (it swaps the daemon)" in home.command("doctor").stdout
    assert f"swapped for version {__version__}" in home.command("up").stdout
    assert "swaps the daemon" not in home.command("status").stdout


def test_the_swap_loses_nothing_and_doubles_nothing_of_what_is_said_meanwhile(home, old_daemon):
    outside = DaemonProcess(home)  # only its questions: the process behind them changes
    speakers = [
        Speaker("the command", by_command(home)),
        Speaker("the other command", by_command(home)),
        Speaker("the program", by_socket(outside)),
    ]
    try:
        for speaker in speakers:
            speaker.says_more()
        swapped = home.command("up", "--json")
        assert swapped.returncode == 0, swapped.stdout
        for speaker in speakers:
            speaker.says_more()
    finally:
        for speaker in speakers:
            speaker.finish()
    result = json.loads(swapped.stdout)
    assert (result["swapped"], result["version"]) == (True, __version__)
    assert result["pid"] != old_daemon.process.pid
    assert [speaker.refused for speaker in speakers] == [[], [], []]
    shown = home.command("timeline", "--all", "--limit", "100000", "--json").stdout
    stored = Counter(record["text"] for record in json.loads(shown)["records"])
    assert stored == Counter(words for speaker in speakers for words in speaker.said)


def test_a_start_waits_for_a_command_that_has_the_store_to_itself(home):
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
    assert holder.stdout.readline().strip() == "True"
    threading.Timer(1.0, holder.stdin.close).start()
    started = home.command("up", "--json")
    holder.wait(20)
    holder.stdout.close()
    assert started.returncode == 0, started.stdout
    home.command("down")
