"""Who is next when a thread is free, on real threads."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine

import pytest

from iai_mcp.daemon.fair_pool import ClientGone, FairPool, Lane

Story = Callable[["Rig"], Coroutine[object, object, None]]


class Rig:
    """A pool whose calls note that they began, and end when they are told to."""

    def __init__(self, workers: int) -> None:
        self.pool = FairPool(workers)
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.may_end = threading.Event()
        self._tasks: list[asyncio.Task[str]] = []

    def call(self, lane: Lane, name: str) -> "asyncio.Task[str]":
        async def story() -> str:
            async with lane.place() as place:
                return await place.run(lambda: self._work(name))

        task = asyncio.create_task(story())
        self._tasks.append(task)
        return task

    def _work(self, name: str) -> str:
        self.begun.append(name)
        assert self.may_end.wait(20)
        self.ended.append(name)
        return name

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.005)

    async def finish(self) -> None:
        self.may_end.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.pool.shutdown()


def told(workers: int, story: Story) -> Rig:
    async def run() -> Rig:
        rig = Rig(workers)
        try:
            await story(rig)
        finally:
            await rig.finish()
        return rig

    return asyncio.run(run())


def test_a_first_call_comes_before_the_rest_of_a_flood() -> None:
    async def story(rig: Rig) -> None:
        flood, other = rig.pool.lane(), rig.pool.lane()
        for number in range(5):
            rig.call(flood, f"flood {number}")
        await rig.until(lambda: rig.begun)
        rig.call(other, "other")
        await asyncio.sleep(0)

    assert told(1, story).begun[:2] == ["flood 0", "other"]


def test_floods_take_turns_and_each_keeps_its_order() -> None:
    async def story(rig: Rig) -> None:
        lanes = {name: rig.pool.lane() for name in "abc"}
        for number in range(3):
            for name, lane in lanes.items():
                rig.call(lane, f"{name}{number}")
        await rig.until(lambda: rig.begun)

    begun = told(1, story).begun
    assert begun == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]


def test_what_waits_for_one_who_left_is_not_done_and_what_was_begun_is() -> None:
    there = [True]

    async def story(rig: Rig) -> None:
        gone, other = rig.pool.lane(lambda: there[0]), rig.pool.lane()
        calls = [rig.call(gone, f"gone {number}") for number in range(4)]
        await rig.until(lambda: rig.begun)
        there[0] = False
        rig.may_end.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert outcomes[0] == "gone 0"
        assert all(isinstance(outcome, ClientGone) for outcome in outcomes[1:])
        assert await rig.call(other, "other") == "other"

    assert told(1, story).ended == ["gone 0", "other"]


def test_one_who_left_at_once_is_served_where_nobody_has_to_wait_for_it() -> None:
    async def story(rig: Rig) -> None:
        rig.may_end.set()
        assert await rig.call(rig.pool.lane(lambda: False), "sent and left") == "sent and left"

    assert told(1, story).ended == ["sent and left"]


def test_one_client_gets_half_of_the_threads_and_another_begins_at_once() -> None:
    async def story(rig: Rig) -> None:
        flood = rig.pool.lane()
        for number in range(20):
            rig.call(flood, f"flood {number}")
        await rig.until(lambda: len(rig.begun) == 4)
        others = [rig.call(rig.pool.lane(), f"other {number}") for number in range(4)]
        await rig.until(lambda: len(rig.begun) == 8)
        assert not any(other.done() for other in others)

    begun = told(8, story).begun
    assert begun[:4] == [f"flood {number}" for number in range(4)]
    assert sorted(begun[4:8]) == [f"other {number}" for number in range(4)]
    assert len(begun) == 24


def test_a_client_with_a_slow_call_gets_its_next_ones_done_beside_it() -> None:
    async def story(rig: Rig) -> None:
        lane = rig.pool.lane()
        rig.call(lane, "slow")
        rig.call(lane, "quick")
        await rig.until(lambda: len(rig.begun) == 2)

    assert told(8, story).begun == ["slow", "quick"]


def test_a_call_that_is_cancelled_while_it_waits_is_never_made() -> None:
    async def story(rig: Rig) -> None:
        lane = rig.pool.lane()
        rig.call(lane, "first")
        await rig.until(lambda: rig.begun)
        waiting = rig.call(lane, "cancelled")
        last = rig.call(lane, "last")
        await asyncio.sleep(0)
        waiting.cancel()
        rig.may_end.set()
        assert await last == "last"

    assert told(1, story).ended == ["first", "last"]


def test_a_call_that_is_cancelled_while_it_runs_ends_and_gives_its_thread_back() -> None:
    async def story(rig: Rig) -> None:
        running = rig.call(rig.pool.lane(), "running")
        await rig.until(lambda: rig.begun)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        later = rig.call(rig.pool.lane(), "later")
        await asyncio.sleep(0.01)
        assert rig.begun == ["running"]
        rig.may_end.set()
        assert await later == "later"

    assert told(1, story).ended == ["running", "later"]


def test_an_answer_that_is_not_out_yet_keeps_its_place_but_no_thread() -> None:
    async def story(rig: Rig) -> None:
        rig.may_end.set()
        lane, sent = rig.pool.lane(), asyncio.Event()

        async def unread(name: str) -> None:
            async with lane.place() as place:
                await place.run(lambda: rig._work(name))
                await sent.wait()

        writing: list[Awaitable[None]] = [
            asyncio.create_task(unread(f"unread {number}")) for number in range(10)
        ]
        await rig.until(lambda: len(rig.ended) == 4)
        assert await rig.call(rig.pool.lane(), "other") == "other"
        assert len(rig.ended) == 5
        sent.set()
        await asyncio.gather(*writing)

    assert len(told(8, story).ended) == 11


def test_what_a_call_raises_comes_out_of_it() -> None:
    async def story(rig: Rig) -> None:
        async with rig.pool.lane().place() as place:
            with pytest.raises(ZeroDivisionError):
                await place.run(lambda: 1 // 0)

    told(1, story)
