"""What was acknowledged survives a kill at any moment, and nothing is there twice."""

import random
import threading
import time

from tests.support.daemon import DaemonProcess
from tests.support.home import ScratchHome

ROUNDS = 6
WRITERS = 3


class Writer(threading.Thread):
    """Captures one turn after the other and remembers which were acknowledged."""

    def __init__(self, daemon: DaemonProcess, name: str) -> None:
        super().__init__(name=name)
        self._daemon = daemon
        self.acknowledged: list[str] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.stopping.is_set():
            text = f"{self.name} {number}"
            try:
                events = [{"text": text, "role": "user", "id": text}]
                self._daemon.call("capture_events", session_id=self.name, events=events)
            except (OSError, AssertionError):
                time.sleep(0.002)  # the daemon is gone: the same turn is delivered again
                continue
            self.acknowledged.append(text)
            number += 1


def test_no_acknowledged_write_is_lost_or_doubled(home: ScratchHome) -> None:
    chance = random.Random(20261115)
    daemon = DaemonProcess(home).start()
    writers = [Writer(daemon, f"writer-{n}") for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(ROUNDS):
            enough = threading.Event()
            enough.wait(chance.uniform(0.02, 0.25))  # the moment of death is the test's input
            daemon.kill()
            daemon.start()
    finally:
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
    for writer in writers:
        records = daemon.call("memory_timeline", session_id=writer.name, limit=100_000)["records"]
        stored = [record["text"] for record in records]
        assert len(stored) == len(set(stored))
        assert set(writer.acknowledged) <= set(stored)
        assert writer.acknowledged
    daemon.stop()
