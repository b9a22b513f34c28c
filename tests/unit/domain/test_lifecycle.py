"""Awake, drowsy, asleep, dormant: driven by a clock that the test holds."""

import pytest

from iai_mcp.domain.lifecycle import Lifecycle, Phase, Seen, Thresholds, step

AFTER = Thresholds(drowsy_after=300, sleep_after=1800, hibernate_after=2400, resume_after=5)
AWAKE = Lifecycle(Phase.WAKE, last_activity=1000.0)


def later(state: Lifecycle, seconds: float, **seen: bool) -> Lifecycle:
    """The state `seconds` after its last activity, if nothing else happened."""
    now = state.last_activity + seconds
    return step(state, Seen(now=now, last_activity=state.last_activity, **seen), AFTER)


@pytest.mark.parametrize(
    ("idle", "phase"),
    [
        (0, Phase.WAKE),
        (299, Phase.WAKE),
        (300, Phase.DROWSY),
        (1799, Phase.DROWSY),
        (1800, Phase.SLEEP),
    ],
)
def test_idleness_leads_to_sleep(idle: float, phase: Phase) -> None:
    assert later(AWAKE, idle).phase is phase


def test_finished_sleep_leads_to_hibernation_once_it_is_time() -> None:
    asleep = later(AWAKE, 1800)
    done = later(asleep, 1900, sleep_done=True)
    assert (done.phase, done.slept, done.unfinished) == (Phase.SLEEP, True, False)
    assert later(done, 2400).phase is Phase.HIBERNATION
    assert later(later(done, 2400), 999_999).phase is Phase.HIBERNATION


@pytest.mark.parametrize("phase", list(Phase))
def test_any_activity_wakes_at_once(phase: Phase) -> None:
    state = Lifecycle(phase, last_activity=1000.0, unfinished=True)
    woken = step(state, Seen(now=5000.0, last_activity=4999.9), AFTER)
    assert woken.phase is Phase.WAKE


def test_an_interrupted_sleep_goes_on_after_a_few_quiet_seconds() -> None:
    asleep = later(AWAKE, 1800)
    woken = step(asleep, Seen(now=3000.0, last_activity=3000.0), AFTER)
    assert woken.phase is Phase.WAKE
    assert later(woken, 4.9).phase is Phase.WAKE
    assert later(woken, 5.0).phase is Phase.SLEEP


def test_a_finished_sleep_is_not_begun_again_until_somebody_was_there() -> None:
    done = later(later(AWAKE, 1800), 1810, sleep_done=True)
    assert later(done, 2000).unfinished is False
    woken = step(done, Seen(now=9000.0, last_activity=9000.0), AFTER)
    assert later(woken, 10).phase is Phase.WAKE
    assert later(woken, 1800).phase is Phase.SLEEP


def test_a_pause_holds_sleep_off() -> None:
    assert later(AWAKE, 5000, paused=True).phase is Phase.DROWSY


def test_a_request_to_sleep_does_not_wait_for_idleness() -> None:
    asleep = later(AWAKE, 1, sleep=True)
    assert (asleep.phase, asleep.unfinished) == (Phase.SLEEP, True)


def test_a_sleep_that_was_asked_for_right_after_a_request_goes_on_until_the_next_one() -> None:
    asleep = later(AWAKE, 0.1, sleep=True)
    assert later(asleep, 0.2).phase is Phase.SLEEP
    assert later(asleep, 0.3, sleep=True).phase is Phase.SLEEP
    assert later(asleep, 0.3, paused=True).phase is Phase.WAKE
    assert step(asleep, Seen(now=1001.0, last_activity=1000.9), AFTER).phase is Phase.WAKE


def test_a_request_to_wake_counts_as_activity() -> None:
    woken = later(later(AWAKE, 1800), 1900, wake=True)
    assert woken.phase is Phase.WAKE
    assert later(woken, 4).phase is Phase.WAKE


def test_a_sleep_that_was_asked_for_while_somebody_came_is_not_forgotten() -> None:
    slept = Lifecycle(Phase.SLEEP, last_activity=1000.0, slept=True)
    woken = step(slept, Seen(now=5000.0, last_activity=4999.9, sleep=True), AFTER)
    assert woken.phase is Phase.WAKE
    assert later(woken, 5.0).phase is Phase.SLEEP


def test_a_night_that_ended_while_somebody_was_there_is_not_begun_again() -> None:
    busy = Lifecycle(Phase.WAKE, last_activity=1000.0, unfinished=True)
    done = later(busy, 1, sleep_done=True)
    assert (done.phase, done.unfinished) == (Phase.WAKE, False)
    assert later(done, 60).phase is Phase.WAKE
