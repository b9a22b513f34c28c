"""`kill -9` while memory sleeps, forgets by age, backs up or gets a new key: it opens, and goes on."""

import argparse
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

from bench.corpus import Corpus
from bench.report import Row, show
from bench.scratch import Scratch, scratch

METHOD = (
    "A store of {size:,} turns, without a model. In three of four rounds the daemon is killed at a random moment of one step\n"
    "of a sleep (`memory_consolidate` with `wait`), each step in turn, with a tenth of the turns due to be forgotten by age; in\n"
    "the others `iai-mcp crypto rotate` or `iai-mcp backup` is killed while it writes. After each kill the daemon starts,\n"
    "every page of the file is sound (`doctor`), and every turn that was not due is there exactly once. Between rounds a few\n"
    "turns are added. At the end the sleep goes on, and another one follows; its report must have no step that failed or is left undone, and\n"
    "nothing due is left."
)
_DAY = 86_400
_ADDED = 40
_KEPT_DAYS = 365
_STEPS = (
    *("vectors", "retention", "folds", "topics"),
    *("compact", "check", "copies", "backup"),
)
_WITHIN = 0.06  # seconds after it was seen to be in that step


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench nights")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--size", type=int, default=1500, help="turns in the store")
    options = parser.parse_args(arguments)
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)
        night = _Night(home, random.Random(3))
        home.start()
        home.call("profile_set", knob="retention_days", value=_KEPT_DAYS)
        night.say(options.size)
        for number in range(options.rounds):
            night.round(number)
        home.call("memory_consolidate", wait=True)  # the rest of the night that was killed last
        report: dict[str, Any] = home.call("memory_consolidate", wait=True)
        night.look()
        undone = sum(bool(step.get("failed")) or not step["done"] for step in report["steps"])
        due = len(night.told("old"))
    struck = ", ".join(f"{name} {count}" for name, count in sorted(night.struck.items()))
    return show(
        "nights",
        METHOD.format(size=options.size),
        [
            Row("rounds that opened", str(night.opened), str(options.rounds), True),
            Row("killed in", struck, "", None),
            Row("files with an unsound page", str(night.unsound), "0", night.unsound == 0),
            Row("turns lost", str(night.lost), "0", night.lost == 0),
            Row("turns doubled", str(night.doubled), "0", night.doubled == 0),
            Row("steps of the last sleep undone", str(undone), "0", undone == 0),
            Row("turns that were due and are left", str(due), "0", due == 0),
        ],
    )


class _Night:
    """What is done to one store, and what must be true after each time."""

    def __init__(self, home: Scratch, chance: random.Random) -> None:
        self._home = home
        self._chance = chance
        self._corpus = Corpus()
        self._said = 0
        self.opened = self.unsound = self.lost = self.doubled = 0
        self.struck: Counter[str] = Counter()

    def say(self, count: int) -> None:
        """Turns of today, which stay, and a few that are two years old."""
        now = [
            {"id": f"n{self._said + n}", "text": self._corpus.text(), "role": "user"}
            for n in range(count)
        ]
        self._said += count
        long_ago = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 730 * _DAY))
        old = [
            {
                "id": f"o{self._said + n}",
                "text": self._corpus.text(),
                "role": "user",
                "ts": long_ago,
            }
            for n in range(max(2, count // 10))
        ]
        self._home.call("capture_events", session_id="now", project="p", events=now)
        self._home.call("capture_events", session_id="old", project="p", events=old)

    def round(self, number: int) -> None:
        if number % 4 < 3:
            self._killed_asleep(_STEPS[(number - number // 4) % len(_STEPS)])
        else:
            self._killed_command("rotate" if number % 8 < 4 else "backup")
        self._home.start()
        self.opened += 1
        self.look()
        self.say(_ADDED)

    def told(self, session: str) -> list[dict[str, Any]]:
        """All turns of a session."""
        told: dict[str, Any] = self._home.call("memory_timeline", session_id=session, limit=100_000)
        records: list[dict[str, Any]] = told["records"]
        return records

    def look(self) -> None:
        """Whether everything is there that should be, once."""
        ids = [record["id"] for record in self.told("now")]
        self.lost += self._said - len(set(ids))
        self.doubled += len(ids) - len(set(ids))
        checks: list[dict[str, Any]] = self._home.call("doctor")["checks"]  # type: ignore[assignment] # the contract says so
        self.unsound += any(
            check["status"] == "FAIL" and check["name"] in ("integrity", "schema", "key")
            for check in checks
        )

    def _killed_asleep(self, target: str) -> None:
        """Kill the daemon in one step of a sleep, or in the next that takes long enough to be met."""
        wanted = _STEPS[_STEPS.index(target) :]
        if self._current() in wanted[1:]:
            self._sleep()  # the night that was killed before is further already: let it end
        sleeping = threading.Thread(target=self._sleep)
        sleeping.start()
        while sleeping.is_alive() and self._current() not in wanted:
            time.sleep(0.001)
        time.sleep(self._chance.random() * _WITHIN)
        self._home.kill()
        sleeping.join()
        self._home.start()
        self.struck[self._current() or "no step"] += 1
        self._home.kill()

    def _current(self) -> str:
        report = self._home.call("sleep_report")
        steps: list[dict[str, Any]] = report["steps"]  # type: ignore[assignment] # the contract says so
        undone = [step["name"] for step in steps if not step["done"]]
        return undone[0] if undone else ""

    def _sleep(self) -> None:
        try:
            self._home.call("memory_consolidate", wait=True)
        except (OSError, RuntimeError):
            return  # it was killed, as it should be

    def _killed_command(self, name: str) -> None:
        words = {"rotate": ["crypto", "rotate"], "backup": ["backup", str(self._home.path / "b")]}
        if name == "rotate":
            self._home.stop()
        command = subprocess.Popen(
            [sys.executable, "-m", "iai_mcp.cli", *words[name]],
            env=self._home.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while command.poll() is None and not self._writes(name):
            time.sleep(0.0005)
        time.sleep(self._chance.random() * _WITHIN)
        struck = command.poll() is None
        command.kill()
        command.wait()
        self.struck[name if struck else f"{name} (had ended)"] += 1
        for left in self._home.path.glob("b*"):
            left.unlink()
        if name == "backup":
            self._home.kill()

    def _writes(self, name: str) -> bool:
        store = self._home.path / "store"
        places = {"rotate": store.glob("memory.next.db*"), "backup": self._home.path.glob("*b*")}
        return any(place.suffix != ".sock" for place in places[name])
