"""How soon the daemon and the bridge answer, beside a bare interpreter in the same run."""

import json
import subprocess
import sys
import time
from collections.abc import Callable

from bench.report import Row, show
from bench.scratch import Scratch, resident, scratch

METHOD = (
    "Median of 15 spawns each, alternating with bare `python -c pass`; the daemon's store holds a hundred\n"
    "memories; the bridge is timed from spawn to the answer of `initialize`, its RSS read after that."
)
ROUNDS = 15


def main(arguments: list[str]) -> int:
    bare: list[float] = []
    with scratch() as home:
        home.start()
        events = [{"text": f"memory {n}", "role": "user"} for n in range(100)]
        home.call("capture_events", session_id="s", events=events)
        home.wait_warm()
        up = [_alternating(bare, lambda: _bridge(home)) for _ in range(ROUNDS)]
        home.stop()
        down = [_alternating(bare, lambda: _bridge(home)) for _ in range(ROUNDS)]
        first, vector = zip(*[_daemon(home) for _ in range(5)], strict=True)
    base = _median(bare)
    rows = [
        Row("bare python", f"{base * 1000:.1f} ms", "", None),
        _spawned("bridge, daemon up", up, base),
        _spawned("bridge, daemon down", down, base),
        Row(
            "bridge RSS",
            f"{max(rss for _, rss in (*up, *down)):.1f} MB",
            "<= 12 MB",
            max(rss for _, rss in (*up, *down)) <= 12,
        ),
        Row(
            "daemon, first status",
            f"{_median(list(first)):.2f} s",
            "<= 0.5 s",
            _median(list(first)) <= 0.5,
        ),
        Row(
            "daemon, first vector recall",
            f"{_median(list(vector)):.2f} s",
            "<= 1.5 s",
            _median(list(vector)) <= 1.5,
        ),
    ]
    return show("startup", METHOD, rows)


def _alternating(
    bare: list[float], measure: Callable[[], tuple[float, float]]
) -> tuple[float, float]:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    bare.append(time.perf_counter() - began)
    return measure()


def _bridge(home: Scratch) -> tuple[float, float]:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    }
    line = json.dumps(hello).encode() + b"\n"
    began = time.perf_counter()
    bridge = subprocess.Popen(
        [sys.executable, "-m", "iai_mcp.bridge"],
        env=home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert bridge.stdin and bridge.stdout
    bridge.stdin.write(line)
    bridge.stdin.flush()
    answer = bridge.stdout.readline()
    took = time.perf_counter() - began
    assert b'"iai-mcp"' in answer
    memory = resident(bridge.pid)
    bridge.stdin.close()
    bridge.wait(timeout=10)
    bridge.stdout.close()
    return took, memory


def _daemon(home: Scratch) -> tuple[float, float]:
    began = time.perf_counter()
    status = home.start()
    while home.call("memory_recall", cue="memory 5")["degraded"]:
        time.sleep(0.005)
    vector = time.perf_counter() - began
    home.stop()
    return status, vector


def _spawned(what: str, measured: list[tuple[float, float]], base: float) -> Row:
    middle = _median([took for took, _ in measured])
    return Row(
        what, f"{middle * 1000:.1f} ms = {middle / base:.2f}x", "<= 2.5x bare", middle <= 2.5 * base
    )


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
