"""Redaction and import: how fast text is cleaned, history comes in, and a session is briefed."""

import json
import time
from pathlib import Path

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Scratch, scratch
from iai_mcp.domain.redaction import redact

METHOD = (
    "Redaction: 4,000 turns one by one, CPU time. Import: 10,000 turns in 20 files of Claude Code, from the\n"
    "start of `iai-mcp import` to its end, the daemon running, text findable (vectors follow). Session start\n"
    "and prompt: over the socket, 40 each, against that store; the first includes what is not cached yet."
)
TURNS = 10_000
FILES = 20
ASKED = 40


def main(arguments: list[str]) -> int:
    corpus = Corpus()
    rows = _redaction(corpus)
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)  # vectors play no part in this
        _write_history(home, corpus)
        home.start()
        rows += _import(home)
        rows += _injection(home)
    return show("care", METHOD, rows)


def _redaction(corpus: Corpus) -> list[Row]:
    texts = [str(event["text"]) for _, event in corpus.turns(4_000)]
    size = sum(len(text.encode()) for text in texts) / 1e6
    began = time.process_time()
    changed = sum(redact(text).text != text for text in texts)
    rate = size / (time.process_time() - began)
    return [
        Row("redaction of ordinary text", f"{rate:,.1f} MB/s", ">= 5 MB/s", rate >= 5),
        Row(
            "turns without secrets that were changed",
            f"{changed} of {len(texts)}",
            "0",
            not changed,
        ),
    ]


def _write_history(home: Scratch, corpus: Corpus) -> None:
    folder = home.path / ".claude/projects/-bench"
    folder.mkdir(parents=True)
    (home.path / "bench/.git").mkdir(parents=True)
    turns = [str(event["text"]) for _, event in corpus.turns(TURNS)]
    each = TURNS // FILES
    for number in range(FILES):
        lines = []
        for place, text in enumerate(turns[number * each : (number + 1) * each]):
            role = ("user", "assistant")[place % 2]
            line = {
                "type": role,
                "uuid": f"{number}-{place}",
                "sessionId": f"session-{number}",
                "cwd": str(home.path / "bench"),
                "timestamp": f"2026-01-{number + 1:02d}T10:{place // 60 % 60:02d}:{place % 60:02d}Z",
                "message": {"role": role, "content": text},
            }
            lines.append(json.dumps(line))
        Path(folder, f"session-{number}.jsonl").write_text("\n".join(lines) + "\n")


def _import(home: Scratch) -> list[Row]:
    first, seconds = _run_import(home)
    again, seconds_again = _run_import(home)
    rate = TURNS / seconds
    stored = first["inserted"] == TURNS and again["inserted"] == 0
    return [
        Row("import, turns to searchable text", f"{rate:,.0f}/s", ">= 500/s", rate >= 500),
        Row("every turn once, nothing the second time", str(stored).lower(), "true", stored),
        Row("the same import again", f"{seconds_again:.2f} s", "", None),
    ]


def _run_import(home: Scratch) -> tuple[dict[str, object], float]:
    import subprocess
    import sys

    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "iai_mcp.cli", "import", "--json"],
        env=home.environment,
        cwd=home.path,
        capture_output=True,
        check=True,
    )
    return dict(json.loads(done.stdout)), time.perf_counter() - began


def _injection(home: Scratch) -> list[Row]:
    where = str(home.path / "bench")
    starts = _timed(home, "session_start_payload", [{"cwd": where}] * ASKED)
    cues = [str(event["text"])[:200] for _, event in Corpus().turns(ASKED)]
    prompts = _timed(home, "prompt_injection", [{"cwd": where, "prompt": cue} for cue in cues])
    start, prompt = percentile(starts, 0.95), percentile(prompts, 0.95)
    return [
        Row("session start, p95", f"{start:.0f} ms", "<= 500 ms", start <= 500),
        Row("memories for a prompt, p95", f"{prompt:.0f} ms", "<= 100 ms", prompt <= 100),
    ]


def _timed(home: Scratch, method: str, calls: list[dict[str, str]]) -> list[float]:
    taken = []
    with home.dial() as caller:
        for params in calls:
            began = time.perf_counter()
            caller.call(method, **params)
            taken.append((time.perf_counter() - began) * 1000)
    return taken
