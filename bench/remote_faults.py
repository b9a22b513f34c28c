"""Connections cut at random moments: no byte of terminal output and no turn is lost, or comes twice."""

import argparse
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.cut_network import NEEDED
from bench.remote_rig import Rig, rig
from bench.report import Row, show
from iai_mcp.domain.agents.launch import SpawnSpec
from iai_mcp.domain.agents.terminal import TerminalSize
from iai_mcp.domain.projects.project import RemoteRef
from iai_mcp.remote.json_fields import Fields
from iai_mcp.remote.machine import Machine
from iai_mcp.remote.pty import RemotePty

METHOD = (
    "A real sshd on loopback, a daemon here. A program over there prints numbered lines without end, and somebody\n"
    "here hears them. In each round a session over there says a turn (its hook runs there), and at a random moment\n"
    "something breaks: sshd's process of the connection is killed, the shared ssh here is killed, the ssh of the one\n"
    "stream is killed, sshd is frozen and killed, or sshd is away for a while; where root may make one, sshd is in a\n"
    "network namespace of its own, and the link to it is cut for up to 25 s. At the end everything is mended:\n"
    "what was heard is what was printed, byte for byte, and every turn is remembered exactly once."
)
_KINDS = ("server", "shared", "stream", "frozen", "away")
_CUT = "cut"  # where the other machine can have a network of its own
_LONGEST_CUT = 25.0  # seconds; ssh gives up after fifteen
_PRINTER = (
    "import sys, time, random\n"
    "n = 0\n"
    "while True:\n"
    "    print(f'line {n:08d} ' + 'x' * random.randrange(60), flush=True)\n"
    "    n += 1\n"
    "    time.sleep(random.random() / 200)\n"
)


class Listener:
    """What was heard so far; every line names its number."""

    def __init__(self) -> None:
        self.lines = 0
        self.wrong = 0
        self.lost = 0
        self.doubled = 0
        self.bytes = 0
        self._rest = b""

    def __call__(self, piece: bytes) -> None:
        self.bytes += len(piece)
        *whole, self._rest = (self._rest + piece).split(b"\r\n")
        for line in whole:
            words = line.split()
            if len(words) < 2 or words[0] != b"line" or not words[1].isdigit():
                self.wrong += 1
                continue
            number = int(words[1])
            self.lost += max(0, number - self.lines)
            self.doubled += number < self.lines
            self.lines = max(self.lines, number + 1)


class Speaker:
    """A session of Claude Code over there, as its hook sees it."""

    def __init__(self, made: Rig, machine: Machine) -> None:
        wiring = Fields({"wiring": machine.call("wiring")}).below("wiring")
        self._command = [*wiring.texts("hook"), "claude-code", "Stop"]
        self._transcript = made.far.home / "transcript.jsonl"
        self._place = made.far.home / "project"
        self.said: list[str] = []

    def say(self) -> None:
        number = len(self.said)
        self.said.append(f"Turn {number} of the far session was about number {number * 7919}.")
        line = {
            "type": "user",
            "uuid": f"00000000-0000-4000-8000-{number:012d}",
            "sessionId": "far-session",
            "cwd": str(self._place),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
            "message": {"role": "user", "content": self.said[-1]},
        }
        with self._transcript.open("a") as out:
            out.write(json.dumps(line) + "\n")
        given = {
            "session_id": "far-session",
            "transcript_path": str(self._transcript),
            "cwd": str(self._place),
        }
        subprocess.run(
            self._command,
            input=json.dumps(given).encode(),
            env={**_plain_environment(), "IAI_MCP_MACHINE": "ssh://far"},
            check=True,
            timeout=60,
        )


def _plain_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("IAI_")}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench remote-faults", description=METHOD)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=(*_KINDS, _CUT), help="this kind of break")
    options = parser.parse_args(arguments)
    with rig(daemon=True, network=True) as made:
        kinds: tuple[str, ...] = (*_KINDS, _CUT) if made.link else _KINDS
        if options.only and options.only not in kinds:
            raise SystemExit(f"{options.only}: {NEEDED}")
        kinds = (options.only,) if options.only else kinds
        rows = _run(made, options.rounds, random.Random(options.seed), kinds)
    return show("remote-faults", METHOD, rows)


def _run(made: Rig, rounds: int, chance: random.Random, kinds: Sequence[str]) -> list[Row]:
    machine = Machine.of(RemoteRef.parse("ssh://far"))
    speaker, listener, terminals = Speaker(made, machine), Listener(), RemotePty(machine)
    spec = SpawnSpec("python3", ("-u", "-c", _PRINTER), str(made.far.home))
    session = terminals.spawn(spec, TerminalSize(rows=24, cols=200))
    stop = terminals.subscribe_output(session, listener)
    broken: Counter[str] = Counter()
    for _ in range(rounds):
        saying = threading.Thread(target=speaker.say)
        saying.start()
        time.sleep(chance.random() * 0.3)
        kind = chance.choice(kinds)
        broken[kind] += _break(made, kind, chance)
        saying.join()
        _hears_on(listener)
    _hears_on(listener)
    stop()
    remembered = _remembered(made, speaker.said)
    wrong, lost, doubled = listener.wrong, listener.lost, listener.doubled
    turns_lost = sum(remembered.get(text, 0) == 0 for text in speaker.said)
    turns_doubled = sum(max(0, count - 1) for count in remembered.values())
    return [
        Row("rounds", str(rounds), "", None),
        Row("broken", ", ".join(f"{kind} {broken[kind]}" for kind in kinds), "", None),
        Row("output heard", f"{listener.lines} lines, {listener.bytes} bytes", "", None),
        Row("lines lost, doubled, torn", f"{lost}, {doubled}, {wrong}", "0, 0, 0",
            lost == doubled == wrong == 0),
        Row("turns lost, doubled", f"{turns_lost}, {turns_doubled}", f"0, 0 of {len(speaker.said)}",
            turns_lost == turns_doubled == 0),
    ]  # fmt: skip


def _break(made: Rig, kind: str, chance: random.Random) -> int:
    """Whether there was anything to break at that moment."""
    if kind == _CUT and made.link:
        with made.link.cut():
            # Most are too short for anybody to give up, some are not.
            time.sleep(chance.random() ** 3 * _LONGEST_CUT)
        return 1
    if kind == "away":
        made.far.stop()
        time.sleep(chance.random())
        made.far.start()
        return 1
    found = {
        "server": _pids(str(made.far.directory), "sshd:"),
        "shared": _pids(str(made.home.path / "store/far"), "-M"),
        "stream": _pids(str(made.home.path / "store/far"), "'dial'"),
        "frozen": _pids(str(made.far.directory), "sshd:"),
    }[kind]
    for pid in found:
        if kind == "frozen":
            _signal(pid, signal.SIGSTOP)
    if kind == "frozen":
        time.sleep(chance.random())
    for pid in found:
        _signal(pid, signal.SIGKILL)
    return int(bool(found))


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _pids(of: str, what: str) -> list[int]:
    """Processes of this benchmark's own sshd (its children name no path), or ssh by their words."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            above = Path("/proc", parent, "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        ours = (
            of in above if what == "sshd:" else of in words and words.startswith(("ssh ", "/usr"))
        )
        if ours and what in words:
            found.append(int(entry.name))
    return found


def _hears_on(listener: Listener) -> None:
    """Until more is heard: the stream was mended."""
    before, deadline = listener.lines, time.monotonic() + 120
    while listener.lines <= before + 3:
        if time.monotonic() > deadline:
            raise RuntimeError("the stream was not mended within two minutes")
        time.sleep(0.02)


def _remembered(made: Rig, said: list[str]) -> dict[str, int]:
    """How often each turn is remembered, once the spool over there is empty."""
    deadline = time.monotonic() + 120
    spool = made.store_there / ".deferred-captures"
    while time.monotonic() < deadline:
        counts: dict[str, int] = {}
        cursor: object = None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = made.home.call("memory_timeline", limit=500, session_id="far-session", **more)
            records = page["records"]
            assert isinstance(records, list)
            for one in records:
                counts[one["text"]] = counts.get(one["text"], 0) + 1
            cursor = page.get("more")
            if not cursor:
                break
        if not list(spool.glob("*.jsonl")) and set(counts) >= set(said):
            return counts
        time.sleep(0.2)
    return counts
