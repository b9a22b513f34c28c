"""Tasks have an owner: a failure is noticed, told, and followed by another try."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable

import pytest
from tests.support.answers import Json

from iai_mcp.daemon.tasks import Tasks
from iai_mcp.domain.errors import DiskFull


def told(tasks: Tasks) -> Json:
    return tasks.troubles()


def owned(story: Callable[[Tasks, asyncio.Event], Awaitable[None]], **pauses: float) -> Tasks:
    """Run a story with an owner, and stop and wait for everything at its end."""

    async def run() -> Tasks:
        stop = asyncio.Event()
        tasks = Tasks(stop, **pauses)
        async with asyncio.timeout(10):
            await story(tasks, stop)
            stop.set()
            await tasks.ended()
        return tasks

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("failure", "code"), [(DiskFull("no room"), "DISK_FULL"), (KeyError(), "KeyError")]
)
def test_a_task_that_failed_begins_again_and_is_told_of(
    failure: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(tasks: Tasks, stop: asyncio.Event) -> None:
        tries, works = 0, asyncio.Event()

        async def work() -> None:
            nonlocal tries
            tries += 1
            if tries < 4:
                raise failure
            works.set()
            await stop.wait()

        tasks.keep("lifecycle", work)
        await works.wait()
        trouble = told(tasks)["lifecycle"]
        assert (trouble["failures"], trouble["error"], trouble["running"]) == (3, code, True)

    with caplog.at_level(logging.ERROR):
        tasks = owned(story, first_pause=0.001)
    assert [record.message for record in caplog.records] == ["task_failed"] * 3
    assert {(vars(r)["task"], vars(r)["reason"]) for r in caplog.records} == {("lifecycle", code)}
    assert not tasks.gave_up


def test_while_it_waits_to_begin_again_it_is_shown_as_not_running_and_a_stop_does_not_wait() -> (
    None
):
    async def story(tasks: Tasks, stop: asyncio.Event) -> None:
        ended = []

        async def work() -> None:
            raise DiskFull("no room")

        async def end() -> None:
            ended.append(True)

        task = tasks.keep("http", work, end=end)
        while not tasks.troubles():
            await asyncio.sleep(0)
        assert told(tasks)["http"]["running"] is False
        assert not ended
        stop.set()
        await task
        assert ended

    owned(story, first_pause=3600.0)


def test_the_pause_grows_up_to_its_bound() -> None:
    began: list[float] = []

    async def story(tasks: Tasks, stop: asyncio.Event) -> None:
        enough = asyncio.Event()

        async def work() -> None:
            began.append(asyncio.get_running_loop().time())
            if len(began) == 6:
                enough.set()
            raise DiskFull("no room")

        tasks.keep("drain", work)
        await enough.wait()

    owned(story, first_pause=0.01, longest_pause=0.04)
    pauses = [after - before for before, after in itertools.pairwise(began)]
    least = [0.009, 0.018, 0.036, 0.036, 0.036]
    assert all(pause > bound for pause, bound in zip(pauses, least, strict=True))


def test_one_that_can_not_begin_again_ends_everything_in_a_sentence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(tasks: Tasks, stop: asyncio.Event) -> None:
        async def work() -> None:
            raise RuntimeError("words of somebody")

        tasks.keep("ending", work, again=False)
        await stop.wait()

    with caplog.at_level(logging.CRITICAL):
        tasks = owned(story)
    assert "'ending'" in tasks.gave_up
    assert "iai-mcp up" in tasks.gave_up
    assert "words" not in tasks.gave_up
    assert [record.message for record in caplog.records][-1].endswith("the daemon ends")


def test_what_failed_in_a_thread_is_told_of_too() -> None:
    async def story(tasks: Tasks, stop: asyncio.Event) -> None:
        def work() -> None:
            raise ImportError("no such library")

        tasks.in_a_thread("load-mcp", work)
        while not tasks.troubles():
            await asyncio.sleep(0.001)
        assert told(tasks)["load-mcp"]["error"] == "ImportError"

    owned(story)
