"""Brings what was committed into the database file soon: what is only in the log hangs on every byte of it."""

import logging
import threading

from iai_mcp.adapters.sqlite.database import Database
from iai_mcp.domain.errors import IaiError

_log = logging.getLogger(__name__)

# After the first write that is not in the file yet. Often enough that little hangs on the log, and
# seldom enough that a stream of captures does not wait for the disk twice.
_WITHIN_SECONDS = 2.0


class Checkpoints:
    """A thread that rests until something is written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._database.written.set()
        if self._thread is not None:
            self._thread.join(timeout=3)

    def _run(self) -> None:
        written = self._database.written
        while written.wait() and not self._stopping.wait(_WITHIN_SECONDS):
            written.clear()
            try:
                if not self._database.checkpoint():
                    written.set()  # somebody is at it: soon again
            except IaiError as failed:
                # The log has it all the same, and the next write brings us back.
                _log.warning("checkpoint_failed", extra={"reason": failed.code})
