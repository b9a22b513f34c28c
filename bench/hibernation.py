"""`python -m bench hibernation`: what a dormant daemon takes, and how soon it answers."""

import argparse
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.report import Row, show
from bench.scratch import Scratch, resident, scratch

METHOD = (
    "A store of {size:,} memories. Re-executed: a daemon whose thresholds are a second each lies down; its RSS is read,\n"
    "then one client connects and asks, timed from before the connect to the answer. Socket-activated: this program\n"
    "plays the service manager: it listens, and at the client's connect starts the daemon with fd 3. Each figure is\n"
    "the median of {rounds} (worst in brackets). CPU: of an awake daemon with its model loaded, over {seconds} s without a request."
)
_QUICKLY = {
    "IAI_MCP_DROWSY_AFTER": "1",
    "IAI_MCP_SLEEP_AFTER": "1",
    "IAI_MCP_HIBERNATE_AFTER": "2",
}
_WITHIN = 60.0
_STATUS: dict[str, object] = {"type": "status"}
_RECALL: dict[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "memory_recall",
    "params": {"cue": "memory 5"},
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench hibernation")
    parser.add_argument("--size", type=int, default=1000, help="memories in the store")
    parser.add_argument("--rounds", type=int, default=5, help="of each measurement")
    parser.add_argument("--idle", type=int, default=60, help="seconds of idleness watched")
    options = parser.parse_args(arguments)
    with scratch() as home:
        home.start()
        events = [{"text": f"memory {n}", "role": "user"} for n in range(options.size)]
        home.call("capture_events", session_id="s", events=events)
        home.wait_warm()
        while home.call("topology")["vectors_pending"]:
            time.sleep(0.1)
        idle = _idle(home, options.idle)
        home.stop()
        rows = [
            Row("idle CPU, awake", f"{idle:.3f} %", "< 0.2 %", idle < 0.2),
            *_reexecuted(home, options.rounds),
            *_activated(home, options.rounds),
        ]
    told = METHOD.format(size=options.size, rounds=options.rounds, seconds=options.idle)
    return show("hibernation", told, rows)


def _idle(home: Scratch, seconds: int) -> float:
    time.sleep(8)  # the MCP library loads after the model
    before = home.cpu()
    time.sleep(seconds)
    return (home.cpu() - before) / seconds * 100


def _reexecuted(home: Scratch, rounds: int) -> list[Row]:
    home.environment |= _QUICKLY
    memory: list[float] = []
    status: list[float] = []
    recall: list[float] = []
    try:
        home.start()
        for _ in range(rounds):
            for asked, taken in ((_STATUS, status), (_RECALL, recall)):
                memory.append(_dormant(home))
                taken.append(_answered(str(home.socket), asked))
        home.stop()
    finally:
        for name in _QUICKLY:
            home.environment.pop(name)
    return [
        Row("dormant, RSS", f"{max(memory):.1f} MB", "<= 60 MB", max(memory) <= 60),
        _row("dormant → first status", status),
        _row("dormant → first recall", recall),
    ]


def _dormant(home: Scratch) -> float:
    """Wait until the daemon has lain down; its resident megabytes."""
    assert home.process
    environ = Path(f"/proc/{home.process.pid}/environ")
    until = time.monotonic() + _WITHIN
    while b"IAI_MCP_DORMANT=1" not in environ.read_bytes():
        assert time.monotonic() < until, "the daemon does not lie down"
        time.sleep(0.05)
    time.sleep(0.3)
    return resident(home.process.pid)


def _activated(home: Scratch, rounds: int) -> list[Row]:
    status: list[float] = []
    recall: list[float] = []
    for _ in range(rounds):
        status.append(_started(home, _STATUS))
        recall.append(_started(home, _RECALL))
    return [
        _row("socket-activated → first status", status),
        _row("socket-activated → first recall", recall),
    ]


def _started(home: Scratch, asked: dict[str, object]) -> float:
    home.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(home.socket))
    listener.listen(16)
    began = time.perf_counter()
    # As a service manager does: the pid in the environment is that of the process it becomes.
    become = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ['LISTEN_PID'] = str(os.getpid()); "
        "os.execv(sys.executable, [sys.executable, '-m', 'iai_mcp.daemon'])"
    )
    home.process = subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", become, str(listener.fileno())],
        env={**home.environment, "LISTEN_FDS": "1"},
        pass_fds=[listener.fileno()],
        cwd="/",
    )
    _answered(str(home.socket), asked)
    taken = time.perf_counter() - began
    home.stop()
    listener.close()
    return taken


def _answered(path: str, asked: dict[str, object]) -> float:
    from bench.scratch import Caller

    began = time.perf_counter()
    with Caller(path) as caller:
        answer = caller.exchange(asked)
    taken = time.perf_counter() - began
    assert answer.get("ok") or "result" in answer, answer
    return taken


def _row(what: str, taken: list[float]) -> Row:
    middle = statistics.median(taken)
    return Row(what, f"{middle:.2f} s ({max(taken):.2f})", "<= 0.5 s", middle <= 0.5)
