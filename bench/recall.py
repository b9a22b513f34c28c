"""Recall over the socket, beside embedding the cue and an exact scan in the same run."""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Caller, Scratch, scratch

METHOD = (
    "Model and MCP library loaded. Every cue is different and embedded by the daemon; 200 cues after 20 to warm\n"
    "up. The reference embeds the same cues in this process and scans as many float32 vectors exactly. RSS is the\n"
    "daemon's, after. The first full recall: from spawning the daemon to an answer by meaning. Captures: turns in\n"
    "batches of 100, acknowledged, after all else."
)
_CAPTURED = 2_000


@dataclass(frozen=True, slots=True)
class _Goals:
    """What is wanted of a store of up to so many memories."""

    size: int
    p95: float  # milliseconds; of a small store, times the reference
    resident: float  # megabytes
    start: float  # seconds


_GOALS = (
    _Goals(10_000, 3.0, 180, 1.5),
    _Goals(100_000, 40.0, 300, 2.0),
    _Goals(1_000_000, 80.0, 900, 4.0),
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench recall")
    parser.add_argument("--sizes", default="10000,100000", help="memories, comma-separated")
    parser.add_argument("--stores", type=Path, help="directory in which filled stores are kept")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for size in map(int, options.sizes.split(",")):
        rows += _measure(size, options.stores)
    return show("recall", METHOD, rows)


def _measure(size: int, stores: Path | None) -> list[Row]:
    corpus = Corpus()
    with scratch() as home:
        home.fill(size, corpus, stores)
        started = _first_full_recall(home)
        home.open_mcp()
        cues = [corpus.cue() for _ in range(220)]
        with home.dial() as caller:
            times = []
            for cue in cues:
                began = time.perf_counter()
                answer = caller.call("memory_recall", cue=cue)
                times.append(time.perf_counter() - began)
                assert answer["hits"] and not answer["degraded"], answer
            memory = home.resident()
            captured = _captures(caller)
    return _rows(size, times[20:], _reference(size, cues[20:]) * 1000, memory, started, captured)


def _rows(
    size: int,
    times: list[float],
    reference: float,
    memory: float,
    started: float,
    captured: float,
) -> list[Row]:
    goals = next((one for one in _GOALS if size <= one.size), _GOALS[-1])
    p95, label = percentile(times, 0.95) * 1000, f"{size:,} memories"
    small = goals is _GOALS[0]
    most = goals.p95 * reference if small else goals.p95
    goal = f"<= {goals.p95:.0f}x reference" if small else f"<= {goals.p95:.0f} ms"
    return [
        Row(f"{label}: embed + exact scan p95", f"{reference:.1f} ms", "", None),
        Row(f"{label}: recall p50", f"{percentile(times, 0.5) * 1000:.1f} ms", "", None),
        Row(f"{label}: recall p95", f"{p95:.1f} ms = {p95 / reference:.2f}x", goal, p95 <= most),
        Row(
            f"{label}: daemon RSS",
            f"{memory:.0f} MB",
            f"<= {goals.resident:.0f} MB",
            memory <= goals.resident,
        ),
        Row(
            f"{label}: first full recall",
            f"{started:.2f} s",
            f"<= {goals.start:.1f} s",
            started <= goals.start,
        ),
        Row(f"{label}: captures", f"{captured:,.0f}/s", ">= 2,000/s", captured >= 2000),
    ]


def _first_full_recall(home: Scratch) -> float:
    began = time.perf_counter()
    home.start()
    home.wait_warm()  # who asks before is answered by words, and takes the processor from the start
    answer = home.call("memory_recall", cue="which index did we choose?")
    assert not answer["degraded"], answer
    return time.perf_counter() - began


def _captures(caller: Caller) -> float:
    events = [event for _, event in Corpus(9).turns(_CAPTURED)]
    began = time.perf_counter()
    for start in range(0, _CAPTURED, 100):
        part = events[start : start + 100]
        answer = caller.call("capture_events", session_id="new", project="bench", events=part)
        assert answer["inserted"] == len(part), answer
    return _CAPTURED / (time.perf_counter() - began)


def _reference(size: int, cues: list[str]) -> float:
    from iai_mcp.adapters.embedding.runtime import load_configured

    embedder = load_configured()
    matrix = (
        np.random.default_rng(3).standard_normal((size, embedder.dimensions)).astype(np.float32)
    )
    times = []
    for cue in cues:
        began = time.perf_counter()
        scores = matrix @ embedder.embed([cue])[0]
        np.argpartition(-scores, 10)[:10].sort()
        times.append(time.perf_counter() - began)
    return percentile(times, 0.95)
