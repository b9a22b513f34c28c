"""Background threads that work when they are woken.

`BlockPacker` packs what a start reads of every memory. `HistoryWorker` reads, once, the work in
histories of which only the words are known. `BackupForgetter` removes forgotten memories from backups.
"""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Protocol

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.work import NewWork
from iai_mcp.memory.reaching import Reach
from iai_mcp.ports.blocks import Blocks
from iai_mcp.ports.journal import Journal

_STOP_SECONDS = 3.0  # of the five that a daemon's stop may take
# Until it is tried again after a failure: the disk may be full for long.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0


class Worker(ABC):
    """What is left to do stands in the store: a work that fails is tried again, soon and then seldom,
    and at the next wake. `failed` hears of it.
    """

    def __init__(self, name: str, failed: Callable[[str, Exception], None]) -> None:
        self._name = name
        self._failed = failed
        self._wanted = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def work(self) -> None:
        """All that there is to do; it ends early when `stopping`."""

    @property
    def started(self) -> bool:
        return self._thread is not None

    @property
    def stopping(self) -> bool:
        return self._end.is_set()

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def wake(self) -> None:
        self._wanted.set()

    def rest(self, seconds: float) -> None:
        """Wait so long, or until the end."""
        self._end.wait(seconds)

    def stop(self) -> None:
        self._end.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(timeout=_STOP_SECONDS)

    def _run(self) -> None:
        pause: float | None = None
        while not self.stopping:
            self._wanted.wait(pause)
            self._wanted.clear()
            try:
                self.work()
                pause = None
            except Exception as failed:  # noqa: BLE001 - supervision: it is told, and tried again
                self._failed(self._name, failed)
                pause = min(2 * pause, _LONGEST_PAUSE) if pause else _FIRST_PAUSE


class ErrandPool:
    """A thread that does small things one after another, soon, that nobody waits for. `failed` hears of
    those that fail.
    """

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="errand")

    def __call__(self, errand: Callable[[], object]) -> None:
        """Run it soon; what was accepted is finished at `stop`."""
        self._thread.submit(self._run, errand)

    def stop(self) -> None:
        self._thread.shutdown(wait=True)

    def _run(self, errand: Callable[[], object]) -> None:
        try:
            errand()
        except Exception as failed:  # noqa: BLE001 - supervision: nobody waits for the outcome
            self._failed("errands", failed)


# After a start, and after something was stored or forgotten: what follows soon is packed with it, and a
# start is over by then.
_SETTLED_SECONDS = 60.0
_BETWEEN_SECONDS = 0.05  # so that whoever wants to write has a turn


class BlockPacker(Worker):
    """Works when the store has been left alone for a while since it was woken."""

    def __init__(
        self,
        blocks: Blocks,
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
        settled: float = _SETTLED_SECONDS,
    ) -> None:
        super().__init__("packing", failed)
        self._blocks = blocks
        self._calm = calm
        self._settled = settled

    def work(self) -> None:
        self.rest(self._settled)
        if not self.stopping:
            self.pack_all(_BETWEEN_SECONDS)

    def pack_all(self, between: float = 0.0) -> int:
        """Pack all that is not; how many there were."""
        packed = 0
        for block in self._blocks.missing():
            self._calm()
            if self.stopping:
                break
            self._blocks.pack(block)
            packed += 1
            self.rest(between)
        return packed


_NOTE, _READ = "past_work", "read"


class Histories(Protocol):
    def files(self) -> Sequence[str]:
        """The files that were imported."""
        ...

    def work_in(self, path: str) -> Iterator[Sequence[NewWork]]:
        """What was done in one of them, some at a time."""
        ...


class HistoryWorker(Worker):
    """What it stores is stored once: ended in the middle, it begins again at the next start."""

    def __init__(
        self,
        histories: Histories,
        journal: Journal,
        capture: Callable[[Sequence[NewWork]], object],
        calm: Callable[[], bool],
        failed: Callable[[str, Exception], None],
    ) -> None:
        super().__init__("past work", failed)
        self._histories = histories
        self._journal = journal
        self._capture = capture
        self._calm = calm

    def work(self) -> None:
        if self._journal.settings().get(_NOTE) == _READ:
            return
        for path in self._histories.files():
            for some in self._histories.work_in(path):
                if self.stopping:
                    return
                self._calm()
                self._capture(some)
        if not self.stopping:
            self._journal.set_setting(_NOTE, _READ)


_log = logging.getLogger(__name__)

# Each copy is rewritten as a whole: what is forgotten one after the other is taken out at once.
_GATHERED_SECONDS = 1.0
_AGAIN_SECONDS = 300.0


class BackupForgetter(Worker):
    """Works whenever something was forgotten."""

    def __init__(self, reach: Reach, failed: Callable[[str, Exception], None]) -> None:
        super().__init__("copies", failed)
        self._reach = reach

    def work(self) -> None:
        while not self.stopping and self._reach.memories.unreached_count():
            self.rest(_GATHERED_SECONDS)
            try:
                self._reach()
            except IaiError as refused:
                _log.warning("copies_not_reached", extra={"reason": refused.code})
                self.rest(_AGAIN_SECONDS)

    def soon_or_now(self) -> dict[str, object]:
        """Soon where the thread runs, else at once; what is told about it."""
        if self.started:
            self.wake()
            return {"to_follow": self._reach.copies.count()}
        try:
            return asdict(self._reach())
        except IaiError as refused:
            return {"to_follow": self._reach.copies.count(), "problem": refused.message}
