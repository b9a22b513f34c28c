"""Agents on another machine beside agents here, over a real sshd on loopback."""

import argparse
import os
import pty
import select
import statistics
import subprocess
import sys
import termios
import time
import tty

from bench.remote_rig import Rig, rig
from bench.report import Row, percentile, show

METHOD = (
    "A real sshd on loopback. Launches: the whole command `agent launch --detach`, here and there by turns, the\n"
    "shared connection open, medians. Echo: a letter typed into a pseudo-terminal with `session attach` in it until\n"
    "its echo is read there, beside the same with `ssh -tt far cat` over the same connection, by turns in blocks.\n"
    "List: the whole command `session list` with 20 sessions over there, median."
)
_BLOCK = 50


class Typist:
    """A person's terminal with a command in it that echoes."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        tty.setraw(slave, termios.TCSANOW)
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)

    def settle(self) -> None:
        """Until it echoes and then says nothing for a moment."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            os.write(self.master, b"x")
            if select.select([self.master], [], [], 1.0)[0]:
                break
        while select.select([self.master], [], [], 0.5)[0]:
            os.read(self.master, 65_536)

    def echo(self) -> float:
        began = time.perf_counter()
        os.write(self.master, b"e")
        seen = b""
        while b"e" not in seen:
            if not select.select([self.master], [], [], 10)[0]:
                raise RuntimeError("no echo came")
            seen += os.read(self.master, 65_536)
        return time.perf_counter() - began

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench remote", description=METHOD)
    parser.add_argument("--launches", type=int, default=9)
    parser.add_argument("--keys", type=int, default=500)
    options = parser.parse_args(arguments)
    with rig(daemon=True) as made:
        rows = [
            *_launches(made, options.launches),
            *_echo(made, options.keys),
            *_list(made, options.launches),
        ]
    return show("remote", METHOD, rows)


def _launches(made: Rig, rounds: int) -> list[Row]:
    taken: dict[str, list[float]] = {made.here: [], made.there: []}
    for project in taken:
        made.iai("agent", "create", "Cat", "--profile", "cat", "--project", project)
    for _ in range(rounds):
        for project, times in taken.items():
            began = time.perf_counter()
            session = made.launch(project, "cat")
            times.append(time.perf_counter() - began)
            made.iai("session", "kill", session, "--project", project)
    here, there = (statistics.median(times) * 1000 for times in taken.values())
    return [
        Row("launch here", f"{here:.0f} ms", "", None),
        Row(
            "launch there", f"{there:.0f} ms ({there / here:.2f}x)", "<= 2x here", there <= 2 * here
        ),
    ]


def _echo(made: Rig, keys: int) -> list[Row]:
    session = made.launch(made.there, "cat")
    attach = [sys.executable, "-m", "iai_mcp.cli", "session", "attach", session]
    control = next(made.home.path.glob("store/far/*.ssh"))
    raw = ["ssh", "-S", str(control), "-tt", "far", "cat"]
    typists = [Typist(command, made.environment) for command in (raw, attach)]
    times: list[list[float]] = [[], []]
    try:
        for typist in typists:
            typist.settle()
        for _ in range(keys // _BLOCK):
            for typist, found in zip(typists, times, strict=True):
                found += [typist.echo() for _ in range(_BLOCK)]
    finally:
        for typist in typists:
            typist.close()
    made.iai("session", "kill", session, "--project", made.there)
    plain, ours = ([value * 1000 for value in found] for found in times)
    more = percentile(ours, 0.99) - percentile(plain, 0.99)
    told = [
        f"p50 {statistics.median(v):.2f}, p99 {percentile(v, 0.99):.2f} ms" for v in (plain, ours)
    ]
    return [
        Row("echo by raw ssh", told[0], "", None),
        Row("echo when attached", told[1], "p99 <= raw ssh + 3 ms", more <= 3),
    ]


def _list(made: Rig, rounds: int) -> list[Row]:
    for number in range(20):
        name = f"Cat {number}"
        made.iai("agent", "create", name, "--profile", "cat", "--project", made.there)
        made.launch(made.there, f"cat-{number}")
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        listed = made.iai("session", "list")["sessions"]
        times.append((time.perf_counter() - began) * 1000)
        running = [one for one in listed if one["status"] == "running" or one["status"] == "idle"]
        assert len(running) == 20, len(running)
    taken = statistics.median(times)
    return [Row("20 sessions there listed", f"{taken:.0f} ms", "<= 300 ms", taken <= 300)]
