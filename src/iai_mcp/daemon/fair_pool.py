"""The threads that answer calls, shared fairly by everybody who is connected.

Each connection has a lane. A call that finds its lane empty is one that somebody waits for: it begins
as soon as a thread is free, in the order of arrival. Further calls of a lane, those of a client that
sends without waiting for answers, take turns with the other lanes' and step back while somebody is
being answered who waits. Nobody steps back for ever.

All of it lives on the event loop, so nothing here is locked; only the work itself runs in threads.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

_T = TypeVar("_T")

# How long a further call steps back at most, and for how long a call counts as one that will be
# answered in a moment: what takes longer is slow by itself, and nobody gains by waiting for it.
_PATIENCE = 0.25
# While somebody waits for an answer, what takes long works for so long, then rests for so long.
_WORK, _REST = 0.003, 0.01


class ClientGone(Exception):
    """Who asked has left before the call began: it is not made."""


class FairPool:
    """A bounded number of threads, and who is next when one of them is free."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="call")
        self._free = workers
        self._share = max(1, workers // 2)  # so many calls of one lane are under way at most
        # So many threads are kept for who waits: a few clients can not fill all of them.
        self._kept = workers // 4
        # The interpreter runs one thread at a time: more than this only take it from each other.
        self._at_once = max(1, (os.cpu_count() or 1) - 1)
        self._first: deque[Place] = deque()
        self._lanes: deque[Lane] = deque()  # those with further calls, the next one to begin first
        self._under_way: dict[Place, float] = {}  # each with the moment it began
        self._look_again: asyncio.TimerHandle | None = None
        self._at_work = threading.local()  # .place: the call that this thread computes

    def lane(self, is_there: Callable[[], bool] = lambda: True) -> "Lane":
        """A lane of its own for one client; `is_there` tells whether it still is."""
        return Lane(self, is_there)

    def somebody_waits(self, but: "Place | None" = None) -> bool:
        """Whether a call is under way whose caller waits for it, and will have it in a moment."""
        return any(place.is_first and place is not but for place in self._quick())

    def let_pass(self) -> None:
        """For who works on something long in a thread: rest while somebody else is being answered."""
        mine = self._at_work
        if not self._under_way or time.monotonic() - getattr(mine, "rested", 0.0) < _WORK:
            return
        if self.somebody_waits(but=getattr(mine, "place", None)):
            time.sleep(_REST)
            mine.rested = time.monotonic()

    def shutdown(self) -> None:
        """Begin nothing more; what runs is not waited for."""
        if self._look_again is not None:
            self._look_again.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _quick(self) -> "list[Place]":
        """The calls under way that have not turned out to be slow. Safe from any thread."""
        since = time.monotonic() - _PATIENCE
        return [place for place, began in list(self._under_way.items()) if began > since]

    def _join(self, place: "Place") -> None:
        lane = place.lane
        if place.is_first:
            self._first.append(place)
        else:
            if not lane.further:
                lane.since = time.monotonic()
                self._lanes.append(lane)
            lane.further.append(place)
        self._begin()
        place.has_waited = not place.granted.done()

    def _begin(self) -> None:
        """Let calls begin while there are threads for them."""
        while self._free and (place := self._next()) is not None:
            if place.granted.done():
                continue  # cancelled while it waited
            if place.has_waited and not place.lane.is_there():
                place.granted.set_result(False)
                continue
            self._free -= 1
            place.lane.under_way += 1
            self._under_way[place] = time.monotonic()
            place.granted.set_result(True)

    def _next(self) -> "Place | None":
        if self._first:
            return self._first.popleft()
        now = time.monotonic()
        calm = len(self._quick()) < self._at_once and not self.somebody_waits()
        for _ in range(len(self._lanes)):
            lane = self._lanes[0]
            self._lanes.rotate(-1)
            if self._fits(lane) and (calm or now - lane.since >= _PATIENCE):
                lane.since = now
                place = lane.further.popleft()
                if not lane.further:
                    self._lanes.remove(lane)
                return place
        self._schedule(now)
        return None

    def _fits(self, lane: "Lane") -> bool:
        """Whether one more of the lane's calls may be under way as far as threads are concerned."""
        return lane.under_way < self._share and self._free > self._kept

    def _schedule(self, now: float) -> None:
        """Look again when somebody has stepped back for long enough."""
        since = [lane.since for lane in self._lanes if self._fits(lane)]
        if since and self._look_again is None:
            after = max(min(since) + _PATIENCE - now, 0.001)
            self._look_again = asyncio.get_running_loop().call_later(after, self._looked)

    def _looked(self) -> None:
        self._look_again = None
        self._begin()

    def _run(self, place: "Place", work: Callable[[], _T]) -> "asyncio.Future[_T]":
        """`work` on a thread; the thread is free again when it ends, whoever still wants its outcome."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_T] = loop.create_future()

        def compute() -> _T:
            self._at_work.place = place
            try:
                return work()
            finally:
                self._at_work.place = None

        def ended(done: "Future[_T]") -> None:
            with contextlib.suppress(RuntimeError):  # the loop was closed before the work ended
                loop.call_soon_threadsafe(self._ended, done, outcome)

        self._threads.submit(compute).add_done_callback(ended)
        return outcome

    def _ended(self, done: "Future[_T]", outcome: "asyncio.Future[_T]") -> None:
        self._free += 1
        if not outcome.done():
            _hand_on(done, outcome)
        self._begin()

    def _leave(self, place: "Place") -> None:
        place.lane.under_way -= 1
        del self._under_way[place]
        self._begin()

    def _not_used(self) -> None:
        self._free += 1


class Lane:
    """One client's calls in the order they came."""

    def __init__(self, pool: FairPool, is_there: Callable[[], bool]) -> None:
        self.pool = pool
        self.is_there = is_there
        self.under_way = 0
        self.calls = 0  # under way or waiting
        self.further: deque[Place] = deque()  # waiting, and not the lane's first
        self.since = 0.0  # when a further call began last, or had to wait first

    def place(self) -> "Place":
        """`async with lane.place() as place: await place.run(work)`: waits until the call may begin.

        The call counts as under way until the place is left, also while its answer is being sent.

        Raises:
            ClientGone: it had to wait, and the client has left meanwhile.
        """
        return Place(self)


class Place:
    """One call: waits for its turn, then runs."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.is_first = False  # whether the lane was empty when it came
        self.has_waited = False
        self.granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._used = False

    async def run(self, work: Callable[[], _T]) -> _T:
        """`work` on one of the threads, once. Cancelled, it goes on, and its outcome is dropped."""
        self._used = True
        return await self.lane.pool._run(self, work)

    async def __aenter__(self) -> "Place":
        self.is_first = self.lane.calls == 0
        self.lane.calls += 1
        self.lane.pool._join(self)
        try:
            may_begin = await self.granted
        except BaseException:
            self.lane.calls -= 1
            if self.granted.done() and not self.granted.cancelled() and self.granted.result():
                self.lane.pool._not_used()  # cancelled in the very moment it was to begin
                self.lane.pool._leave(self)
            raise
        if not may_begin:
            self.lane.calls -= 1
            raise ClientGone
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.lane.calls -= 1
        if not self._used:
            self.lane.pool._not_used()
        self.lane.pool._leave(self)


def _hand_on(done: "Future[_T]", outcome: "asyncio.Future[_T]") -> None:
    if done.cancelled():
        outcome.cancel()
    elif (error := done.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(done.result())
