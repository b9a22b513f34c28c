"""Watches the spool, and empties it whenever something appears there."""

import asyncio
import logging
import time

from iai_mcp.adapters.spool_drain import SpoolPass
from iai_mcp.capture import transcript_progress

log = logging.getLogger(__name__)

WATCH_EVERY = 0.5  # seconds: a look at one directory, cheap enough to be always on
SETTLED_NS = 1_000_000_000


class SpoolDrain(SpoolPass):
    """Owns the spool of this machine."""

    async def run(self, stop: asyncio.Event) -> None:
        """Drain at once, then whenever something appears, until `stop` is set."""
        await asyncio.to_thread(transcript_progress.prune)
        seen: int | None = None
        told = asyncio.ensure_future(stop.wait())
        while not stop.is_set():
            changed = self._changed_at()
            due = self.retry_at and time.monotonic() >= self.retry_at
            if due or (changed is not None and changed != seen and not self.retry_at):
                # File systems keep time in ticks: right after a change the next one may not show.
                seen = changed if time.time_ns() - (changed or 0) > SETTLED_NS else None
                await self._pass(stop)
            await asyncio.wait({told}, timeout=WATCH_EVERY)

    async def _pass(self, stop: asyncio.Event) -> None:
        """One pass in a thread of its own; a stop ends it after the batch in hand."""
        work = asyncio.create_task(asyncio.to_thread(self.drain_once))
        told = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({work, told}, return_when=asyncio.FIRST_COMPLETED)
            if stop.is_set():
                self.stopping.set()
            done = await work
        except OSError as refused:
            log.warning("the spool can not be read", extra={"reason": refused.strerror})
            self.back_off()
        else:
            if done.files:
                log.info("spool drained", extra={"files": done.files, "inserted": done.inserted})
        finally:
            told.cancel()
            self.stopping.clear()

    def _changed_at(self) -> int | None:
        try:
            return self.directory().stat().st_mtime_ns
        except OSError:
            return None
