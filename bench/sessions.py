"""Terminal sessions beside tmux, dtach and a bare PTY, in one run on one machine.

python -m bench sessions            everything, a few minutes
python -m bench sessions --quick    small amounts, to see that it works
python -m bench sessions --only memory,list
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.report import Row, percentile, show
from bench.session_rigs import DEADLINE, Ours, Rig, Tmux, Window, rigs
from iai_mcp.adapters.terminal.connection import Connection
from iai_mcp.protocol import terminal_frames as wire

METHOD = (
    "Floods are lines of 80 columns written by one program, timed by itself until the terminal has drained.\n"
    "Attached: what arrives in the client's own terminal. Echo: one byte through an attached client and back,\n"
    "while another session of the same kind floods; the raw PTY has the same flood beside it. PSS from\n"
    "smaps_rollup, idle sessions, so that the ring has no pages yet."
)
MB = 1_000_000

FLOOD = """
import os, sys, termios, time
block = (b"x" * 79 + b"\\n") * 800
total, where, frames = int(sys.argv[1]), sys.argv[2], len(sys.argv) > 3
if frames:
    block = (b"\\x1b[H" + b"".join(b"\\x1b[3%dm" % (n % 8) + b"y" * 79 + b"\\x1b[K\\r\\n" for n in range(23))) * 32
open(where + ".ready", "w").close()
while not os.path.exists(where + ".go"):
    time.sleep(0.001)
began, done = time.perf_counter(), 0
while done < total:
    done += os.write(1, block)
termios.tcdrain(1)
with open(where + ".new", "w") as out:
    out.write(f"{done} {time.perf_counter() - began}")
os.rename(where + ".new", where)
os.write(1, b"\\nflood-ended\\n")
time.sleep(3600)
"""
ECHO = """
import os, tty
tty.setraw(0)
while True:
    os.write(1, os.read(0, 1))
"""


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench sessions", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    wanted = [name for name in options.only.split(",") if name] or list(MEASURES)
    rows: list[Row] = []
    for name in wanted:
        with rigs() as made:
            rows += MEASURES[name](made, options.quick)
    return show("sessions", METHOD, rows)


# --- speed


def detached(made: list[Rig], quick: bool) -> list[Row]:
    size = (20 if quick else 300) * MB
    speeds = {rig.label: _flood_detached(rig, size) for rig in made}
    tmux = speeds.get("tmux")
    rows = [
        Row(
            "detached output",
            f"{speeds['iai-mcp'] / MB:.0f} MB/s",
            ">= 50 MB/s",
            speeds["iai-mcp"] >= 50 * MB,
        )
    ]
    if tmux:
        times = speeds["iai-mcp"] / tmux
        rows.append(Row("  beside tmux", f"{times:.1f} x", ">= 3 x", times >= 3))
    rows += [
        Row(f"  {n}", f"{s / MB:.0f} MB/s", "", None) for n, s in speeds.items() if n != "iai-mcp"
    ]
    return rows


def _flood_detached(rig: Rig, size: int) -> float:
    """Bytes per second that the program gets rid of while nobody is attached."""
    result = rig.home / "flood"
    rig.start("flood", _python(FLOOD, str(size), str(result)))
    _go(result)
    written, seconds = _result(result)
    if isinstance(rig, Ours):
        with Connection(rig.record("flood").socket) as connection:
            arrived = connection.state().head
        # Every newline became two bytes on its way; the last line comes on top.
        assert arrived >= written + written // 80, "bytes were lost"
    return written / seconds


def _go(where: Path) -> None:
    """Let the flood begin, once its program is there."""
    _appears(where.with_name(where.name + ".ready"))
    where.with_name(where.name + ".go").touch()


def _appears(path: Path) -> None:
    stop = time.monotonic() + DEADLINE
    while not path.exists():
        if time.monotonic() > stop:
            raise RuntimeError(f"{path.name} never came")
        time.sleep(0.005)


def _result(path: Path) -> tuple[int, float]:
    _appears(path)
    written, seconds = path.read_text().split()
    return int(written), float(seconds)


def attached(made: list[Rig], quick: bool) -> list[Row]:
    size = (10 if quick else 200) * MB
    rows = []
    for rig in made:
        result = rig.home / "attached"
        rig.start("attached", _python(FLOOD, str(size), str(result)))
        with rig.attached("attached") as window:
            window.settle()
            arrived, seconds = _count(window, result)
        expected = _result(result)[0] * 81 // 80
        lost = max(0, expected - arrived)
        ours = isinstance(rig, Ours)
        rows.append(
            Row(f"attached output, {rig.label}", f"{arrived / seconds / MB:.0f} MB/s", "", None)
        )
        rows.append(
            Row(
                "  bytes that did not arrive",
                f"{lost:,}",
                "0" if ours else "",
                lost == 0 if ours else None,
            )
        )
    return rows


def _count(window: Window, flood: Path) -> tuple[int, float]:
    """How much arrives between the go and the end of a flood, and in what time."""
    _go(flood)
    began = time.perf_counter()
    arrived, tail = 0, b""
    while b"flood-ended" not in tail:
        piece = window.read()
        if not piece:
            raise RuntimeError("the end of the flood never came")
        arrived += len(piece)
        tail = tail[-64:] + piece[-4096:]
    return arrived, time.perf_counter() - began


# --- latency


def echo(made: list[Rig], quick: bool) -> list[Row]:
    rounds = 100 if quick else 1000
    rows = []
    raw: list[float] = []
    for rig in made:
        rig.start("flood", _python(FLOOD, str(20_000 * MB), str(rig.home / "never")))
        rig.start("echo", _python(ECHO))
        _go(rig.home / "never")
        if isinstance(rig, Ours):
            raw = _echo_times(Window(_python(ECHO), rig.environment), rounds)
            rows.append(_latency("echo beside a flood, raw PTY", raw, None))
            direct = _socket_echo(rig, rounds)
            rows.append(_latency("echo beside a flood, iai-mcp's socket", direct, None))
        times = _echo_times(Window(rig.attach_command("echo"), rig.environment), rounds)
        limit = 2 * percentile(raw, 0.99) if isinstance(rig, Ours) else None
        rows.append(_latency(f"echo beside a flood, {rig.label}", times, limit))
        rig.stop()
    return rows


def _latency(what: str, times: list[float], limit: float | None) -> Row:
    p50, p99 = percentile(times, 0.5) * 1000, percentile(times, 0.99) * 1000
    goal = f"p99 <= {limit * 1000:.2f} ms (2 x raw)" if limit else ""
    measured = f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"
    return Row(what, measured, goal, p99 <= limit * 1000 if limit else None)


def _echo_times(window: Window, rounds: int) -> list[float]:
    window.settle()
    times = []
    for n in range(rounds):
        letter = bytes([97 + n % 26])
        began = time.perf_counter()
        window.type(letter)
        window.until(letter)
        times.append(time.perf_counter() - began)
        time.sleep(0.002)
    window.close()
    return times


def _socket_echo(rig: Ours, rounds: int) -> list[float]:
    times = []
    with Connection(rig.record("echo").socket) as connection:
        connection.attach(wire.LIVE)
        for n in range(rounds):
            began = time.perf_counter()
            connection.send(wire.INPUT, wire.pack((0, 4)) + bytes([97 + n % 26]))
            connection.expect(wire.OUTPUT)
            times.append(time.perf_counter() - began)
            time.sleep(0.002)
    return times


def attach_time(made: list[Rig], quick: bool) -> list[Row]:
    rounds = 5 if quick else 20
    rows = []
    for rig in made:
        result = rig.home / "full"
        rig.start("full", _python(FLOOD, str(8 * MB), str(result), "frames"))
        _go(result)
        _result(result)
        if isinstance(rig, Ours):
            firsts = [_first_byte(rig) for _ in range(rounds)]
            worst = max(firsts) * 1000
            median = percentile(firsts, 0.5) * 1000
            rows.append(
                Row(
                    "attach, full ring: connect to first byte",
                    f"{median:.2f} ms (worst {worst:.2f})",
                    "<= 15 ms",
                    median <= 15,
                )
            )
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            with rig.attached("full") as window:
                window.read()
                times.append(time.perf_counter() - began)
        shown = f"{percentile(times, 0.5) * 1000:.0f} ms"
        rows.append(Row(f"  command to first byte, {rig.label}", shown, "", None))
    return rows


def _first_byte(rig: Ours) -> float:
    path = rig.record("full").socket
    began = time.perf_counter()
    with Connection(path) as connection:
        connection.attach(wire.SCREEN, 24, 80)
        connection.expect(wire.OUTPUT)
        return time.perf_counter() - began


# --- memory


def memory(made: list[Rig], quick: bool) -> list[Row]:
    rows = []
    for rig in made:
        started = 0
        for count in (1, 20) if quick else (1, 20, 100):
            while started < count:
                rig.start(f"s{started}", ["cat"])
                started += 1
            time.sleep(0.5)
            each = sum(_pss(pid) for pid in rig.holders()) / count / 1024
            goal = isinstance(rig, Ours) and count == 20
            rows.append(
                Row(
                    f"PSS per session, {count} sessions, {rig.label}",
                    f"{each:.2f} MB",
                    "<= 5 MB" if goal else "",
                    each <= 5 if goal else None,
                )
            )
        rig.stop()
    return rows


def _pss(pid: int) -> int:
    """Kilobytes of memory that are this process's share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def redraws(made: list[Rig], quick: bool) -> list[Row]:
    rows = []
    for rig in made:
        # tmux parses what it holds, and would take minutes for a gigabyte.
        amount = 20 if quick else 1000 if not isinstance(rig, Tmux) else 200
        result = rig.home / "redraws"
        rig.start("redraws", _python(FLOOD, str(amount * MB), str(result), "frames"))
        before = sum(_rss(pid) for pid in rig.holders())
        _go(result)
        written, seconds = _result(result)
        grown = (sum(_rss(pid) for pid in rig.holders()) - before) / 1024
        ours = isinstance(rig, Ours)
        rows.append(
            Row(
                f"RSS growth after {amount} MB of redraws, {rig.label}",
                f"{grown:.1f} MB",
                "<= 4.2 MB ring + 1 MB" if ours else "",
                grown <= 5.3 if ours else None,
            )
        )
        rows.append(Row("  their speed", f"{written / seconds / MB:.0f} MB/s", "", None))
    return rows


def _rss(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def listing(made: list[Rig], quick: bool) -> list[Row]:
    count = 20 if quick else 100
    rows = []
    for rig in made:
        command = rig.list_command()
        if command is None:
            continue
        for n in range(count):
            rig.start(f"l{n}", ["sh", "-c", f"echo session {n} is here; cat"])
        time.sleep(0.5)
        times = []
        for _ in range(5 if quick else 11):
            began = time.perf_counter()
            subprocess.run(command, env=rig.environment, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
        median = percentile(times, 0.5) * 1000
        ours = isinstance(rig, Ours)
        what = f"list of {count} sessions, {rig.label}" + (" (with last lines)" if ours else "")
        goal = median <= 150 if ours else None
        rows.append(Row(what, f"{median:.0f} ms", "<= 150 ms" if ours else "", goal))
        rig.stop()
    return rows


# --- independence


def daemon_killed(made: list[Rig], quick: bool) -> list[Row]:
    """The memory daemon goes with `kill -9` while a client is attached."""
    del quick
    rig = made[0]
    environment = {
        **rig.environment,
        "IAI_DAEMON_SOCKET_PATH": str(rig.home / "d.sock"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    daemon = subprocess.Popen([sys.executable, "-m", "iai_mcp.daemon"], env=environment)
    rig.start("echo", _python(ECHO))
    stop = time.monotonic() + 30
    while not (rig.home / "d.sock").exists() and time.monotonic() < stop:
        time.sleep(0.02)
    with rig.attached("echo") as window:
        window.settle()
        killer = threading.Timer(0.05, lambda: os.kill(daemon.pid, signal.SIGKILL))
        killer.start()
        times = []
        for n in range(100):
            letter = bytes([97 + n % 26])
            began = time.perf_counter()
            window.type(letter)
            window.until(letter)
            times.append(time.perf_counter() - began)
        killer.join()
    daemon.wait()
    slowest = max(times) * 1000
    return [
        Row(
            "memory daemon killed while attached",
            f"100 of 100 echoes, slowest {slowest:.1f} ms",
            "goes on",
            len(times) == 100,
        )
    ]


MEASURES: dict[str, Callable[[list[Rig], bool], list[Row]]] = {
    "detached": detached,
    "attached": attached,
    "echo": echo,
    "attach": attach_time,
    "memory": memory,
    "redraws": redraws,
    "list": listing,
    "daemon": daemon_killed,
}
