"""Whoever asks for a night, it is one and the same, driven in one place and told in one way."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.embedder import FakeEmbedder
from tests.support.answers import Json
from tests.support.daemon import until

from iai_mcp.core import dispatch
from iai_mcp.domain.errors import DiskFull, IaiError
from iai_mcp.memory.sleep.nights import Nights
from iai_mcp.store import MemoryStore


class Pages:
    """A sleep of so many pages that go when they are let."""

    def __init__(self, pages: int = 3) -> None:
        self.left = pages
        self.nights = 0
        self.begun, self.may_go = threading.Event(), threading.Event()
        self.fails: Exception | None = None

    def run(self, goes_on: Callable[[], bool]) -> dict[str, object]:
        self.nights += 1
        self.begun.set()
        assert self.may_go.wait(10)
        if self.fails is not None:
            raise self.fails
        while self.left and goes_on():
            self.left -= 1
        return self.report()

    def report(self) -> dict[str, object]:
        told = dict.fromkeys(("seconds", "pages", "changed", "folded"), 0)
        return {"state": "unfinished" if self.left else "done", **told}


@pytest.fixture
def pages() -> Pages:
    return Pages()


@pytest.fixture
def nights(store: MemoryStore, pages: Pages) -> Nights:
    made = Nights(lambda: pages, store.journal, store.clock)
    made.ask = lambda: threading.Thread(target=made.run).start()
    return made


def noted_in(told: list[str]) -> Callable[[str, Exception], None]:
    def note(name: str, failed: Exception) -> None:
        assert isinstance(failed, IaiError)
        told.append(f"{name} {failed.code}")

    return note


def kinds(store: MemoryStore) -> list[str]:
    return [str(event["kind"]) for event in store.journal.events("", None, 100)]


def test_the_last_night_is_known_whoever_asked_for_it(store: MemoryStore) -> None:
    dispatch(store, "memory_capture", {"text": "the heron nests in april"})

    def last_sleep() -> Any:
        return store.facts()["last_sleep"]

    assert last_sleep() is None
    report = dispatch(store, "memory_consolidate", {"wait": True})
    last = last_sleep()
    assert last["report"]["started"] == report["started"]
    assert last["report"]["finished"] == report["finished"]
    dispatch(store, "memory_consolidate", {})
    until(lambda: last_sleep()["started"] > last["started"], "it slept again")


def test_a_finished_night_is_told_in_one_way(store: MemoryStore) -> None:
    for wait in (True, False):
        dispatch(store, "memory_consolidate", {"wait": wait})

    def finished() -> list[Json]:
        return store.journal.events("sleep_finished", None, 10)

    until(lambda: len(finished()) == 2, "both nights are told")
    numbers = {"seconds", "pages", "changed", "folded"}
    assert [set(event["data"]) for event in finished()] == [numbers, numbers]
    assert kinds(store).count("sleep_started") == 2


def test_those_who_wait_share_the_night_that_is_under_way(nights: Nights, pages: Pages) -> None:
    with ThreadPoolExecutor() as pool:
        first = pool.submit(nights.wait)
        assert pages.begun.wait(10)
        others = [pool.submit(nights.wait) for _ in range(3)]
        until(lambda: nights._waiting == 4, "all of them wait")
        pages.may_go.set()
        assert all(one.result(10)["state"] == "done" for one in (first, *others))
    assert pages.nights == 1


def test_a_night_that_is_waited_for_is_not_interrupted(
    store: MemoryStore, nights: Nights, pages: Pages
) -> None:
    nights.ask = lambda: threading.Thread(target=nights.run, args=(lambda: False,)).start()
    pages.may_go.set()
    assert nights.wait()["state"] == "done"
    assert "sleep_interrupted" not in kinds(store)


def test_an_interrupted_night_is_not_over_and_goes_on_later(
    store: MemoryStore, nights: Nights, pages: Pages
) -> None:
    pages.may_go.set()
    assert nights.run(lambda: False) is False
    assert kinds(store)[-1] == "sleep_interrupted"
    assert nights.last is None
    assert nights.run() is True
    assert kinds(store)[-1] == "sleep_finished"
    last: Any = nights.last
    assert last["report"]["state"] == "done"


def test_whoever_waits_hears_that_the_night_failed_and_the_next_one_is_tried(
    nights: Nights, pages: Pages
) -> None:
    told: list[str] = []
    nights._failed = noted_in(told)
    pages.may_go.set()
    pages.fails = DiskFull("the disk is full")
    with pytest.raises(DiskFull):
        nights.wait()
    assert told == ["sleep DISK_FULL"]
    pages.fails = None
    assert nights.wait()["state"] == "done"


@pytest.mark.parametrize("under_way", [True, False])
def test_nobody_waits_longer_than_everything_lasts(
    nights: Nights, pages: Pages, under_way: bool
) -> None:
    nights.ask = nights.ask if under_way else (lambda: None)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(nights.wait)
        until(lambda: nights._waiting, "somebody waits")
        if under_way:
            assert pages.begun.wait(10)
        else:
            assert nights.awaited
        nights.end()
        pages.may_go.set()
        assert waiting.result(10)["state"] == "unfinished"
    assert nights.wait()["state"] == "unfinished"


def test_vectors_that_could_not_be_made_are_tried_again_without_another_capture(
    store: MemoryStore,
) -> None:
    failures: list[str] = []
    works = FakeEmbedder(128)

    class FailsOnce(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if not failures:
                raise DiskFull("the disk is full")
            return works.embed(texts)

    store.embedder._load = lambda: FailsOnce(128)
    store.on_failure = noted_in(failures)
    dispatch(store, "memory_capture", {"text": "the heron nests in april"})
    store.start_background()
    until(lambda: dispatch(store, "topology", {})["vectors_pending"] == 0, "it has its vector")
    assert failures == ["embed DISK_FULL"]
