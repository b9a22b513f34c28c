"""Small things to do soon, one after another, that nobody waits for."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Errands:
    """A thread that runs them in order. `failed` hears of those that fail."""

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
