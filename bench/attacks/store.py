"""The store attacked: taken away, filled with what is huge, and searched for what was forgotten."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.attacks.outcome import Outcome
from bench.canary import holding
from bench.scratch import Scratch

SECRET = "qzxvjwk7"
_HALF_A_MEGABYTE = "~~~ " * 125_000
_HUGE = "~~~ " * 4_400_000
_KILLS = 4


def attacks() -> Iterator[Outcome]:
    """Every attack on a home of its own."""
    yield _counted("a store deleted or emptied under its key is refused, not made anew", _losses())
    yield _counted("a key whose store was never made opens one", _never_made())
    yield _counted("the last backup with more than the store outlives rotation", _rotation())
    yield _counted("turns beyond a line are shown, exported, imported and forgotten", _huge())
    yield _counted("what is forgotten is in no copy of the store", _forgotten())
    yield _counted("nor when the rewriting is killed", _forgotten_and_killed())


def _counted(attack: str, outcomes: Iterator[bool]) -> Outcome:
    held = list(outcomes)
    return Outcome(attack, sum(held), len(held))


class _Home(Scratch):
    """A scratch home with commands, without a model: vectors play no part in this."""

    def __init__(self) -> None:
        super().__init__()
        self.environment.pop("IAI_MCP_EMBED_MODEL", None)
        self.store = self.path / "store"

    def command(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "iai_mcp.cli", *arguments],
            env=self.environment,
            cwd=self.path,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def say(self, *texts: str, session: str = "s") -> None:
        for text in texts:
            self.command("capture", "-", "--session-id", session, stdin=text)

    def night(self) -> None:
        """Sleep once, with every backup a day older than it was."""
        for number, made in enumerate(self.backups()):
            before = made.stat().st_mtime - 86_400
            older = made.with_name(f"sleep-20200101T00000{number}Z.backup")
            made.rename(older)
            os.utime(older, (before, before))
        os.utime(self.store / "memory.db")
        self.command("sleep", "--now")

    def backups(self) -> list[Path]:
        return sorted((self.store / "backups").glob("sleep-*.backup"))

    def spool(self, session: str, text: str) -> None:
        """Leave a turn as a hook does, and wait until the daemon has it."""
        directory = self.store / ".deferred-captures"
        directory.mkdir(mode=0o700, exist_ok=True)
        before = self.control("status")["records"]
        lines = [{"version": 1, "session_id": session}, {"id": "1", "text": text, "role": "user"}]
        hidden = directory / f".{session}.tmp"
        hidden.write_text("".join(json.dumps(line) + "\n" for line in lines))
        hidden.rename(directory / f"{session}-1.jsonl")
        while self.control("status")["records"] == before:
            time.sleep(0.02)


def _in_a_home(tried: Callable[[_Home], Iterator[bool]]) -> Iterator[bool]:
    home = _Home()
    try:
        yield from tried(home)
    except (RuntimeError, OSError, KeyError, ValueError):
        yield False  # it did not even answer
    finally:
        home.command("down")
        home.remove()


def _losses() -> Iterator[bool]:
    for how in ("deleted", "emptied", "linked away", "log left"):
        yield from _in_a_home(lambda home, how=how: _loss(home, how))  # type: ignore[misc] # the default binds it


def _loss(home: _Home, how: str) -> Iterator[bool]:
    home.say("the heron nests in april")
    home.night()
    store = home.store / "memory.db"
    if how == "emptied":
        os.truncate(store, 0)
    else:
        store.unlink()
    if how == "linked away":
        store.symlink_to(home.path / "unmounted")
    elif how == "log left":
        (home.store / "memory.db-wal").write_bytes(b"log")
    refused = home.command("up")
    examined = home.command("doctor", "--json")
    made = home.backups()[-1]
    told = refused.returncode == 1 and f"restore {made}" in refused.stderr
    failed = {c["name"] for c in json.loads(examined.stdout)["checks"] if c["status"] == "FAIL"}
    home.command("restore", str(made), "--yes")
    back = "heron" in home.command("timeline", "--all").stdout
    yield told and failed == {"store"} and back


def _never_made() -> Iterator[bool]:
    def init(home: _Home) -> Iterator[bool]:
        home.command("crypto", "init")
        yield home.command("capture", "something").returncode == 0

    def killed(home: _Home) -> Iterator[bool]:
        for step in range(_KILLS):
            daemon = subprocess.Popen(
                [sys.executable, "-m", "iai_mcp.daemon"],
                env=home.environment,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(0.1 + 0.05 * step)
            daemon.kill()
            daemon.wait()
        yield home.command("capture", "something").returncode == 0

    yield from _in_a_home(init)
    yield from _in_a_home(killed)


def _rotation() -> Iterator[bool]:
    def rotated(home: _Home) -> Iterator[bool]:
        home.say("one", "two", "three")
        home.night()
        good = home.backups()[-1].read_bytes()
        # As somebody would who had never heard of a restore.
        (home.store / "memory.db").unlink()
        home.command("up", "--anew")
        home.command("up")
        home.command("down")
        for _ in range(4):
            home.night()
        yield good in [made.read_bytes() for made in home.backups()]

    yield from _in_a_home(rotated)


def _huge() -> Iterator[bool]:
    yield from _in_a_home(_beyond_a_line)


def _beyond_a_line(home: _Home) -> Iterator[bool]:
    home.start()
    for number in range(36):
        event = {"id": str(number), "text": f"heron {number} {_HALF_A_MEGABYTE}", "role": "user"}
        home.call("capture_events", session_id="many", events=[event])
    home.spool("huge", f"the last heron {_HUGE}")
    shown = home.command("timeline", "--all", "-n", "100", "--json")
    yield len(json.loads(shown.stdout).get("records", ())) == 37
    found: Any = home.exchange(_call("memory_recall", {"cue": "heron", "session_id": "huge"}))
    yield "result" in found and len(found["result"]["hits"]) == 1
    wide = {"cue": "heron", "budget_tokens": 1_000_000, "k": 100}
    yield "result" in home.exchange(_call("memory_recall", wide))
    exported = home.command("export", "all.jsonl")
    lines = (home.path / "all.jsonl").read_text().count("\n") if exported.returncode == 0 else 0
    yield lines == 38
    yield home.command("forget", "--session-id", "huge", "--yes").returncode == 0
    yield home.command("forget", "--query", "heron", "--dry-run").returncode == 0
    yield _comes_in_again(home.path / "all.jsonl") if lines else False


def _comes_in_again(export: Path) -> bool:
    """One of half a megabyte and the huge one, which no line can carry."""
    header, *lines = export.read_text().split("\n")
    some = export.with_name("some.jsonl")
    some.write_text("\n".join([header, lines[0], lines[-2]]) + "\n")
    other = _Home()
    try:
        other.start()
        taken = other.command("import", str(some), "--json")
        return taken.returncode == 0 and json.loads(taken.stdout)["inserted"] == 2
    finally:
        other.remove()


def _call(method: str, params: dict[str, object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _with_copies(home: _Home) -> None:
    """A secret in the store, in three backups, in what a restore kept, and in what was derived."""
    home.say("the heron nests in april", f"always mention that {SECRET} is under the stone")
    home.say(f"always mention again that {SECRET} is under the stone")
    for _ in range(3):
        home.night()
    home.command("restore", str(home.backups()[-1]), "--yes")


def _forgotten() -> Iterator[bool]:
    def with_a_daemon(home: _Home) -> Iterator[bool]:
        _with_copies(home)
        home.start()
        home.call("memory_forget", query=SECRET)
        _wait_until_reached(home)
        yield holding(home.store, SECRET) == []

    def without(home: _Home) -> Iterator[bool]:
        _with_copies(home)
        home.command("forget", "--query", SECRET, "--yes")
        yield holding(home.store, SECRET) == []

    yield from _in_a_home(with_a_daemon)
    yield from _in_a_home(without)


def _forgotten_and_killed() -> Iterator[bool]:
    def killed(home: _Home) -> Iterator[bool]:
        _with_copies(home)
        chance = random.Random(7)
        for number in range(_KILLS):
            home.start()
            if number == 0:
                home.call("memory_forget", query=SECRET)
            time.sleep(chance.random() * 1.3)
            home.kill()
        home.start()
        _wait_until_reached(home)
        yield holding(home.store, SECRET) == []

    yield from _in_a_home(killed)


def _wait_until_reached(home: Scratch) -> None:
    until = time.monotonic() + 20
    while home.control("status").get("forgetting", 0) and time.monotonic() < until:
        time.sleep(0.05)
