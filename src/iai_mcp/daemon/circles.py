"""Following circles while the daemon runs: a task for each, owned like the others.

What is heavy (keys, databases) is loaded when there is a circle, and by nobody else. Each task has a
thread of its own: it waits at a place for half a minute at a time, and holds up nobody.
"""

import asyncio
import threading
from contextlib import suppress
from typing import Any

from iai_mcp.daemon.tasks import Tasks
from iai_mcp.ports.circles import KnownCircle
from iai_mcp.store import MemoryStore

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
