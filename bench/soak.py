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
    "A store of {size:,} turns, larger than the caches it is read into. Rounds of captures (20) and recalls (10); now and\n"
    "then a sleep that the next round interrupts, a sleep that is waited for and must end without a failed step; every 25th\n"
    "round a `kill -9` or a stop, in turn, and a start. RSS and descriptors are those of the second half of each daemon's\n"
    "life, when it has read what it works with, and are compared between the first life and the last. CPU is the daemon's\n"
    "over 60 idle seconds at the end; every acknowledged turn must be there exactly once."
)
_RESTART_EVERY = 25
_FILLED = 5000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--minutes", type=float, default=10)
    end = time.monotonic() + parser.parse_args(arguments).minutes * 60
    corpus, chance = Corpus(), random.Random(2)
    acknowledged = 0
    lives: list[list[tuple[float, int]]] = [[]]
    restarts = interrupted = slept = failed = 0
    with scratch() as home:
        home.fill(_FILLED, corpus)
        home.start()
        home.wait_warm()
        while time.monotonic() < end:
            acknowledged += _captured(home, corpus, acknowledged)
            for _ in range(10):
                assert home.call("memory_recall", cue=corpus.cue())["hits"]
            lives[-1].append((home.resident(), _descriptors(home)))
            luck = chance.random()
            if len(lives[-1]) == _RESTART_EVERY:
                home.stop() if restarts % 2 else home.kill()
                home.start()
                home.wait_warm()
                restarts += 1
                lives.append([])
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
    long_enough = [life for life in lives if len(life) >= _RESTART_EVERY // 2] or lives
    early, late = (life[len(life) // 2 :] for life in (long_enough[0], long_enough[-1]))
    first, last = (_mean([rss for rss, _ in life]) for life in (early, late))
    opened = _mean([float(fds) for _, fds in late]) - _mean([float(fds) for _, fds in early])
    most = max(rss for life in lives for rss, _ in life)
    return show(
        "soak",
        METHOD.format(size=_FILLED),
        [
            Row("turns, restarts", f"{acknowledged:,}, {restarts}", "", None),
            Row("sleeps interrupted, waited for", f"{interrupted}, {slept}", "", None),
            Row("steps of sleep that failed", str(failed), "0", failed == 0),
            Row(
                "RSS, last life against first",
                f"{last - first:+.1f} MB",
                "<= 15 MB",
                last - first <= 15,
            ),
            Row("RSS, first, last, most", f"{first:.0f}, {last:.0f}, {most:.0f} MB", "", None),
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
