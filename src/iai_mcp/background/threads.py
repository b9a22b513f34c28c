"""Threads beside the calls: one that works whenever it is woken, and one for small things to do soon."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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


class Errands:
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
