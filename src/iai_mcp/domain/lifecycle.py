"""When the daemon is awake, drowsy, asleep or dormant: one rule, pure, in one place.

    WAKE ──5 min idle──► DROWSY ──30 min idle──► SLEEP ──work done, still idle──► HIBERNATION
      ▲                     │                      │                                  │
      └─────────────────────┴── any activity ──────┴──────────────────────────────────┘

Sleep that a request interrupted resumes after a few quiet seconds, not after half an hour: what was
begun is finished, and people come first all the same.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Phase(StrEnum):
    WAKE = "WAKE"
    DROWSY = "DROWSY"
    SLEEP = "SLEEP"
    HIBERNATION = "HIBERNATION"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Seconds of quiet before each step."""

    drowsy_after: float = 300.0
    sleep_after: float = 1800.0
    hibernate_after: float = 2400.0
    resume_after: float = 5.0


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """Where the daemon stands. All moments are on one monotonic clock."""

    phase: Phase = Phase.WAKE
    last_activity: float = 0.0
    unfinished: bool = False  # a sleep was begun and is not done
    slept: bool = False  # a sleep was finished since the last activity


@dataclass(frozen=True, slots=True)
class Seen:
    """What the loop noticed since it last asked."""

    now: float
    last_activity: float
    wake: bool = False  # force_wake
    sleep: bool = False  # user_initiated_sleep or force_rem
    paused: bool = False
    sleep_done: bool = False  # a sleep has finished all its steps since the loop last asked


def step(state: Lifecycle, seen: Seen, after: Thresholds) -> Lifecycle:
    """The state that follows. Requests win over idleness, activity over sleep."""
    if seen.wake:
        return Lifecycle(Phase.WAKE, seen.now, unfinished=state.unfinished)
    active = seen.last_activity > state.last_activity
    state = replace(state, last_activity=max(state.last_activity, seen.last_activity))
    if seen.sleep_done:
        state = replace(state, unfinished=False, slept=state.phase is Phase.SLEEP)
    if seen.sleep and not (active and state.phase is Phase.SLEEP):
        return replace(state, phase=Phase.SLEEP, unfinished=True, slept=False)
    if active:
        # A sleep that was asked for meanwhile comes when it is quiet again.
        unfinished = state.unfinished or seen.sleep
        return replace(state, phase=Phase.WAKE, slept=False, unfinished=unfinished)
    return replace(
        state, phase=_by_idleness(state, seen, after), unfinished=_begun(state, seen, after)
    )


def _by_idleness(state: Lifecycle, seen: Seen, after: Thresholds) -> Phase:
    idle = seen.now - state.last_activity
    if state.phase is Phase.HIBERNATION:
        return Phase.HIBERNATION
    if state.slept and idle >= after.hibernate_after:
        return Phase.HIBERNATION
    if _sleeps(state, seen, after):
        return Phase.SLEEP
    if state.slept:
        return Phase.SLEEP if state.phase is Phase.SLEEP else Phase.DROWSY
    return Phase.DROWSY if idle >= after.drowsy_after else Phase.WAKE


def _sleeps(state: Lifecycle, seen: Seen, after: Thresholds) -> bool:
    """Whether sleep's work should run now."""
    if seen.paused or state.slept:
        return False
    idle = seen.now - state.last_activity
    if idle >= after.sleep_after:
        return True
    # A sleep that was asked for right after a request is not given up for having come so soon.
    return state.unfinished and (state.phase is Phase.SLEEP or idle >= after.resume_after)


def _begun(state: Lifecycle, seen: Seen, after: Thresholds) -> bool:
    return not state.slept and (state.unfinished or _sleeps(state, seen, after))
