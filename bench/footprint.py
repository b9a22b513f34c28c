"""What the daemon takes: resident memory when empty, warm and filled, and CPU while idle."""

import argparse
import time

from bench.corpus import Corpus
from bench.report import Row, show
from bench.scratch import scratch

METHOD = "RSS after the model and the MCP library are loaded and 20 recalls were answered; CPU time over 10 idle seconds."


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench footprint")
    parser.add_argument("--sizes", default="10,10000,100000", help="memories, comma-separated")
    rows: list[Row] = []
    for size in map(int, parser.parse_args(arguments).sizes.split(",")):
        limit = 180 if size <= 10_000 else 300
        memory, cpu = _measure(size)
        rows.append(Row(f"RSS at {size:,}", f"{memory:.0f} MB", f"<= {limit} MB", memory <= limit))
        rows.append(Row(f"idle CPU at {size:,}", f"{cpu:.2f} %", "<= 0.2 %", cpu <= 0.2))
    return show("footprint", METHOD, rows)


def _measure(size: int) -> tuple[float, float]:
    corpus = Corpus()
    with scratch() as home:
        home.fill(size, corpus)
        home.start()
        home.wait_warm()
        home.open_mcp()
        for _ in range(20):
            home.call("memory_recall", cue=corpus.cue())
        memory = home.resident()
        before = home.cpu()
        time.sleep(10)
        return memory, (home.cpu() - before) / 10 * 100
