"""Recall over the socket, beside embedding the cue and an exact scan in the same run."""

import argparse
import time

import numpy as np

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import scratch

METHOD = (
    "Model and MCP library loaded. Every cue is different and embedded by the daemon; 200 cues after 20 to warm\n"
    "up. The reference embeds the same cues in this process and scans as many float32 vectors exactly. RSS is the\n"
    "daemon's, after."
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench recall")
    parser.add_argument("--sizes", default="10000,100000", help="memories, comma-separated")
    sizes = [int(size) for size in parser.parse_args(arguments).sizes.split(",")]
    rows: list[Row] = []
    for size in sizes:
        rows += _measure(size)
    return show("recall", METHOD, rows)


def _measure(size: int) -> list[Row]:
    corpus = Corpus()
    with scratch() as home:
        home.fill(size, corpus)
        home.start()
        home.wait_warm()
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
    times = times[20:]
    p95 = percentile(times, 0.95) * 1000
    reference = _reference(size, cues[20:]) * 1000
    label = f"{size:,} memories"
    small = size <= 10_000
    goal, met = ("<= 3x reference", p95 <= 3 * reference) if small else ("<= 40 ms", p95 <= 40)
    limit = 180 if small else 300
    return [
        Row(f"{label}: embed + exact scan p95", f"{reference:.1f} ms", "", None),
        Row(f"{label}: recall p50", f"{percentile(times, 0.5) * 1000:.1f} ms", "", None),
        Row(f"{label}: recall p95", f"{p95:.1f} ms = {p95 / reference:.2f}x", goal, met),
        Row(f"{label}: daemon RSS", f"{memory:.0f} MB", f"<= {limit} MB", memory <= limit),
    ]


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
