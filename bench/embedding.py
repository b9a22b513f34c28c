"""`python -m bench embedding [--data DIR] [--before CHECKOUT]`: what it takes until meaning works."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Scratch, needed_model

METHOD = (
    "A store without any vector (turns of one to forty sentences, or the transcripts in DIR) is embedded in a process of\n"
    "its own: with one thread, with two, and by the other checkout, one after the other, in rounds; medians. Beside it\n"
    "the bare session on the same tokens. Processor time is that of the process."
)
_RUN = Path(__file__).parent / "embedding_run.py"

Told = dict[str, float]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench embedding")
    parser.add_argument("--data", type=Path, help="a directory with transcripts of Claude Code")
    parser.add_argument("--turns", type=int, default=600, help="that are made up, without --data")
    parser.add_argument("--before", type=Path, help="another checkout to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    needed_model()
    home = Scratch()
    try:
        _fill(home, options)
        told: dict[str, list[Told]] = {}
        for number in range(options.rounds):
            for name, checkout, threads in _variants(options.before):
                store = home.path / f"{name}-{number}"
                shutil.copytree(home.environment["IAI_MCP_STORE"], store)
                told.setdefault(name, []).append(_run(home, store, checkout, threads))
                shutil.rmtree(store)
    finally:
        home.remove()
    return show("embedding", METHOD, _rows(told))


def _variants(before: Path | None) -> list[tuple[str, Path | None, int]]:
    own: list[tuple[str, Path | None, int]] = [("one", None, 1), ("two", None, 2)]
    return own if before is None else [("before", before, 1), *own]


def _fill(home: Scratch, options: argparse.Namespace) -> None:
    model = home.environment.pop("IAI_MCP_EMBED_MODEL")
    home.environment["IAI_MCP_EMBED_MODEL"] = "/nonexistent"  # nothing is embedded yet
    home.start()
    if options.data is not None:
        for path in sorted(options.data.glob("**/*.jsonl")):
            command = ["-m", "iai_mcp.cli", "capture-transcript", "--host", "claude-code"]
            given = ["--session-id", path.stem, str(path)]
            subprocess.run(
                [sys.executable, *command, *given],
                env=home.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
    else:
        corpus, chance = Corpus(), random.Random(7)
        for start in range(0, options.turns, 100):
            events = [
                _turn(corpus, chance, n) for n in range(start, min(start + 100, options.turns))
            ]
            home.call("capture_events", session_id=f"s{start}", project="bench", events=events)
    home.stop()
    home.environment["IAI_MCP_EMBED_MODEL"] = model


def _turn(corpus: Corpus, chance: random.Random, number: int) -> dict[str, object]:
    sentences = min(40, int(chance.expovariate(1 / 6)) + 1)
    text = " ".join(f"{corpus.text().capitalize()}." for _ in range(sentences))
    return {"id": str(number), "role": ("user", "assistant")[number % 2], "text": text}


def _run(home: Scratch, store: Path, checkout: Path | None, threads: int) -> Told:
    source = (checkout or Path(__file__).parents[1]).resolve() / "src"
    environment = {
        **home.environment,
        "PYTHONPATH": os.fspath(source),
        "IAI_MCP_EMBED_THREADS": str(threads),
    }
    done = subprocess.run(
        [sys.executable, str(_RUN), str(store)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


def _rows(told: dict[str, list[Told]]) -> list[Row]:
    def of(name: str, what: str) -> float:
        return percentile([one[what] for one in told[name]], 0.5)

    turns, tokens = of("one", "turns"), of("one", "tokens")
    rows = [
        Row(
            "turns, passages, tokens",
            f"{turns:,.0f}, {of('one', 'texts'):,.0f}, {tokens:,.0f}",
            "",
            None,
        ),
        Row("bare session", f"{tokens / of('one', 'raw_cpu'):,.0f} tokens/s of a core", "", None),
        Row(
            "the same by the backlog",
            f"{tokens / of('one', 'cpu'):,.0f} tokens/s of a core",
            "",
            None,
        ),
        Row("beside the bare session", f"{of('one', 'cpu') / of('one', 'raw_cpu'):.2f}x", "", None),
    ]
    for name in told:
        first, whole = of(name, "first_seconds"), of(name, "seconds")
        spent = f"{first:.1f} s, then {whole:.1f} s; {of(name, 'cpu'):.1f} s of a core"
        rows.append(Row(f"{name}: all found by meaning, all done", spent, "", None))
    faster = of("one", "seconds") / of("two", "seconds")
    rows.append(Row("two threads beside one", f"{faster:.2f}x", ">= 1.6x on real cores", None))
    if "before" in told:
        meaning = of("one", "first_seconds") / of("before", "first_seconds")
        cpu = of("one", "cpu") / of("before", "cpu")
        rows += [
            Row(
                "all found by meaning, beside before",
                f"{meaning:.2f}x",
                "<= 0.25x",
                meaning <= 0.25,
            ),
            Row("processor time, beside before", f"{cpu:.2f}x", "<= 0.50x", cpu <= 0.5),
        ]
    return rows
