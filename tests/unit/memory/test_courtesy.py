"""Sleep steps aside for whoever is being answered."""

import threading

import pytest

from iai_mcp.memory.sleep import courtesy as courtesy_module
from iai_mcp.memory.sleep.courtesy import Courtesy


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_with_nobody_around_a_page_takes_its_time(clock: Clock) -> None:
    with Courtesy(clock).page() as enough:
        clock.now += 0.014
        assert not enough()
        clock.now += 0.002
        assert enough()


def test_a_page_is_short_while_somebody_may_ask_again(clock: Clock) -> None:
    courtesy = Courtesy(clock)
    with courtesy.answering():
        pass
    with courtesy.page() as enough:
        assert not enough()
        clock.now += 0.005
        assert enough()
    clock.now += 2
    with courtesy.page() as enough:
        clock.now += 0.005
        assert not enough()


def test_a_page_breaks_off_as_soon_as_somebody_comes(clock: Clock) -> None:
    courtesy = Courtesy(clock)
    with courtesy.page() as enough:
        assert not enough()
        with courtesy.answering():
            assert enough()
        assert not enough()


def test_nobody_is_waited_for_for_ever() -> None:
    courtesy = Courtesy(patience=0.01)
    assert courtesy.step_aside()
    with courtesy.answering():
        assert not courtesy.step_aside()


def test_calm_is_when_nobody_was_answered_for_a_moment(clock: Clock) -> None:
    courtesy = Courtesy(clock)
    assert courtesy.wait_for_calm()
    with courtesy.answering():
        pass
    clock.now += 1
    assert courtesy.wait_for_calm()


def test_calm_comes_after_the_answer_that_is_being_given() -> None:
    courtesy, order = Courtesy(), []

    def wait() -> None:
        courtesy.wait_for_calm()
        order.append("calm")

    with courtesy.answering():
        waiting = threading.Thread(target=wait)
        waiting.start()
        order.append("answered")
    waiting.join(5)
    assert order == ["answered", "calm"]


def test_nobody_waits_for_ever_for_a_load_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy_module, "_LONG_PATIENCE", 0.01)
    courtesy = Courtesy()
    with courtesy.answering():
        assert not courtesy.wait_for_calm()
