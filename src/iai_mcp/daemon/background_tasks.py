"""Background tasks of the daemon: empty the spool, follow circles, keep in contact with other machines.

Circles and machines have threads of their own, since a place or a machine may not answer for long.
What a circle needs (keys, databases) is loaded with the first circle.
"""

import asyncio
import logging
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any

from iai_mcp.adapters import journal_import
from iai_mcp.adapters.spool_drain import SpoolPass
from iai_mcp.capture import transcript_progress
from iai_mcp.daemon.tasks import Tasks
from iai_mcp.ports.circles import KnownCircle
from iai_mcp.ports.journal import Journal
from iai_mcp.remote import all_sessions
from iai_mcp.store import MemoryStore

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


_STOP_SECONDS = 2.0  # of the five that a daemon's stop may take


async def follow_circles(store: MemoryStore, tasks: Tasks, stop: asyncio.Event) -> None:
    """Keep a task for every circle that this store belongs to, until `stop` is set."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def notice() -> None:
        loop.call_soon_threadsafe(changed.set)

    store.circles_changed = notice
    told = asyncio.ensure_future(stop.wait())
    running: dict[str, asyncio.Task[None]] = {}
    while not stop.is_set():
        if await asyncio.to_thread(lambda: store.shares):
            for known in await asyncio.to_thread(_circles, store):
                if known.id not in running or running[known.id].done():
                    running[known.id] = tasks.keep(
                        f"circle {known.name}",
                        lambda name=known.name: _follow(store, name, stop),  # type: ignore[misc]  # bound now
                    )
        news = asyncio.ensure_future(changed.wait())
        await asyncio.wait({told, news}, return_when=asyncio.FIRST_COMPLETED)
        news.cancel()
        changed.clear()


def _circles(store: MemoryStore) -> list[KnownCircle]:
    """Those there are; what they need is loaded with the first of them, and not on the loop."""
    return store.sharing.circles.all()


async def _follow(store: MemoryStore, name: str, stop: asyncio.Event) -> None:
    """Follow one circle in a thread that nobody has to wait for: a place may be silent for long."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def settle(failed: BaseException | None) -> None:
        if not ended.done():
            ended.set_exception(failed) if failed else ended.set_result(None)

    def run() -> None:
        failed: BaseException | None = None
        try:
            store.sharing.of(name).follow(stop.is_set)
        except Exception as raised:  # noqa: BLE001 - supervision: the owner of the task hears of it
            failed = raised
        with suppress(RuntimeError):  # the loop is gone: nobody waits any more
            loop.call_soon_threadsafe(settle, failed)

    threading.Thread(target=run, name=f"circle {name}", daemon=True).start()
    told = asyncio.ensure_future(stop.wait())
    either: set[asyncio.Future[Any]] = {ended, told}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if not ended.done():
        await asyncio.wait({ended}, timeout=_STOP_SECONDS)
    if ended.done():
        ended.result()


_LOOK_EVERY = 2.0  # seconds, at the list of projects: one small file


async def follow_machines(journal: Journal, stop: asyncio.Event) -> None:
    """Keep a contact for every machine that the person has a project on, until `stop` is set."""
    ended = threading.Event()
    take_news = partial(journal_import.take_from, journal)
    running: dict[object, threading.Thread] = {}
    told = asyncio.ensure_future(stop.wait())
    try:
        while not stop.is_set():
            for remote in await asyncio.to_thread(all_sessions.machines):
                if remote not in running:
                    from iai_mcp.remote.machine_sync import MachineSync

                    contact = MachineSync(
                        remote, lambda seconds: not ended.wait(seconds), take_news
                    )
                    running[remote] = threading.Thread(target=contact.keep, daemon=True)
                    running[remote].start()
            await asyncio.wait({told}, timeout=_LOOK_EVERY)
    finally:
        ended.set()
