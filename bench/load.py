"""Many clients at once, idle crowds, huge lines and nonsense."""

import json
import random
import threading
import time

from bench.corpus import Corpus
from bench.report import Row, percentile, show
from bench.scratch import Caller, Scratch, scratch

METHOD = (
    "1,000 memories; model and MCP library loaded. Eight connections recall for 10 s, every cue different. Then\n"
    "500 idle connections, a 10 MB line and 100,000 fuzzed lines (each must be answered); RSS before and after all\n"
    "of them, once what was captured has its vectors."
)


def main(arguments: list[str]) -> int:
    corpus = Corpus()
    with scratch() as home:
        home.fill(1000, corpus)
        home.start()
        home.wait_warm()
        home.open_mcp()
        times, errors = _eight_clients(home)
        before = home.resident()
        idle = [home.dial() for _ in range(500)]
        for caller in idle[::50]:
            assert caller.exchange({"type": "status"})["ok"]
        answered = _nonsense(home)
        large = home.call("memory_capture", text="x" * 10_000_000, session_id="large")["status"]
        for caller in idle:
            caller.close()
        home.wait_embedded()
        growth = home.resident() - before
    rate, p95 = len(times) / 10, percentile(times, 0.95) * 1000
    return show(
        "load",
        METHOD,
        [
            Row("8 clients: recalls", f"{rate:.0f}/s", ">= 150/s", rate >= 150),
            Row("8 clients: p95", f"{p95:.0f} ms", "<= 100 ms", p95 <= 100),
            Row("8 clients: errors", str(errors), "0", errors == 0),
            Row("fuzzed lines answered", f"{answered:,}", "100,000", answered == 100_000),
            Row("a line of 10 MB", str(large), "inserted", large == "inserted"),
            Row("RSS growth", f"{growth:.1f} MB", "<= 20 MB", growth <= 20),
        ],
    )


def _eight_clients(home: Scratch) -> tuple[list[float], int]:
    times: list[float] = []
    errors: list[str] = []

    def client(seed: int) -> None:
        cues, end = Corpus(seed), time.monotonic() + 10
        with home.dial() as caller:
            while time.monotonic() < end:
                cue, began = cues.cue(), time.perf_counter()
                try:
                    caller.call("memory_recall", cue=cue)
                except (OSError, RuntimeError) as failed:
                    errors.append(str(failed))
                times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=client, args=(100 + n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, len(errors)


def _nonsense(home: Scratch) -> int:
    chance, answered = random.Random(5), 0
    valid = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "topology", "params": {}}).encode()
    for _ in range(100):
        with home.dial() as caller:
            lines = [_mangled(valid, chance) for _ in range(1000)]
            answered += _send_all(caller, lines)
    return answered


def _mangled(valid: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.randint(1, 200)).replace(b"\n", b"")
    damaged = bytearray(valid)
    for _ in range(chance.randint(1, 5)):
        damaged[chance.randrange(len(damaged))] = chance.choice(b'{}[]",:0aZ\x00\xff ')
    return bytes(damaged) if kind < 3 else bytes(damaged[: chance.randint(1, len(damaged))])


def _send_all(caller: Caller, lines: list[bytes]) -> int:
    def pump() -> None:
        caller._socket.sendall(b"".join(line + b"\n" for line in lines))

    sender = threading.Thread(target=pump)
    sender.start()
    count = 0
    for _ in lines:
        if not caller._file.readline():
            break
        count += 1
    sender.join()
    return count
