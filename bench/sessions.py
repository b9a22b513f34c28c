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
from bench.session_rigs import DEADLINE, Bare, Ours, Rig, Tmux, Window, rigs
from iai_mcp.terminal import frames as wire
from iai_mcp.terminal.connection import HolderConnection

METHOD = (
    "Floods are lines of 80 columns, or redraws of a coloured screen, written by one program, timed by itself\n"
    "until the terminal has drained: 60 MB, five times each in turn, the median. Windows are 80x24, tmux has its\n"
    "default configuration. A bare PTY is read by a process that does nothing else. Attached: what arrives in\n"
    "the client's own terminal. Echo: one byte through an attached client and back, while another session of the\n"
    "same kind floods, in turn with one byte through a raw PTY beside the same flood. PSS from smaps_rollup,\n"
    "idle sessions, so that the ring has no pages yet."
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
    """Each in turn, several times: the kernel decides anew on which core each part of it runs."""
    rows = []
    for kind, arguments in (("lines", ()), ("redraws", ("frames",))):
        size, rounds = (10 * MB, 1) if quick else (60 * MB, 5)
        home = made[0].home.parent / "bare"
        home.mkdir(exist_ok=True)
        everyone = [*made, Bare(home)]
        speeds: dict[str, list[float]] = {rig.label: [] for rig in everyone}
        for n in range(rounds):
            for rig in everyone:
                speeds[rig.label].append(_flood_detached(rig, size, f"{kind}{n}", arguments))
                rig.stop()
        rows += _speed_rows(kind, {name: percentile(all_, 0.5) for name, all_ in speeds.items()})
    return rows


def _speed_rows(kind: str, speeds: dict[str, float]) -> list[Row]:
    ours = speeds.pop("iai-mcp")
    rows = [Row(f"detached output, {kind}", f"{ours / MB:.0f} MB/s", ">= 50 MB/s", ours >= 50 * MB)]
    for name, speed in speeds.items():
        times = ours / speed
        goal = times >= 3 if name == "tmux" else None
        shown = f"{speed / MB:.0f} MB/s, we {times:.2f} x"
        rows.append(Row(f"  {name}", shown, ">= 3 x" if goal is not None else "", goal))
    return rows


def _flood_detached(rig: Rig, size: int, name: str, arguments: tuple[str, ...]) -> float:
    """Bytes per second that the program gets rid of while nobody is attached."""
    result = rig.home / name
    rig.start(name, _python(FLOOD, str(size), str(result), *arguments))
    _go(result)
    written, seconds = _result(result)
    if isinstance(rig, Ours):
        with HolderConnection(rig.record(name).socket) as connection:
            arrived = connection.state().head
        # Every newline became two bytes on its way; a line in a redraw is longer than these 120.
        assert arrived >= written + written // 120, "bytes were lost"
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
    """A key here, a key there: each is typed in turn with one into a raw PTY, beside the same flood.

    One after the other they would meet different floods: where the kernel puts a flood's three
    threads changes the latency of everything more than all that is measured here.
    """
    rounds = 100 if quick else 2000
    rows = []
    for rig in made:
        rig.start("flood", _python(FLOOD, str(100_000 * MB), str(rig.home / "never")))
        rig.start("echo", _python(ECHO))
        _go(rig.home / "never")
        bare = Window(_python(ECHO), rig.environment)
        attached = Window(rig.attach_command("echo"), rig.environment)
        for window in (bare, attached):
            window.settle()
        raw, times = [], []
        for n in range(rounds):
            raw.append(_echo_time(bare, n))
            times.append(_echo_time(attached, n))
        for window in (bare, attached):
            window.close()
        limit = 2 * percentile(raw, 0.99) if isinstance(rig, Ours) else None
        rows.append(_latency(f"echo beside a flood, {rig.label}", times, limit))
        rows.append(_latency("  a raw PTY in turn with it", raw, None))
        rig.stop()
    return rows


def _echo_time(window: Window, n: int) -> float:
    letter = bytes([97 + n % 26])
    began = time.perf_counter()
    window.type(letter)
    window.until(letter)
    took = time.perf_counter() - began
    time.sleep(0.002)
    return took


def _latency(what: str, times: list[float], limit: float | None) -> Row:
    p50, p99 = percentile(times, 0.5) * 1000, percentile(times, 0.99) * 1000
    goal = f"p99 <= {limit * 1000:.2f} ms (2 x raw)" if limit else ""
    measured = f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"
    return Row(what, measured, goal, p99 <= limit * 1000 if limit else None)


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
    with HolderConnection(path) as connection:
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
