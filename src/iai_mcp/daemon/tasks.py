"""The owner of what goes on beside the answers: it notices failures, tells them, and begins again.

A task that ended by a failure begins again after a pause, which grows while it goes on failing. One
that can not begin again ends the daemon: a service manager, or a person, starts a whole one.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from iai_mcp.domain.errors import IaiError
from iai_mcp.domain.instants import iso

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class _Trouble:
    """How a task failed: numbers and a code, never words."""

    failures: int
    at: int  # microseconds
    code: str
    running: bool  # whether it goes on already


class Tasks:
    """Owns tasks until `stop` is set, and keeps book of the threads that others own."""

    def __init__(
        self,
        stop: asyncio.Event,
        first_pause: float = _FIRST_PAUSE,
        longest_pause: float = _LONGEST_PAUSE,
    ) -> None:
        self._first_pause, self._longest_pause = first_pause, longest_pause
        self.gave_up = ""  # why the daemon ends, where a task could not begin again
        self._stop = stop
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()
        self._troubles: dict[str, _Trouble] = {}

    def keep(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        *,
        again: bool = True,
        end: Callable[[], Awaitable[None]] | None = None,
    ) -> asyncio.Task[None]:
        """Run `work` until it returns, which it does when it is done or told to stop.

        Args:
            again: whether it can begin again after a failure.
            end: comes last, also where everything stopped while it waited to begin again.
        """
        task = asyncio.create_task(self._kept(name, work, again), name=name)
        if end is not None:
            task = asyncio.create_task(self._ended(name, task, end), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def in_a_thread(self, name: str, work: Callable[[], object]) -> None:
        """Run something once that nobody waits for, not even the end of the daemon."""

        def run() -> None:
            try:
                work()
            except Exception as failed:  # noqa: BLE001 - supervision: nobody else would hear of it
                self.note(name, failed)

        threading.Thread(target=run, name=name, daemon=True).start()

    async def ended(self) -> None:
        """Wait for all of them, once `stop` is set."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def note(self, name: str, failed: Exception, *, running: bool = True) -> None:
        """Keep and log that something failed. Safe from any thread."""
        code = failed.code if isinstance(failed, IaiError) else type(failed).__name__
        with self._lock:
            before = self._troubles.get(name)
            count = before.failures + 1 if before else 1
            self._troubles[name] = _Trouble(count, time.time_ns() // 1000, code, running)
        extra = {"task": name, "reason": code, "count": count}
        _log.error("task_failed", exc_info=failed, extra=extra)

    def troubles(self) -> dict[str, object]:
        """For `status`: every task that failed since the daemon began."""
        with self._lock:
            known = dict(self._troubles)
        return {
            name: {
                "failures": one.failures,
                "last_failure": iso(one.at),
                "error": one.code,
                "running": one.running,
            }
            for name, one in known.items()
        }

    async def _kept(self, name: str, work: Callable[[], Awaitable[None]], again: bool) -> None:
        pause = self._first_pause
        while True:
            began = time.monotonic()
            try:
                await work()
                return
            except Exception as failed:  # noqa: BLE001 - supervision: this is where they are handled
                self.note(name, failed, running=False)
            if not again:
                self._give_up(name)
                return
            if time.monotonic() - began > self._longest_pause:
                pause = self._first_pause
            if await self._stops_within(pause):
                return
            pause = min(2 * pause, self._longest_pause)
            with self._lock:
                self._troubles[name] = replace(self._troubles[name], running=True)
            _log.info("task_begins_again", extra={"task": name})

    async def _ended(
        self, name: str, task: asyncio.Task[None], end: Callable[[], Awaitable[None]]
    ) -> None:
        try:
            await task
        finally:
            try:
                await end()
            except Exception as failed:  # noqa: BLE001 - supervision: the others end all the same
                self.note(name, failed, running=False)

    async def _stops_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
        return self._stop.is_set()

    def _give_up(self, name: str) -> None:
        self.gave_up = f"its task '{name}' failed and can not begin again: start it with iai-mcp up"
        _log.critical("a task can not begin again: the daemon ends", extra={"task": name})
        self._stop.set()
