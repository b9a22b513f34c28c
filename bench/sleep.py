"""`python -m bench sleep [--locomo FILE …] [--quick]`: recall before and after a sleep, and during it."""

import argparse
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.quality.datasets import Conversation
from bench.quality.filling import fill
from bench.quality.metrics import Outcome, share
from bench.quality.run import asked_of, chosen, outcome_of
from bench.report import Row, percentile, show
from bench.scratch import Scratch

METHOD = (
    "Each set is filled over the socket of a real daemon; every question is asked, then memory_consolidate runs with\n"
    "wait while the same questions are asked on another connection, then they are asked again. A sleep must not lose\n"
    "a single answer: the shares after it are held against those before it, question by question."
)
_SETS = ("locomo", "longmemeval", "beam", "coding", "languages")
_MEASURES = (("any", 1), ("any", 5), ("any", 10), ("all", 10), ("all", 20))
# A page may take about 20 ms; the mean over all of them is what the report can tell.
_PAGE_MS = 20.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sleep")
    for name in ("locomo", "longmemeval", "beam"):
        parser.add_argument(f"--{name}", type=Path, help="the set's JSON file")
    parser.add_argument("--quick", action="store_true", help="a sample, for every day")
    parser.add_argument("--no-own", action="store_true", help="leave out the project's own sets")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for name in _SETS:
        talks = chosen(name, options)
        if talks:
            rows += _measured(name, talks)
    return show("sleep", METHOD, rows)


def _measured(name: str, talks: Sequence[Conversation]) -> list[Row]:
    home = Scratch()
    try:
        home.start()
        home.wait_warm()
        with home.dial() as caller:
            print(f"{name}: filling", flush=True)
            fill(caller, talks)
            before = _answers(caller, talks)
            awake = home.resident()
            report, during = _slept(home, caller, talks)
            after = _answers(caller, talks)
            grown = home.resident() - awake
        home.stop()
    finally:
        home.remove()
    return [
        *_quality(name, before, after),
        *_work(name, report, grown),
        _waits(name, before, during),
    ]


def _answers(caller: Any, talks: Sequence[Conversation]) -> list[Outcome]:
    return [outcome_of(q, *asked_of(caller, q)) for talk in talks for q in talk.questions]


def _slept(
    home: Scratch, caller: Any, talks: Sequence[Conversation]
) -> tuple[dict[str, Any], list[float]]:
    """The report, and how long questions took that came while sleep went on."""
    report: dict[str, Any] = {}

    def sleep() -> None:
        with home.dial() as other:
            report.update(other.call("memory_consolidate", wait=True))

    asleep = threading.Thread(target=sleep)
    asleep.start()
    during: list[float] = []
    questions = [question for talk in talks for question in talk.questions]
    while asleep.is_alive() and len(during) < 20_000:
        asked = questions[len(during) % len(questions)]
        during.append(asked_of(caller, asked)[1])
    asleep.join()
    return report, during


def _quality(name: str, before: list[Outcome], after: list[Outcome]) -> list[Row]:
    rows: list[Row] = []
    for measure, k in _MEASURES:
        was, now = share(before, measure, k), share(after, measure, k)
        what = f"{name} ({was.count}) {measure}@{k} after"
        rows.append(
            Row(what, f"{now.value:.4f}", f">= {was.value:.4f} before", now.value >= was.value)
        )
    return rows


def _work(name: str, report: dict[str, Any], grown: float) -> list[Row]:
    pages, seconds = report["pages"], report["seconds"]
    did = f"{report['folded']} folded"
    failed = [step["name"] for step in report["steps"] if step.get("failed")]
    mean = 1e3 * seconds / max(1, pages)
    return [
        Row(f"{name}: sleep", f"{seconds:.1f} s in {pages} pages", did, not failed),
        Row(f"{name}: a page, mean", f"{mean:.1f} ms", f"<= {_PAGE_MS:.0f} ms", mean <= _PAGE_MS),
        Row(f"{name}: resident memory grew", f"{grown:.1f} MB", "", None),
    ]


def _waits(name: str, before: list[Outcome], during: list[float]) -> Row:
    awake = [one.seconds for one in before]
    told = f"{percentile(awake, 0.95) * 1e3:.1f} ms awake, {len(during)} asked asleep"
    if not during:
        return Row(f"{name}: a question while asleep, p95", "-", told, None)
    return Row(
        f"{name}: a question while asleep, p95",
        f"{percentile(during, 0.95) * 1e3:.1f} ms",
        told,
        None,
    )
