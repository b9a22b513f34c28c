"""`kill -9` at random moments under three writers: nothing acknowledged is lost, nothing doubled."""

import argparse
import random
import threading
import time
from collections.abc import Sequence

from bench.report import Row, show
from bench.scratch import Scratch, scratch

METHOD = (
    "Three connections capture one turn after the other; the daemon is killed and started again: in one round of\n"
    "four 10 to 200 ms after its start, in the others up to 200 ms after the first turn it acknowledged. After each\n"
    "round the store opens; at the end every acknowledged turn is there exactly once."
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench faults")
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args(arguments).rounds
    chance = random.Random(1)
    with scratch() as home:
        home.environment.pop("IAI_MCP_EMBED_MODEL", None)  # vectors play no part in this
        home.start()
        writers = [_Writer(home, f"writer-{n}") for n in range(3)]
        for writer in writers:
            writer.start()
        opened = 0
        for _ in range(rounds):
            if chance.random() < 0.75:
                _wait_for_another(writers)
            time.sleep(chance.uniform(0.01, 0.2))
            home.kill()
            home.start()
            opened += 1
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
        lost, doubled, acknowledged = 0, 0, 0
        for writer in writers:
            stored = _stored(home, writer.name)
            acknowledged += len(writer.acknowledged)
            lost += len(set(writer.acknowledged) - set(stored))
            doubled += len(stored) - len(set(stored))
    return show(
        "faults",
        METHOD,
        [
            Row("rounds that opened", f"{opened} of {rounds}", f"{rounds}", opened == rounds),
            Row("acknowledged writes", f"{acknowledged:,}", "", None),
            Row("lost", str(lost), "0", lost == 0),
            Row("doubled", str(doubled), "0", doubled == 0),
        ],
    )


class _Writer(threading.Thread):
    def __init__(self, home: Scratch, name: str) -> None:
        super().__init__(name=name)
        self._home = home
        self.acknowledged: list[str] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.stopping.is_set():
            text = f"{self.name} {number}"
            try:
                self._home.call(
                    "capture_events", session_id=self.name, events=[{"text": text, "id": text}]
                )
            except (OSError, RuntimeError):
                time.sleep(0.002)
                continue
            self.acknowledged.append(text)
            number += 1


def _wait_for_another(writers: Sequence[_Writer]) -> None:
    """Wait until one more turn is acknowledged."""
    before = sum(len(writer.acknowledged) for writer in writers)
    while sum(len(writer.acknowledged) for writer in writers) == before:
        time.sleep(0.001)


def _stored(home: Scratch, session: str) -> list[str]:
    records = home.call("memory_timeline", session_id=session, limit=100_000)["records"]
    assert isinstance(records, list)
    return [record["text"] for record in records]
