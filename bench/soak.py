"""A day in minutes: captures, recalls, sleeps and restarts, with memory, descriptors and CPU watched."""

import argparse
import random
import time
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.report import Row, show
from bench.scratch import Scratch, scratch

METHOD = (
    "Rounds of captures (20 turns) and recalls (10); now and then a sleep that the next round interrupts, a sleep that is\n"
    "waited for and must end without a failed step; every 25th round a `kill -9` or a stop, in turn, and a start. RSS and\n"
    "descriptors are compared between the first and the last third. CPU is the daemon's over 60 idle seconds at the end;\n"
    "every acknowledged turn must be there exactly once."
)
_RESTART_EVERY = 25


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--minutes", type=float, default=10)
    end = time.monotonic() + parser.parse_args(arguments).minutes * 60
    corpus, chance = Corpus(), random.Random(2)
    acknowledged = 0
    samples: list[tuple[float, int]] = []
    restarts = interrupted = slept = failed = 0
    with scratch() as home:
        home.start()
        home.wait_warm()
        while time.monotonic() < end:
            acknowledged += _captured(home, corpus, acknowledged)
            for _ in range(10):
                assert home.call("memory_recall", cue=corpus.cue())["hits"]
            samples.append((home.resident(), _descriptors(home)))
            luck = chance.random()
            if len(samples) % _RESTART_EVERY == 0:
                home.stop() if restarts % 2 else home.kill()
                home.start()
                home.wait_warm()
                restarts += 1
            elif luck < 0.06:
                asked = {"type": "force_rem", "ts": "2026-01-01T00:00:00Z"}
                interrupted += home.exchange(dict(asked))["ok"] is True
                time.sleep(0.2)
            elif luck < 0.1:
                slept += 1
                failed += _failed(home.call("memory_consolidate", wait=True))
        idle = _idle(home)
        records = home.control("status")["records"]
        texts = _verbatim(home)
    third = max(1, len(samples) // 3)
    early, late = samples[:third], samples[-third:]
    growth = _mean([rss for rss, _ in late]) - _mean([rss for rss, _ in early])
    opened = _mean([float(fds) for _, fds in late]) - _mean([float(fds) for _, fds in early])
    return show(
        "soak",
        METHOD,
        [
            Row("turns, restarts", f"{acknowledged:,}, {restarts}", "", None),
            Row("sleeps interrupted, waited for", f"{interrupted}, {slept}", "", None),
            Row("steps of sleep that failed", str(failed), "0", failed == 0),
            Row("RSS, last third against first", f"{growth:+.1f} MB", "<= 15 MB", growth <= 15),
            Row("RSS, first and last", f"{samples[0][0]:.0f}, {samples[-1][0]:.0f} MB", "", None),
            Row("descriptors, the same", f"{opened:+.1f}", "<= 3", opened <= 3),
            Row("CPU while idle", f"{idle:.2f} %", "< 0.2 %", idle < 0.2),
            Row("lost or doubled", str(acknowledged - texts), "0", acknowledged == texts),
            Row("records", str(records), "", None),
        ],
    )


def _failed(report: dict[str, Any]) -> int:
    """How many steps of that sleep failed, or were left undone."""
    return sum(bool(step.get("failed")) or not step["done"] for step in report["steps"])


def _captured(home: Scratch, corpus: Corpus, number: int) -> int:
    events = [{"id": f"s{number + n}", "text": corpus.text(), "role": "user"} for n in range(20)]
    done = home.call("capture_events", session_id="soak", project="soak", events=events)
    return int(str(done["inserted"]))


def _verbatim(home: Scratch) -> int:
    """How many different captured turns the store holds."""
    records = home.call("memory_timeline", session_id="soak", limit=100_000)["records"]
    assert isinstance(records, list)
    return len({record["id"] for record in records})


def _descriptors(home: Scratch) -> int:
    assert home.process
    return len(list(Path(f"/proc/{home.process.pid}/fd").iterdir()))


def _idle(home: Scratch) -> float:
    while home.call("topology")["vectors_pending"]:
        time.sleep(0.2)
    time.sleep(10)
    before = home.cpu()
    time.sleep(60)
    return (home.cpu() - before) / 60 * 100


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
