"""A thread that works whenever it is woken, until there is nothing left to do."""

import logging
import threading
from abc import ABC, abstractmethod

_log = logging.getLogger(__name__)

_STOP_SECONDS = 3.0  # of the five that a daemon's stop may take


class Worker(ABC):
    """What is left to do stands in the store: a work that fails is tried again at the next wake."""

    def __init__(self, name: str) -> None:
        self._name = name
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
        while not self.stopping:
            self._wanted.wait()
            self._wanted.clear()
            try:
                self.work()
            except Exception:  # noqa: BLE001 - supervision: the next wake tries again
                _log.exception("work_failed", extra={"work": self._name})
