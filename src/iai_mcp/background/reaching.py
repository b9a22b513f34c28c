"""Taking what was forgotten out of the copies of the store, beside the calls."""

import logging
from collections.abc import Callable
from dataclasses import asdict

from iai_mcp.background.threads import Worker
from iai_mcp.domain.errors import IaiError
from iai_mcp.memory.reaching import Reach

_log = logging.getLogger(__name__)

# Each copy is rewritten as a whole: what is forgotten one after the other is taken out at once.
_GATHERED_SECONDS = 1.0
_AGAIN_SECONDS = 300.0


class Reaching(Worker):
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
