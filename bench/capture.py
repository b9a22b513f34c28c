"""What a hook costs, how soon a spooled turn is stored, and what kills leave behind."""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.report import Row, percentile, show
from bench.scratch import Scratch, scratch

METHOD = (
    "Wall time of whole processes, each run beside a bare `python -c pass`, medians of 15; transcripts are\n"
    "Claude Code's lines of 0.7 KB. Drain: from the spool file's rename to the file's removal, 40 files. Faults:\n"
    "a transcript grows, a hook is started and killed at 0.2 to 3 of a short hook's life, the daemon too in\n"
    "every fourth round. The last capture is undisturbed; what was stored before it is counted apart."
)
RUNS = 15
LONG = 20_000  # turns of a transcript that is captured again after one more
HOOK = ("-m", "iai_mcp.cli", "capture-transcript", "--no-spawn", "--session-id")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench capture")
    parser.add_argument("--rounds", type=int, default=200, help="fault rounds")
    rounds = parser.parse_args(arguments).rounds
    rows: list[Row] = []
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)  # vectors play no part in this
        rows += _hooks(home)
        home.start()
        rows += _with_daemon(home)
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)
        rows += _faults(home, rounds)
    return show("capture", METHOD, rows)


def _hooks(home: Scratch) -> list[Row]:
    """The cost of a hook while the daemon is down."""
    short = _transcript(home.path / "short.jsonl", 100)
    base, down = _beside_bare(lambda: _hook(home, short))
    long = _transcript(home.path / "long.jsonl", LONG)
    began = time.perf_counter()
    _hook(home, long)
    first = time.perf_counter() - began
    again: list[float] = []
    for _ in range(RUNS):
        _transcript(long, 1)
        began = time.perf_counter()
        _hook(home, long)
        again.append(time.perf_counter() - began)
    median = percentile(again, 0.5)
    return [
        Row("bare python", f"{base * 1000:.1f} ms", "", None),
        _ratio("hook, 100 turns, daemon down", down, base, 4.0),
        Row(
            f"hook, {LONG:,} turns, first time", f"{first * 1000:.0f} ms", "<= 800 ms", first <= 0.8
        ),
        _ratio(f"hook, {LONG:,} turns, one new", median, base, 4.0),
    ]


def _with_daemon(home: Scratch) -> list[Row]:
    """The cost of a hook while the daemon is up, and how fast it takes from the spool."""
    _settle(home)
    short = _transcript(home.path / "up.jsonl", 100)
    base, up = _beside_bare(lambda: _hook(home, short))
    spool = home.path / "store" / ".deferred-captures"
    latencies = [_drained_after(spool, number) for number in range(40)]
    began = time.perf_counter()
    bulk = _spooled(spool, "bulk", 10_000)
    while bulk.exists():
        time.sleep(0.005)
    rate = 10_000 / (time.perf_counter() - began)
    late = percentile(latencies, 0.95)
    return [
        _ratio("hook, 100 turns, daemon up", up, base, 4.0),
        Row("drain latency, p95", f"{late * 1000:.0f} ms", "<= 1000 ms", late <= 1.0),
        Row("drain rate", f"{rate:,.0f} turns/s", ">= 500 turns/s", rate >= 500),
    ]


def _faults(home: Scratch, rounds: int) -> list[Row]:
    chance = random.Random(1)
    transcript = home.path / "growing.jsonl"
    spool = home.path / "store" / ".deferred-captures"
    _append(transcript, ["turn 0"])
    said = ["turn 0"]
    lifetime = _lifetime(home, transcript)
    outcomes = {"finished": 0, "killed": 0, "half-written": 0, "daemon": 0}
    up = False
    for number in range(rounds):
        texts = [f"turn {len(said) + n} " + "x" * chance.choice((0, 500, 20_000)) for n in range(9)]
        said += texts
        _append(transcript, texts)
        if not up and number % 4 == 1:
            home.start()
            up = True
        before = _hidden(spool)
        hook = _spawn(home, transcript, "faults")
        doomed = up and number % 4 == 3
        # Both die within the life of the hook: before, while and after it delivers. A long
        # transcript and a daemon to talk to make that life longer than the one measured.
        dies = {"hook": chance.uniform(0.2, 3.0) * lifetime}
        if doomed:
            dies["daemon"] = chance.uniform(0.2, 3.0) * lifetime
        began = time.perf_counter()
        for victim in sorted(dies, key=lambda name: dies[name]):
            time.sleep(max(0.0, dies[victim] - (time.perf_counter() - began)))
            if victim == "daemon":
                home.kill()
                up = False
                outcomes["daemon"] += 1
            elif hook.poll() is None:
                hook.send_signal(signal.SIGKILL)
        hook.communicate()
        outcomes["finished" if hook.returncode == 0 else "killed"] += 1
        outcomes["half-written"] += len(_hidden(spool) - before)
    waited = len(list(spool.glob("[!.]*.jsonl")))
    if not up:
        home.start()
    while list(spool.glob("[!.]*.jsonl")):
        time.sleep(0.02)
    without_last = len(_stored(home))
    _spawn(home, transcript, "faults").communicate()
    while list(spool.glob("[!.]*.jsonl")):
        time.sleep(0.02)
    stored = _stored(home)
    lost, doubled = len(set(said) - set(stored)), len(stored) - len(set(stored))
    told = ", ".join(f"{count} {name}" for name, count in outcomes.items())
    mixed = min(outcomes["finished"], outcomes["killed"]) >= rounds // 5
    return [
        Row("fault rounds", f"{rounds}", "200", rounds >= 200 or None),
        Row("what the kills met", told, "a fifth each way at least", mixed),
        Row("spool files left at the end", str(waited), "", None),
        Row(
            "turns said, stored before the last capture",
            f"{len(said):,}, {without_last:,}",
            "",
            None,
        ),
        Row("lost", str(lost), "0", lost == 0),
        Row("doubled", str(doubled), "0", doubled == 0),
    ]


def _lifetime(home: Scratch, transcript: Path) -> float:
    """How long a hook lives here and now: kills have to fall into it to prove anything."""
    taken: list[float] = []
    for _ in range(RUNS):
        began = time.perf_counter()
        _spawn(home, transcript, "faults").communicate()
        taken.append(time.perf_counter() - began)
    return percentile(taken, 0.5)


def _hidden(spool: Path) -> set[str]:
    return {path.name for path in spool.glob(".*.tmp")}


def _stored(home: Scratch) -> list[str]:
    records = home.call("memory_timeline", session_id="faults", limit=100_000)["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]


def _settle(home: Scratch) -> None:
    """Wait until the daemon has loaded what it loads after its start, and rests."""
    assert home.process
    status = Path(f"/proc/{home.process.pid}/stat")
    before = -1
    while (now := sum(map(int, status.read_text().rsplit(")", 1)[1].split()[11:13]))) > before + 2:
        before = now
        time.sleep(0.5)


def _beside_bare(work: Callable[[], None]) -> tuple[float, float]:
    """(median of bare Python, median of the work), taken in turns."""
    bare: list[float] = []
    taken: list[float] = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return percentile(bare, 0.5), percentile(taken, 0.5)


def _ratio(what: str, took: float, base: float, most: float) -> Row:
    measured = f"{took * 1000:.1f} ms, {took / base:.1f}x"
    return Row(what, measured, f"<= {most:.0f}x bare python", took <= most * base)


def _spawn(home: Scratch, transcript: Path, session: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, *HOOK, session, str(transcript)],
        env=home.environment,
        stdout=subprocess.PIPE,
    )


def _hook(home: Scratch, transcript: Path) -> None:
    out, _ = _spawn(home, transcript, transcript.stem).communicate()
    assert json.loads(out)["status"] in ("captured", "deferred"), out


def _transcript(path: Path, turns: int) -> Path:
    _append(path, [f"turn {n} " + "words about the port and the build " * 10 for n in range(turns)])
    return path


def _append(path: Path, texts: list[str]) -> None:
    with path.open("a") as file:
        for text in texts:
            line = {
                "type": "user",
                "message": {"role": "user", "content": text},
                "uuid": str(uuid.uuid4()),
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "cwd": "/home/ann/shop",
                "sessionId": "00000000-0000-0000-0000-000000000000",
                "version": "2.1.197",
                "gitBranch": "main",
            }
            file.write(json.dumps(line) + "\n")


def _spooled(spool: Path, session: str, turns: int) -> Path:
    """A spool file as a hook leaves it."""
    header = {
        "version": 1,
        "deferred_at": "2026-03-01T09:30:00Z",
        "session_id": session,
        "cwd": "/",
    }
    words = "words about the port and the build "
    events = [
        {"text": f"{n} {words}", "role": "user", "id": f"{session}-{n}"} for n in range(turns)
    ]
    spool.mkdir(mode=0o700, exist_ok=True)
    hidden = spool / f".{session}-1.jsonl.tmp"
    hidden.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)))
    visible = spool / f"{session}-1.jsonl"
    hidden.rename(visible)
    return visible


def _drained_after(spool: Path, number: int) -> float:
    began = time.perf_counter()
    file = _spooled(spool, f"latency-{number}", 20)
    while file.exists():
        time.sleep(0.002)
    return time.perf_counter() - began
