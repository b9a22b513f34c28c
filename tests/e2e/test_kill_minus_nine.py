"""What was acknowledged survives a kill at any moment, and nothing is there twice."""

import random
import threading
import time

from tests.models import real_model
from tests.support.daemon import DaemonProcess, until
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


def test_embedding_goes_on_where_it_was_when_it_was_killed(home: ScratchHome) -> None:
    daemon = DaemonProcess(home, IAI_MCP_EMBED_MODEL=str(real_model())).start()
    sentence = "The heron number {0} stands in pond {1} of garden {0} and waits for fish."
    texts = [" ".join(sentence.format(n, part) for part in range(9)) for n in range(120)]
    daemon.call("capture_events", session_id="s", events=[{"text": text} for text in texts])
    seen = 0
    for _ in range(2):
        _until_vectors(daemon, min(seen + 1, len(texts)))
        status = daemon.ask({"type": "status"})
        assert status["first_vectors_pending"] <= status["vectors_pending"] <= len(texts)
        assert daemon.call("memory_recall", cue="heron number 7", k=1)["hits"]
        # Killed, it takes back the page in hand at most.
        seen = _vectors(daemon)
        daemon.kill()
        daemon.start()
        until(lambda: daemon.ask({"type": "status"})["model_ready"], "the model is loaded", 60)
        assert _vectors(daemon) >= seen
    until(lambda: not daemon.ask({"type": "status"})["vectors_pending"], "all is embedded", 120)
    assert _vectors(daemon) == len(texts)
    assert daemon.ask({"type": "status"})["first_vectors_pending"] == 0
    daemon.stop()


def _vectors(daemon: DaemonProcess) -> int:
    return int(daemon.call("topology")["vectors"])


def _until_vectors(daemon: DaemonProcess, count: int) -> None:
    until(lambda: _vectors(daemon) >= count, f"{count} have a vector", 60)
