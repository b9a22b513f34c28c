"""A day in minutes: captures, recalls, sleeps and restarts, with memory, descriptors and CPU watched."""

import argparse
import random
import time
from pathlib import Path

from bench.corpus import Corpus
from bench.report import Row, show
from bench.scratch import Scratch, scratch

METHOD = (
    "Rounds of captures (20 turns), recalls (10), now and then a sleep asked for, a stop or a `kill -9` and a start.\n"
    "RSS and descriptors are compared between the first and the last quarter, each after the model is loaded;\n"
    "CPU is the daemon's over 20 idle seconds at the end; every acknowledged turn must be there exactly once."
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--minutes", type=float, default=10)
    end = time.monotonic() + parser.parse_args(arguments).minutes * 60
    corpus, chance = Corpus(), random.Random(2)
    acknowledged = 0
    samples: list[tuple[float, int]] = []
    restarts = sleeps = 0
    with scratch() as home:
        home.start()
        home.wait_warm()
        while time.monotonic() < end:
            acknowledged += _captured(home, corpus, acknowledged)
            for _ in range(10):
                assert home.call("memory_recall", cue=corpus.cue())["hits"]
            samples.append((home.resident(), _descriptors(home)))
            luck = chance.random()
            if luck < 0.03:
                home.kill() if luck < 0.015 else home.stop()
                home.start()
                home.wait_warm()
                restarts += 1
            elif luck < 0.08:
                sleeps += (
                    home.exchange({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})["ok"] is True
                )
        idle = _idle(home)
        records = home.control("status")["records"]
        texts = _verbatim(home)
    quarter = max(1, len(samples) // 4)
    early, late = samples[:quarter], samples[-quarter:]
    growth = _mean([rss for rss, _ in late]) - _mean([rss for rss, _ in early])
    opened = _mean([float(fds) for _, fds in late]) - _mean([float(fds) for _, fds in early])
    return show(
        "soak",
        METHOD,
        [
            Row("turns, restarts, sleeps", f"{acknowledged:,}, {restarts}, {sleeps}", "", None),
            Row("RSS, last quarter against first", f"{growth:+.1f} MB", "<= 15 MB", growth <= 15),
            Row("descriptors, the same", f"{opened:+.1f}", "<= 3", opened <= 3),
            Row("CPU while idle", f"{idle:.2f} %", "< 0.2 %", idle < 0.2),
            Row("lost or doubled", str(acknowledged - texts), "0", acknowledged == texts),
            Row("records", str(records), "", None),
        ],
    )


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
    time.sleep(2)
    before = home.cpu()
    time.sleep(20)
    return (home.cpu() - before) / 20 * 100


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
