"""Clients that flood, clients that vanish, a huge turn, a huge spool file: alone, then all at once.

Beside each attack one client asks for `status` and another one recalls, each on a connection of its
own, as they did in the quiet seconds before. Times mean something only on a quiet machine; the
quiet seconds of the same run are what they are compared with.
"""

import json
import multiprocessing
import os
import random
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Protocol

from bench.attacks.outcome import Outcome
from bench.corpus import Corpus
from bench.report import percentile
from bench.scratch import Caller, Scratch, resident, scratch

QUIET_SECONDS = 3.0
ATTACK_SECONDS = 4.0
STATUS_MS = 100.0
RECALL_TIMES = 2.0
GROWTH_MB = 100.0
DONE_FOR_NOBODY = 1000  # of tens of thousands of calls; a few of each client were begun

_FLOODS = ("memory_recall", "memory_capture", "status")
_VANISHING = 20
_HUGE_TURN = 15_000_000
_HUGE_FILE = 1_000_000_000
_PAUSE = 0.01  # between two questions of one who asks

_spawn = multiprocessing.get_context("spawn")


@dataclass(slots=True)
class Seen:
    """What the two bystanders and the system saw for a while."""

    status: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)


def attacks() -> Iterator[Outcome]:
    with scratch() as home:
        home.fill(1000, Corpus())
        home.start()
        home.wait_warm()
        home.open_mcp()
        watched(home, 1.0)
        quiet = watched(home, QUIET_SECONDS)
        attempts: dict[str, list[Callable[[Scratch], Iterator[None]]]] = {
            "three clients flood": [flooding],
            "clients vanish": [vanishing],
            "a turn of 15 MB": [huge_turn],
            "a sparse spool file of 1 GB": [huge_file],
            "all of them at once": [flooding, vanishing, huge_turn, huge_file],
        }
        for name, attempt in attempts.items():
            yield from _outcomes(name, quiet, _under(home, attempt))
            _settled(home)
        yield _dropped(home)


def _under(home: Scratch, attempt: list[Callable[[Scratch], Iterator[None]]]) -> Seen:
    begun = [contextmanager(attack)(home) for attack in attempt]
    for attack in begun:
        attack.__enter__()
    try:
        return watched(home, ATTACK_SECONDS)
    finally:
        for attack in begun:
            attack.__exit__(None, None, None)


def _outcomes(name: str, quiet: Seen, seen: Seen) -> Iterator[Outcome]:
    in_time = sum(taken * 1000 <= STATUS_MS for taken in seen.status)
    said = f"p99 <= {STATUS_MS:.0f} ms: {percentile(seen.status, 0.99) * 1000:.0f}"
    yield Outcome(f"{name}: status", in_time, len(seen.status), said, 0.99)
    usual = percentile(quiet.recall, 0.95)
    in_time = sum(taken <= RECALL_TIMES * usual for taken in seen.recall)
    said = f"p95 <= {RECALL_TIMES:.0f}x quiet: {percentile(seen.recall, 0.95) / usual:.1f}x"
    yield Outcome(
        f"{name}: recall", in_time, len(seen.recall), f"{said} of {usual * 1000:.0f} ms", 0.95
    )
    growth = max(seen.resident) - quiet.resident[-1]
    said = f"RSS <= +{GROWTH_MB:.0f} MB: {growth:+.0f}"
    yield Outcome(f"{name}: memory", int(growth <= GROWTH_MB), 1, said)


def watched(home: Scratch, seconds: float) -> Seen:
    """What bystanders see for so many seconds."""
    seen, until = Seen(), time.monotonic() + seconds
    assert home.process
    pid, cues = home.process.pid, Corpus(int(until * 1000))

    def repeatedly(into: list[float], ask: Callable[[Caller], object]) -> None:
        with home.dial() as caller:
            while time.monotonic() < until:
                began = time.perf_counter()
                ask(caller)
                into.append(time.perf_counter() - began)
                time.sleep(_PAUSE)

    def weigh() -> None:
        while time.monotonic() < until:
            seen.resident.append(resident(pid))
            time.sleep(0.02)

    work = (
        lambda: repeatedly(seen.status, lambda one: one.exchange({"type": "status"})),
        lambda: repeatedly(seen.recall, lambda one: one.call("memory_recall", cue=cues.cue())),
        weigh,
    )
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def flooding(home: Scratch) -> Iterator[None]:
    """Three clients that send as fast as they are read."""
    return _attackers(home, [Flood(kind) for kind in _FLOODS])


def vanishing(home: Scratch) -> Iterator[None]:
    """Clients that fill every buffer with calls and are gone, again and again."""
    return _attackers(home, [Vanish()])


def huge_turn(home: Scratch) -> Iterator[None]:
    """One turn of 15 MB."""
    return _attackers(home, [HugeTurn()])


def huge_file(home: Scratch) -> Iterator[None]:
    """A spool file that is a hole."""
    directory = Path(home.environment["IAI_MCP_STORE"]) / ".deferred-captures"
    directory.mkdir(mode=0o700, exist_ok=True)
    hidden = directory / ".hole.tmp"
    with hidden.open("wb") as file:
        file.write(b'{"version": 1, "session_id": "hole"}\n')
        file.truncate(_HUGE_FILE)
    hidden.rename(directory / f"hole-{time.monotonic_ns()}.jsonl")
    yield


class Attacker(Protocol):
    """Runs in a process of its own."""

    def prepare(self) -> None: ...

    def attack(self, path: str) -> None: ...


def _attackers(home: Scratch, attackers: Sequence[Attacker]) -> Iterator[None]:
    """All of them ready, then at work until the attack is over."""
    begin = _spawn.Event()
    running = []
    for attacker in attackers:
        ready = _spawn.Event()
        process = _spawn.Process(target=_run, args=(attacker, ready, begin, str(home.socket)))
        process.start()
        running.append(process)
        ready.wait(60)
    begin.set()
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.join()


def _run(attacker: Attacker, ready: Event, begin: Event, path: str) -> None:
    attacker.prepare()
    ready.set()
    begin.wait()
    with suppress(ConnectionError, RuntimeError):  # it was dropped, or refused
        attacker.attack(path)
    time.sleep(3600)


@dataclass(slots=True)
class Flood:
    """Sends without waiting for answers, and reads whatever comes."""

    kind: str
    lines: list[bytes] = field(default_factory=list)

    def prepare(self) -> None:
        corpus = Corpus(os.getpid())
        self.lines = [_line(self.kind, corpus, number) for number in range(5000)]

    def attack(self, path: str) -> None:
        with _dialled(path) as client:
            waiting, turn = b"", 0
            while True:
                if not waiting:
                    waiting = b"".join(self.lines[turn : turn + 100])
                    turn = (turn + 100) % len(self.lines)
                may_read, may_write, _ = select.select([client], [client], [])
                if may_read and not client.recv(1 << 16):
                    return
                if may_write:
                    waiting = waiting[client.send(waiting) :]


@dataclass(slots=True)
class Vanish:
    """Twenty clients fill their buffers with captures and leave; then the next twenty."""

    lines: list[bytes] = field(default_factory=list)

    def prepare(self) -> None:
        corpus = Corpus(os.getpid())
        self.lines = [_line("gone", corpus, number) for number in range(30_000)]

    def attack(self, path: str) -> None:
        turn = 0
        while True:
            clients = [_dialled(path) for _ in range(_VANISHING)]
            for client in clients:
                with suppress(BlockingIOError):
                    while True:
                        client.send(b"".join(self.lines[turn : turn + 50]))
                        turn = (turn + 50) % len(self.lines)
            for client in clients:
                client.close()
            time.sleep(0.5)


@dataclass(slots=True)
class HugeTurn:
    """One call of 15 MB."""

    text: str = ""

    def prepare(self) -> None:
        """As when somebody pastes a log."""
        chance = random.Random(os.getpid())
        lines: list[str] = []
        for number in range(_HUGE_TURN // 60):
            moment = f"2026-01-05T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
            lines.append(f"{moment} worker-{number % 7} req={chance.randbytes(6).hex()} status=200")
        self.text = "\n".join(lines)[:_HUGE_TURN]

    def attack(self, path: str) -> None:
        with Caller(path) as caller:
            caller.call("memory_capture", text=self.text, session_id="huge")


def _line(kind: str, corpus: Corpus, number: int) -> bytes:
    if kind == "status":
        return b'{"type": "status"}\n'
    if kind == "memory_recall":
        params = {"cue": corpus.cue()}
    else:
        params = {"text": f"{kind} {number} {os.getpid()} {corpus.text()}", "session_id": kind}
        kind = "memory_capture"
    message = {"jsonrpc": "2.0", "id": number, "method": kind, "params": params}
    return json.dumps(message).encode() + b"\n"


def _dialled(path: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(path)
    client.setblocking(False)
    return client


def _settled(home: Scratch) -> None:
    """Wait until the daemon has nothing left to do, at most a few seconds."""
    until, before = time.monotonic() + 3, home.cpu()
    while time.monotonic() < until:
        time.sleep(0.25)
        now = home.cpu()
        if now - before < 0.05:
            return
        before = now


def _dropped(home: Scratch) -> Outcome:
    """Of what those who vanished asked for, hardly anything was done."""
    found = home.call("memory_timeline", session_id="gone", limit=2 * DONE_FOR_NOBODY)["records"]
    assert isinstance(found, list)
    said = f"<= {DONE_FOR_NOBODY} calls made for nobody: {len(found)}"
    held = int(len(found) <= DONE_FOR_NOBODY)
    return Outcome("clients vanish: their work is dropped", held, 1, said)
