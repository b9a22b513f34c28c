"""`python -m bench interruption`: how long a recall takes that comes while memory sleeps."""

import argparse
import contextlib
import random
import shutil
import threading
import time
from typing import Any

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Caller, Scratch, scratch

METHOD = (
    "One daemon, {size:,} generated memories that sleep has not seen. Mid-sleep: sleep is asked for (`force_rem`), and a\n"
    "recall comes 20 to 120 ms after it began; the same connection then asks another question, which is timed as awake.\n"
    "Consolidating: another connection runs `memory_consolidate` with `wait`, and recalls follow each other with pauses\n"
    "of 0 to 30 ms, as they do awake. All cues differ and are drawn alike; ratios are of the 95th percentiles within this run."
)
_STARTED_WITHIN = 5.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench interruption")
    parser.add_argument("--size", type=int, default=6000, help="memories in the store")
    parser.add_argument(
        "--store", help="a store filled by a benchmark, copied instead of filling one"
    )
    parser.add_argument("--asked", type=int, default=150, help="recalls of each kind")
    options = parser.parse_args(arguments)
    corpus = Corpus()
    with scratch() as home:
        if options.store:
            shutil.copytree(options.store, home.path / "store")
        else:
            home.fill(options.size, corpus)
        home.start()
        home.wait_warm()
        size = int(str(home.control("status")["records"]))
        with home.dial() as caller:
            for _ in range(30):
                _asked(caller, corpus)
            before = _unhurried(caller, corpus, options.asked)
            middle, awake = _forced(home, caller, corpus, options.asked)
            after = _unhurried(caller, corpus, options.asked)
            during, report = _consolidating(home, caller, corpus, 4 * options.asked)
    rows = [
        _row("awake, right after an interrupted sleep", awake, None),
        _row("awake, before and after these", [*before, *after], None),
        _row("mid-sleep", middle, awake),
        _row("while memory_consolidate waits", during, [*before, *after]),
        Row("that sleep", _told(report), f"{len(during)} recalls meanwhile", None),
    ]
    return show("interruption", METHOD.format(size=size), rows)


def _asked(caller: Caller, corpus: Corpus) -> float:
    cue = corpus.cue()
    began = time.perf_counter()
    assert caller.call("memory_recall", cue=cue)["hits"]
    return time.perf_counter() - began


def _unhurried(caller: Caller, corpus: Corpus, count: int) -> list[float]:
    """Recalls with the pauses that those during a sleep have."""
    chance = random.Random(4)
    taken: list[float] = []
    while len(taken) < count:
        time.sleep(chance.uniform(0, 0.03))
        taken.append(_asked(caller, corpus))
    return taken


def _forced(
    home: Scratch, caller: Caller, corpus: Corpus, count: int
) -> tuple[list[float], list[float]]:
    """Recalls that find the daemon at work on a page, and those right after them."""
    chance = random.Random(5)
    middle: list[float] = []
    awake: list[float] = []
    with home.dial() as other:
        while len(middle) < count:
            caller.exchange({"type": "force_rem", "ts": "2026-01-01T00:00:00Z"})
            began = time.monotonic()
            while other.exchange({"type": "status"})["state"] != "SLEEP":
                assert time.monotonic() - began < _STARTED_WITHIN, "sleep did not begin"
                time.sleep(0.005)
            time.sleep(chance.uniform(0.02, 0.12))
            middle.append(_asked(caller, corpus))
            time.sleep(chance.uniform(0, 0.03))
            awake.append(_asked(caller, corpus))
    return middle, awake


def _consolidating(
    home: Scratch, caller: Caller, corpus: Corpus, at_most: int
) -> tuple[list[float], dict[str, Any]]:
    chance = random.Random(6)
    report: dict[str, Any] = {}

    def sleep() -> None:
        began = time.monotonic()
        with home.dial() as other, contextlib.suppress(OSError):
            told = other.call("memory_consolidate", wait=True)
            report.update(told, elapsed=time.monotonic() - began)

    asleep = threading.Thread(target=sleep)
    asleep.start()
    during: list[float] = []
    while asleep.is_alive() and len(during) < at_most:
        time.sleep(chance.uniform(0, 0.03))
        during.append(_asked(caller, corpus))
    if asleep.is_alive() and len(during) == at_most:
        home.kill()  # a first sleep over a large store takes longer than anybody waits here
    asleep.join()
    return during, report


def _told(report: dict[str, Any]) -> str:
    if not report:
        return "broken off"
    return (
        f"{report['seconds']:.1f} s of work in {report['elapsed']:.1f} s, {report['pages']} pages"
    )


def _row(what: str, taken: list[float], beside: list[float] | None) -> Row:
    late = percentile(taken, 0.95)
    told = f"p50 {percentile(taken, 0.5) * 1e3:.1f} ms, p95 {late * 1e3:.1f} ms"
    if beside is None:
        return Row(what, told, "", None)
    ratio = late / percentile(beside, 0.95)
    return Row(what, f"{told} = {ratio:.2f}x", "<= 1.5x awake", ratio <= 1.5)
